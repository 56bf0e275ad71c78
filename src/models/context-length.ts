/** The context length of a model in tokens, as stated by its files. */
import { configNames } from "../formats/config-names.ts";
import { usualKind } from "./language-tasks.ts";
import type { Manifest } from "./manifest.ts";

/** Maximum number of tokens of a text, or of a prompt and its answer together, as stated by the model's files; undefined if they state none. */
export function getContextLength(manifest: Manifest): number | undefined {
  const config = getTextConfig(manifest);
  const stated = configNames.context.map((name) => config[name]).find((value) => typeof value === "number");
  const tokens = manifest.text?.maxTokens;
  // For a language model, engines enforce the maximum position in config.json, not the tokenizer's limit.
  return usualKind(manifest) === "language" ? (stated ?? tokens) : (tokens ?? stated);
}

/** config.json of the text model. For a model for text and images, fields of the section `text_config` replace top-level fields of the same name. */
export function getTextConfig(manifest: Manifest): Readonly<Record<string, unknown>> {
  const { config = {} } = manifest.variants[0] ?? {};
  const nested = config["text_config"];
  return typeof nested === "object" && nested !== null ? { ...config, ...nested } : config;
}
