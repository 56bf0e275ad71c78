/** Inputs and sizes of transformers, as exporters and config.json name them. */
import type { ModelFiles } from "../contract/backend.ts";
import { configNames } from "../formats/config-names.ts";

/** Input of token ids [batch, length], which are indices into the table of embeddings. */
export const tokenInput = "input_ids";

/** Input that says which tokens are attended to [batch, length]. */
export const maskInput = "attention_mask";

/** Inputs with one element for each token [batch, length]. */
export const tokenInputs: ReadonlySet<string> = new Set([tokenInput, maskInput, "token_type_ids", "position_ids"]);

/** Sizes of a transformer, read from config.json under any of the names that architectures use. */
export interface TransformerSizes {
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
  /**
   * Attention score tensors held at once, in units of [batch, heads, tokens, keys]: 3 with disentangled attention (DeBERTa, He
   * et al. 2021).
   */
  readonly scores: number;
  /** Logits of one token if the model predicts tokens; otherwise 0. */
  readonly logits: number;
}

/** The sizes by the model's config.json; undefined if it states none. */
export function getTransformerSizes({
  config,
  architecture,
}: Pick<ModelFiles, "config" | "architecture">): TransformerSizes | undefined {
  const first = (...names: readonly string[]): number | undefined =>
    names.map((name) => config[name]).find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0);
  const hidden = first(...configNames.width, "dim");
  const heads = first(...configNames.heads, "n_heads", "encoder_attention_heads", "num_heads");
  if (hidden === undefined || heads === undefined) return undefined;
  const predictsTokens = /MaskedLM|CausalLM|LMHeadModel|ConditionalGeneration|WithLMHead/.test(architecture ?? "");
  return {
    hidden,
    heads,
    intermediate: first(...configNames.inner, "encoder_ffn_dim", "d_ff", "hidden_dim") ?? 4 * hidden,
    scores: String(config["model_type"]).startsWith("deberta") ? 3 : 1,
    logits: predictsTokens ? (getVocabularySize(config) ?? 0) : 0,
  };
}

/** Number of token ids of the model; undefined if config.json states none. */
export function getVocabularySize({ vocab_size: size }: ModelFiles["config"]): number | undefined {
  return typeof size === "number" && Number.isSafeInteger(size) && size > 0 ? size : undefined;
}
