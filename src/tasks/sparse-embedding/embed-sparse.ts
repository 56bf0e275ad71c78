/**
 * Task `sparse-embedding`: texts to sparse vectors. With a masked-language-model head the weight of a vocabulary token is the maximum of log(1 + relu(logit))
 * over the text's tokens, special tokens included (SPLADE v2, Formal et al. 2021), or what SpladePooling of the model says. BGE-M3 weighs the tokens of the text
 * themselves, CSR models (Wen et al. 2025) make a sparse code of its vector. Equal to sentence-transformers' `SparseEncoder` and FlagEmbedding's `M3Embedder`.
 */
import { at, omitUndefined } from "../../contract/checked.ts";
import { readCounts } from "../encoding/read-counts.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import { refuseUnlisted, checkOptions } from "../../runtime/options/option.ts";
import type { Manifest, SparseSettings } from "../../models/manifest.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { encodeTexts } from "../encoding/encode-texts.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { embed } from "../embedding/embed.ts";
import { promptText } from "../embedding/prompts.ts";
import { embedWithHeads, hasSparseHead } from "../embedding/heads.ts";
import { loadModules } from "../embedding/pool-encodings.ts";
import { logitsOutput } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import { textSettings } from "../encoding/text-settings.ts";
import { embedSparseOptions } from "./embed-sparse-options.ts";
import type { EmbedSparseOptions } from "./generated-embed-sparse-options.ts";
import {
  type SparseEmbedding,
  type SparseEmbeddings,
  type SparseSelection,
  checkThreshold,
  sparseVector,
  toSparseVector,
} from "./sparse-vectors.ts";

/** Computes sparse vectors. Throws MODEL_UNSUPPORTED for a model that gives none, INPUT_INVALID for invalid options. */
export async function embedSparse(
  encoder: Encoder,
  texts: readonly string[],
  options: EmbedSparseOptions = {},
): Promise<SparseEmbeddings> {
  checkOptions(embedSparseOptions, options);
  checkThreshold(options);
  const { topK, threshold, prompt, ...limits } = options;
  const selection = { ...omitUndefined({ topK, threshold }) };
  const named = prompt === undefined ? {} : { prompt };
  const sparse = encoder.manifest.text?.sparse;
  if (sparse?.kind === "auto-encoder") {
    const { embeddings, ...read } = await embed(encoder, texts, { ...limits, ...named });
    return { ...read, ...(await encodeSparsely(encoder, embeddings, sparse, selection)) };
  }
  if (sparse === undefined && hasSparseHead(encoder)) {
    const {
      sparse: weights = [],
      dimensions,
      tokens,
      truncated,
    } = await embedWithHeads(encoder, texts, ["sparse"], { ...limits, ...named });
    const embeddings = weights.map((one) => toSparseVector(one, selection));
    return { embeddings, dimensions: dimensions.sparse ?? 0, tokens, truncated };
  }
  if (sparse?.queries !== undefined) refuseUnlisted("prompt", prompt ?? "document", ["query", "document"]);
  const isQuery = prompt === undefined ? sparse?.queries?.isDefault === true : prompt === "query";
  return sparse?.queries !== undefined && isQuery
    ? weighTokens(encoder, texts, sparse.queries.modules, options)
    : splade(encoder, texts, options);
}

/** Sparse codes of dense vectors, by the SparseAutoEncoder of a CSR model. */
export async function encodeSparsely(
  encoder: Encoder,
  vectors: readonly Float32Array[],
  { modules }: SparseSettings,
  selection: SparseSelection,
): Promise<Pick<SparseEmbeddings, "embeddings" | "dimensions">> {
  const code = await loadModules(encoder, modules);
  return {
    embeddings: vectors.map((vector) => sparseVector(code.apply(vector), selection)),
    dimensions: code.dimensions ?? 0,
  };
}

async function splade(encoder: Encoder, texts: readonly string[], options: EmbedSparseOptions): Promise<SparseEmbeddings> {
  const { signal } = options;
  const settings = textTaskSettings(encoder.manifest, options);
  const output = getHead(encoder.manifest, encoder.outputs);
  const encodings = await encodeTexts(encoder.tokenizer, texts, { ...settings, prompt: getPrompt(encoder, options) }, signal);
  const embeddings: SparseEmbedding[] = Array.from({ length: encodings.length }, () => sparseVector(new Float32Array(), {}));
  const { pooling = "max", activation = "relu" } = encoder.manifest.text?.sparse ?? {};
  const times = activation === "relu" ? 1 : 2;
  const isSum = pooling === "sum";
  const run = {
    output,
    batchTokens: settings.batchTokens,
    batchKey: isSum ? `log1p-sum ${times}` : "highest",
    // Logits `[tokens, vocabulary]` are reduced in the model's host; copying them out costs as much as computing them.
    reduction: (rows: readonly TokenIds[]) => {
      const lengths = rows.map(({ ids }) => ids.length);
      return isSum ? ({ kind: "log1p-sum", lengths, times } as const) : ({ kind: "highest", lengths } as const);
    },
    signal,
  };
  const getWeight = (value: number): number => {
    if (isSum) return value;
    const once = Math.log1p(value); // which rises with its argument, so that the maximum could be taken before it
    return times === 1 ? once : Math.log1p(once);
  };
  let dimensions = 0;
  await runEncodings(encoder, encodings, run, ({ index, data, offset, shape }) => {
    dimensions = at(shape, 0);
    const reduced = data.subarray(offset, offset + dimensions);
    requireFinite(reduced, index);
    embeddings[index] = sparseVector(reduced.map(getWeight), options);
  });
  return {
    embeddings,
    dimensions,
    ...readCounts(encodings),
  };
}

/** Queries by the weights of their tokens alone (SparseStaticEmbedding): without the network, and without special tokens. */
async function weighTokens(
  encoder: Encoder,
  texts: readonly string[],
  modules: NonNullable<SparseSettings["queries"]>["modules"],
  options: EmbedSparseOptions,
): Promise<SparseEmbeddings> {
  const settings = textTaskSettings(encoder.manifest, options);
  const limits = { ...settings, prompt: getPrompt(encoder, options), addSpecialTokens: false };
  const encodings = await encodeTexts(encoder.tokenizer, texts, limits, options.signal);
  const weigh = await loadModules(encoder, modules);
  const dimensions = weigh.dimensions ?? 0;
  const embeddings = encodings.map(({ ids }) => {
    const presence = new Float32Array(dimensions);
    for (const id of ids) presence[id] = 1;
    return sparseVector(weigh.apply(presence), options);
  });
  return { embeddings, dimensions, ...readCounts(encodings) };
}

/** The prompt's text. With a Router "query" and "document" name routes, so that a model need not have prompts of these names. */
function getPrompt({ manifest }: Encoder, { prompt }: EmbedSparseOptions): string {
  const text = textSettings(manifest);
  const isRoute = text.sparse?.queries !== undefined && prompt !== undefined && !Object.hasOwn(text.prompts, prompt);
  return promptText(manifest.name, text, isRoute ? undefined : prompt);
}

/** Many models have an output of rank 3; only with a masked-language-model head is its last axis the vocabulary. */
function getHead(manifest: Manifest, outputs: readonly TensorInfo[]): string {
  if (manifest.tasks.includes("fill-mask") || manifest.text?.sparse?.kind === "splade") return logitsOutput(outputs, 3);
  throw unsupportedModel(
    `${manifest.name} has no masked-language-model head, which sparse embeddings are made from`,
    "use a SPLADE model, or embed() for dense vectors",
  );
}
