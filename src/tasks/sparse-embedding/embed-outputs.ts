/** Embeddings of texts in several forms at once: dense, sparse and multi-vector. A model that has several gives them from one run of the encoder. */
import { unsupportedModel } from "../../contract/errors.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { embed } from "../embedding/embed.ts";
import { embedWithHeads, headForms } from "../embedding/heads.ts";
import type { EmbeddingForm } from "../embedding/output-options.ts";
import { isLateInteractionModel } from "../embedding/late-interaction.ts";
import { type EmbedOutputsOptions, checkEmbeddingOutputs } from "../embedding/output-options.ts";
import { embedSparse, encodeSparsely } from "./embed-sparse.ts";
import { type SparseEmbedding, toSparseVector } from "./sparse-vectors.ts";

/** Embeddings in the requested forms, and the number of tokens read of each text. */
export interface EmbeddingOutputs {
  /** One vector per text, in order. Present with the output "dense". */
  readonly dense?: readonly Float32Array[];
  /** One sparse vector per text, in order. Present with the output "sparse". */
  readonly sparse?: readonly SparseEmbedding[];
  /** The token vectors of each text, `[tokens, dimensions]`, row-major. Present with the output "multi-vector". */
  readonly multiVector?: readonly Float32Array[];
  /** Number of components of one vector of each form; with "sparse" the size of the vocabulary. */
  readonly dimensions: { readonly dense?: number; readonly sparse?: number; readonly multiVector?: number };
  /** Number of tokens the model read of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Indices of the texts that were truncated. */
  readonly truncated: readonly number[];
}

/**
 * Embeds texts in the forms of `outputs`. Throws MODEL_UNSUPPORTED for a form that the model does not give, INPUT_INVALID for options that do not go with
 * `outputs`.
 */
export async function embedOutputs(
  encoder: Encoder,
  texts: readonly string[],
  options: EmbedOutputsOptions,
): Promise<EmbeddingOutputs> {
  checkEmbeddingOutputs(options);
  const { outputs, ...limits } = options;
  const { manifest } = encoder;
  if (headForms(encoder).length > 0) {
    const { sparse, ...found } = await embedWithHeads(encoder, texts, outputs, limits);
    return sparse === undefined ? found : { ...found, sparse: sparse.map((weights) => toSparseVector(weights, {})) };
  }
  const forms = getForms(encoder);
  const missing = outputs.find((form) => !forms.includes(form));
  if (missing !== undefined) {
    throw unsupportedModel(
      `${manifest.name} gives ${forms.join(" and ")} embeddings, not ${missing}`,
      `ask for ${forms.join(" and ")}, or use another model`,
    );
  }
  if (forms.includes("multi-vector")) {
    const { embeddings, dimensions, tokens, truncated } = await embed(encoder, texts, limits);
    return { multiVector: embeddings, dimensions: { multiVector: dimensions }, tokens, truncated };
  }
  if (!outputs.includes("dense")) {
    const { embeddings, dimensions, tokens, truncated } = await embedSparse(encoder, texts, limits);
    return { sparse: embeddings, dimensions: { sparse: dimensions }, tokens, truncated };
  }
  const { embeddings: dense, dimensions, tokens, truncated } = await embed(encoder, texts, limits);
  const found = { dense, tokens, truncated, dimensions: { dense: dimensions } };
  const settings = manifest.text?.sparse;
  if (settings === undefined || !outputs.includes("sparse")) return found;
  const coded = await encodeSparsely(encoder, dense, settings, {});
  return { ...found, sparse: coded.embeddings, dimensions: { dense: dimensions, sparse: coded.dimensions } };
}

/** The forms that a model without BGE-M3's heads gives. */
function getForms(encoder: Encoder): readonly EmbeddingForm[] {
  const { tasks, text } = encoder.manifest;
  if (isLateInteractionModel(encoder)) return ["multi-vector"];
  if (text?.sparse?.kind === "auto-encoder") return ["dense", "sparse"];
  return text?.sparse !== undefined || tasks.includes("fill-mask") ? ["sparse"] : ["dense"];
}
