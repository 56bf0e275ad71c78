/** What llama.cpp gives for a text of an encoder, as far as the file states it. */
import { InferyardError } from "../../../contract/errors.ts";
import { ggufNumber } from "../../../formats/gguf/gguf-metadata.ts";
import { ggufPooling } from "../../../formats/gguf/models/architectures.ts";
import type { GgufModel } from "../../../formats/gguf/models/read-model.ts";

/** The output of an encoder: `[batch, elements]`. */
export interface EncoderHead {
  readonly output: "sentence_embedding" | "logits";
  /** Elements of a row. Undefined: as many as llama.cpp reports. */
  readonly elements: number | undefined;
}

/**
 * The pooled vector of a text, or the logits of a reranker. Throws MODEL_UNSUPPORTED for a model whose output node-llama-cpp does not give or computes
 * otherwise than the model was trained: vectors of tokens, and rerankers with token types or with a prompt of their own.
 */
export function encoderHead(gguf: GgufModel, shown: string): EncoderHead {
  const pooling = ggufPooling(gguf);
  if (pooling === undefined || pooling === "none") {
    const stated = pooling === undefined ? "states no pooling" : 'states the pooling "none"';
    throw unsupported(`${shown} ${stated}, and node-llama-cpp gives no vectors of tokens`);
  }
  if (pooling !== "rank") return { output: "sentence_embedding", elements: undefined };
  const labels = gguf.tensors.get("cls.output.weight");
  if (labels === undefined) throw unsupported(`${shown} is a reranker without the tensor cls.output.weight`);
  if (softmaxArchitectures.has(gguf.architecture) || gguf.metadata.has("tokenizer.chat_template.rerank")) {
    throw unsupported(
      `${shown} is a reranker of the architecture "${gguf.architecture}" that reads query and document in a prompt`,
    );
  }
  const types = gguf.tensors.get("token_types.weight")?.shape[1] ?? 1;
  if (types > 1)
    throw unsupported(`${shown} has ${types} token types, and llama.cpp reads query and document as of the first one`);
  return { output: "logits", elements: labels.shape[1] ?? 1 };
}

/** Decoders whose labels "yes" and "no" llama.cpp turns into probabilities by itself: `build_pooling` of llama-graph.cpp. */
const softmaxArchitectures: ReadonlySet<string> = new Set(["qwen3", "qwen3vl"]);

/** Maximum number of tokens of a text. Undefined: the file states none. */
export function maxEncoderTokens({ metadata, architecture, tensors }: GgufModel): number | undefined {
  // llama.cpp aborts the process at a position that the table does not have.
  const lengths = [ggufNumber(metadata, `${architecture}.context_length`), tensors.get("position_embd.weight")?.shape[1]];
  const stated = lengths.filter((length) => length !== undefined);
  return stated.length === 0 ? undefined : Math.min(...stated);
}

function unsupported(message: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", message, { remedy: "run it on native" });
}
