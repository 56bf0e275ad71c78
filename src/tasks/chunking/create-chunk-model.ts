/** Adapts a loaded model to the interface that chunking uses. */
import { omitUndefined } from "../../contract/checked.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import { embed } from "../embedding/embed.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { recognize } from "../token-classification/recognize.ts";
import type { ChunkModel } from "./chunk-model.ts";
import type { ChunkSettings } from "../text-threads/chunked-text.ts";
import { embedSpans } from "./late-chunking.ts";

/** Wraps an encoder. `labelledEnds` throws MODEL_UNSUPPORTED without a token-classification head, `embedSpans` without token vectors. */
export function createChunkModel(encoder: Encoder, settings: ChunkSettings): ChunkModel {
  const { stride, signal, prompt } = settings;
  const options = { ...omitUndefined({ stride, signal }) };
  return {
    embedTexts: async (texts) => (await embed(encoder, texts, signal === undefined ? {} : { signal })).embeddings,
    // Adjacent tokens with the same label are one span, as in chonky, which such models are trained for.
    async labelledEnds(text) {
      refuseOtherHead(encoder);
      const { results } = await recognize(encoder, [text], { ...options, aggregation: "simple" });
      return (results[0] ?? []).map(({ end }) => end);
    },
    embedSpans: (text, spans) => embedSpans(encoder, text, spans, { ...options, ...omitUndefined({ prompt }) }),
  };
}

/** Many models have an output of rank 3; only with this head does it hold label scores. */
function refuseOtherHead({ manifest: { name, tasks } }: Encoder): void {
  if (tasks.includes("token-classification")) return;
  const message = `${name} has no token-classification head, which the strategy "token-classification" needs`;
  throw unsupportedModel(
    message,
    "use a model made for it (mirth/chonky_modernbert_base_1, exported to ONNX), or another strategy",
  );
}
