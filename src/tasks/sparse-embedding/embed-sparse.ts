/**
 * Task `sparse-embedding` (SPLADE v2, Formal et al. 2021): texts to sparse vectors over the vocabulary, from a masked-language-model head. The
 * weight of a vocabulary token is the maximum of log(1 + relu(logit)) over the text's tokens, special tokens included; this equals
 * sentence-transformers' `SparseEncoder` with `SpladePooling(max)`.
 */
import { at } from "../../checked.ts";
import { readCounts } from "../shared/read-counts.ts";
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TensorInfo } from "../../tensor.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { encodeTexts } from "../shared/encode-texts.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { logitsOutput } from "../shared/label-head.ts";
import { requireFinite } from "../shared/require-finite.ts";
import { checkOptions } from "../shared/task-option.ts";
import { textTaskSettings } from "../shared/task-options.ts";
import { type EmbedSparseOptions, embedSparseOptions } from "./embed-sparse-options.ts";

/** A sparse vector, by descending weight; equal weights by ascending token id. Both arrays have the same length. */
export interface SparseEmbedding {
  /** Vocabulary token ids. */
  readonly indices: Uint32Array;
  /** The weight of each, above 0. */
  readonly values: Float32Array;
}

/** Sparse vectors of texts, and what was read of each text. */
export interface SparseEmbeddings {
  /** One per text, in order. */
  readonly embeddings: readonly SparseEmbedding[];
  /** Size of the vocabulary: the length of the dense equivalent of a vector. */
  readonly dimensions: number;
  /** Number of tokens the model read of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Indices of the texts that were truncated. */
  readonly truncated: readonly number[];
}

/** Computes SPLADE vectors. Throws MODEL_UNSUPPORTED for a model without a masked-language-model head. */
export async function embedSparse(
  encoder: Encoder,
  texts: readonly string[],
  options: EmbedSparseOptions = {},
): Promise<SparseEmbeddings> {
  const { topK, threshold = 0, signal } = options;
  checkOptions(embedSparseOptions, options);
  if (!(Number.isFinite(threshold) && threshold >= 0)) {
    throw new InferyardError("INPUT_INVALID", `threshold is ${threshold}, and must be a number of at least 0`, {
      remedy: "correct threshold, or leave it out",
    });
  }
  const settings = textTaskSettings(encoder.manifest, options);
  const output = headOf(encoder.manifest, encoder.outputs);
  const encodings = await encodeTexts(encoder.tokenizer, texts, settings, signal);
  const embeddings: SparseEmbedding[] = Array.from({ length: encodings.length }, () => sparse(new Float32Array(), 0));
  const run = {
    output,
    batchTokens: settings.batchTokens,
    batchKey: "highest",
    // Logits `[tokens, vocabulary]` are reduced in the model's host; copying them out costs as much as computing them.
    reduction: (rows: readonly TokenIds[]) => ({ kind: "highest", lengths: rows.map(({ ids }) => ids.length) }) as const,
    signal,
  };
  let dimensions = 0;
  await runEncodings(encoder, encodings, run, ({ index, data, offset, shape }) => {
    dimensions = at(shape, 0);
    const highest = data.subarray(offset, offset + dimensions);
    requireFinite(highest, index);
    embeddings[index] = sparse(highest.map(Math.log1p), threshold, topK);
  });
  return {
    embeddings,
    dimensions,
    ...readCounts(encodings),
  };
}

function sparse(weights: Float32Array, threshold: number, topK?: number): SparseEmbedding {
  const present = Array.from(weights.keys()).filter((id) => at(weights, id) > threshold);
  const kept = present.sort((a, b) => at(weights, b) - at(weights, a)).slice(0, topK);
  return { indices: Uint32Array.from(kept), values: Float32Array.from(kept, (id) => at(weights, id)) };
}

/** Many models have an output of rank 3; only with a masked-language-model head is its last axis the vocabulary. */
function headOf(manifest: Manifest, outputs: readonly TensorInfo[]): string {
  if (manifest.tasks.includes("fill-mask")) return logitsOutput(outputs, 3);
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${manifest.name} has no masked-language-model head, which sparse embeddings are made from`,
    {
      remedy: "use a SPLADE model, or embed() for dense vectors",
    },
  );
}
