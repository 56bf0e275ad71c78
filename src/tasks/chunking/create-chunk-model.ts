/** A loaded model as chunking asks for it. */
import { InferyardError } from "../../errors.ts";
import { embed } from "../embedding/embed.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { recognize } from "../token-classification/recognize.ts";
import type { ChunkModel } from "./chunk-model.ts";
import type { ChunkSettings } from "./chunk-options.ts";
import { embedSpans } from "./late-chunking.ts";

export function createChunkModel(encoder: Encoder, settings: ChunkSettings): ChunkModel {
  const { stride, signal, prompt } = settings;
  const options = { ...(stride === undefined ? {} : { stride }), ...(signal === undefined ? {} : { signal }) };
  return {
    embedTexts: async (texts) => (await embed(encoder, texts, signal === undefined ? {} : { signal })).embeddings,
    // Neighbouring tokens of one kind are one mark, as in the pipeline that such models are trained for (chonky).
    async ends(text) {
      refuseOtherHead(encoder);
      const { results } = await recognize(encoder, [text], { ...options, aggregation: "simple" });
      return (results[0] ?? []).map(({ end }) => end);
    },
    embedSpans: (text, spans) => embedSpans(encoder, text, spans, { ...options, ...(prompt === undefined ? {} : { prompt }) }),
  };
}

/** Any encoder gives numbers for each token: only with this head they are scores of labels. */
function refuseOtherHead({ manifest: { name, tasks } }: Encoder): void {
  if (tasks.includes("token-classification")) return;
  const message = `${name} has no token-classification head, which the strategy of that name cuts by`;
  throw new InferyardError("MODEL_UNSUPPORTED", message, {
    remedy: "use a model made for it (mirth/chonky_modernbert_base_1, exported to ONNX), or another strategy",
  });
}
