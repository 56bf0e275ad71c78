/** Finds the output of an encoder that holds embeddings. */
import { omitUndefined } from "../../contract/checked.ts";
import { quoteOption, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest, Pooling } from "../../models/manifest.ts";
import type { TensorInfo } from "../../contract/tensor.ts";

/** The output of a model that embeddings are read from: its name, and whether it has a vector per text or per token. */
export interface VectorOutput {
  readonly name: string;
  /** "sentence": `[batch, dimensions]`, pooled inside the graph. "token": `[batch, tokens, dimensions]`. */
  readonly level: "sentence" | "token";
}

/** Names that exports give to token vectors, in order of preference. */
export const tokenVectorNames: readonly string[] = ["last_hidden_state", "token_embeddings", "hidden_states"];

/** Facts from which an encoder's outputs are chosen. */
export interface OutputSources {
  readonly outputs: readonly TensorInfo[];
  readonly manifest: Pick<Manifest, "text" | "variants">;
}

/**
 * Chooses the output to embed with. `sentence_embedding` is preferred, because the graph pools it as the model was trained; token vectors are used if there is
 * none, or if the caller requests a pooling (`pooling`) other than the model's. The output of a head is never an embedding: it has a number for each token of
 * the vocabulary, or for each label. Throws MODEL_UNSUPPORTED if the model has no such output.
 */
export function vectorOutput({ outputs, manifest }: OutputSources, pooling: Pooling | undefined): VectorOutput {
  const { pooling: ownPooling } = manifest.text ?? {};
  const sentenceName = headOutputs(outputs)?.dense ?? "sentence_embedding";
  const sentence = outputs.find(({ name, shape }) => name === sentenceName && shape.length === 2);
  const tokens =
    tokenVectorNames.map((name) => outputs.find((output) => output.name === name && output.shape.length === 3)).find(Boolean) ??
    outputs.find((output) => output.shape.length === 3 && !isOfHead(output, manifest));
  const overridden = pooling !== undefined && pooling !== ownPooling;
  if (sentence !== undefined && !overridden) return { name: sentence.name, level: "sentence" };
  if (tokens !== undefined) return { name: tokens.name, level: "token" };
  if (sentence !== undefined) {
    throw unsupportedModel(
      `this model returns one vector per text, pooled in its graph; pooling "${pooling}" needs token vectors`,
      `leave the pooling out; a GGUF model has token vectors on ${quoteOption("target", "native")}`,
    );
  }
  const given = outputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join(", ");
  throw unsupportedModel(
    `no output of this model holds embeddings; it has ${given}`,
    hasClassOfHead(manifest)
      ? 'its files say that it is used with its head; if it embeds, say so in its inferyard.json: {"tasks": ["feature-extraction"]}'
      : "use a feature-extraction export of the model",
  );
}

/** Whether an output of three axes belongs to a head, by its name, or by its last axis: as long as the vocabulary, and not as the hidden states. */
function isOfHead({ name, shape }: TensorInfo, { variants }: Pick<Manifest, "variants">): boolean {
  const { vocab_size: vocabulary, hidden_size: hidden } = variants[0]?.config ?? {};
  const isOfVocabulary = vocabulary !== undefined && vocabulary !== hidden && shape.at(-1) === vocabulary;
  return /logit/i.test(name) || isOfVocabulary;
}

/** Whether the weights are such that the engine builds the model with a head, which the same weights need not have. */
function hasClassOfHead({ variants }: Pick<Manifest, "variants">): boolean {
  return variants.some(({ format, architecture = "" }) => format === "safetensors" && /For[A-Z]\w+$/.test(architecture));
}

/** Names of the outputs of an export of BGE-M3 with its heads in the graph. At least one of `sparse` and `multiVector` is set. */
export interface HeadOutputs {
  /** `[batch, dimensions]`: the vector of a text. */
  readonly dense?: string;
  /** `[batch, tokens]` or `[batch, tokens, 1]`: the weights of tokens. */
  readonly sparse?: string;
  /** `[batch, tokens, dimensions]`: the vectors of tokens, with or without the first token's. */
  readonly multiVector?: string;
}

/** Names that the published exports of BGE-M3 give to their outputs. */
const headNames: Readonly<Record<keyof HeadOutputs, readonly string[]>> = {
  dense: ["dense_vecs", "dense_embeddings", "dense"],
  sparse: ["sparse_vecs", "sparse_weights", "sparse"],
  multiVector: ["colbert_vecs", "colbert_vectors", "colbert"],
};

/** Finds the outputs of an export of BGE-M3 by their names. Returns undefined if it has neither a sparse nor a multi-vector head. */
export function headOutputs(outputs: readonly TensorInfo[]): HeadOutputs | undefined {
  const named = (head: keyof HeadOutputs, ...ranks: readonly number[]): string | undefined =>
    outputs.find(({ name, shape }) => headNames[head].includes(name) && ranks.includes(shape.length))?.name;
  const found = omitUndefined({ dense: named("dense", 2), sparse: named("sparse", 2, 3), multiVector: named("multiVector", 3) });
  return found.sparse === undefined && found.multiVector === undefined ? undefined : found;
}

/** Whether a model is a late-interaction (ColBERT) export: those name their output "contextual", `[batch, tokens, dimensions]`. */
export function isLateInteraction(outputs: readonly TensorInfo[]): boolean {
  return outputs.some(({ name, shape }) => name === "contextual" && shape.length === 3);
}
