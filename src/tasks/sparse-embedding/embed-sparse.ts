/**
 * Sparse embeddings (SPLADE): for each token of the vocabulary how much a text is about it, from a masked-language-model head. The weight is
 * the largest log(1 + max(0, logit)) over the text's tokens, special ones included (Formal et al. 2021, SPLADE v2).
 */
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { refuseNonPositive } from "../../runtime/options/options.ts";
import type { TensorInfo } from "../../tensor.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { encodeTexts } from "../shared/encode-texts.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { logitsOutput, requireFinite } from "../shared/label-head.ts";
import { type TextTaskOptions, textTaskOptionNames, textTaskSettings } from "../shared/task-options.ts";

export interface EmbedSparseOptions extends TextTaskOptions {
  /** Only so many weights of each text are kept, the largest. Default: all. */
  readonly topK?: number;
  /** Only weights above this are kept. Default: 0. */
  readonly threshold?: number;
}

export const embedSparseOptionNames: readonly (keyof EmbedSparseOptions)[] = [...textTaskOptionNames, "topK", "threshold"];

/** Largest weight first; equal ones in the order of the vocabulary. */
export interface SparseEmbedding {
  /** Ids of tokens. */
  readonly indices: Uint32Array;
  readonly values: Float32Array;
}

export interface SparseEmbeddings {
  /** One per text, in order. */
  readonly embeddings: readonly SparseEmbedding[];
  /** Size of the vocabulary. */
  readonly dimensions: number;
  /** Tokens the model saw of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Indices of the texts that were cut. */
  readonly truncated: readonly number[];
}

export async function embedSparse(
  encoder: Encoder,
  texts: readonly string[],
  options: EmbedSparseOptions = {},
): Promise<SparseEmbeddings> {
  const { topK, threshold = 0, signal } = options;
  refuseNonPositive("topK", topK);
  if (!(Number.isFinite(threshold) && threshold >= 0)) {
    throw new InferyardError("INPUT_INVALID", `threshold is ${threshold}, and must be a number of at least 0`, {
      remedy: "correct threshold, or leave it out",
    });
  }
  const settings = textTaskSettings(encoder.manifest, options);
  const output = headOf(encoder.manifest, encoder.outputs);
  const encodings = await encodeTexts(encoder.tokenizer, texts, settings, signal);
  const embeddings: SparseEmbedding[] = Array.from({ length: encodings.length }, () => sparse(new Float32Array(), 0));
  const wanted = {
    output,
    batchTokens: settings.batchTokens,
    kind: "highest",
    // Logits of every token over a whole vocabulary never leave the model's host.
    reduction: (rows: readonly TokenIds[]) => ({ kind: "highest", lengths: rows.map(({ ids }) => ids.length) }) as const,
    ...(signal === undefined ? {} : { signal }),
  };
  let dimensions = 0;
  await runEncodings(encoder, encodings, wanted, ({ index, data, offset, shape }) => {
    dimensions = shape[0] ?? 0;
    const highest = data.subarray(offset, offset + dimensions);
    requireFinite(highest, index);
    embeddings[index] = sparse(highest.map(Math.log1p), threshold, topK);
  });
  return {
    embeddings,
    dimensions,
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

function sparse(weights: Float32Array, threshold: number, topK?: number): SparseEmbedding {
  const present = Array.from(weights.keys()).filter((id) => (weights[id] ?? 0) > threshold);
  const kept = present.sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0)).slice(0, topK);
  return { indices: Uint32Array.from(kept), values: Float32Array.from(kept, (id) => weights[id] ?? 0) };
}

/** Any model gives three dimensions of numbers: only one that predicts masked tokens means the vocabulary by the last. */
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
