/** How many tokens a model reads, by what its files say. */
import { usualKind } from "./language-tasks.ts";
import type { Manifest } from "./manifest.ts";

/** Names of the context length in config.json, in the order in which transformers' families use them. */
const contextNames = ["max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "max_sequence_length"];

/** Maximum tokens of a text, or of a prompt with its answer, as the model's files say; undefined if they do not. */
export function contextLengthOf(manifest: Manifest): number | undefined {
  const config = textConfigOf(manifest);
  const stated = contextNames.map((name) => config[name]).find((value) => typeof value === "number");
  const tokens = manifest.text?.maxTokens;
  // Engines hold a model that writes text to its positions alone.
  return usualKind(manifest) === "language" ? (stated ?? tokens) : (tokens ?? stated);
}

/** The part of config.json about text: that of a model for text and images is below `text_config`. */
export function textConfigOf(manifest: Manifest): Readonly<Record<string, unknown>> {
  const { config = {} } = manifest.variants[0] ?? {};
  const nested = config["text_config"];
  return typeof nested === "object" && nested !== null ? { ...config, ...nested } : config;
}
