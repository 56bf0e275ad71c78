/** What /api/show says of a model, in Ollama's words. */
import { configNames } from "../../../formats/config-names.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { getAnswerFormat } from "../../../tasks/generation/chat/answer-format.ts";
import { fillInMiddleTokens } from "../../../tasks/generation/text/fill-in-middle.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { getContextLength, getTextConfig } from "../../../models/context-length.ts";
import { type Capability, getModelCapabilities } from "../model-capabilities.ts";

/** Ollama's words for what models can do; others are ours. */
const words: Readonly<Partial<Record<Capability, string>>> = { embed: "embedding", generate: "completion" };

/** Ollama's capabilities of the model. `tokenizer`: undefined if it has none that can be read. */
export function ollamaCapabilities(manifest: Manifest, tokenizer: Tokenizer | undefined): string[] {
  const able: string[] = getModelCapabilities(manifest).map((one) => words[one] ?? one);
  if (!able.includes("completion")) return able;
  const templates = Object.values(manifest.chatTemplates ?? {});
  if (templates.some((template) => getAnswerFormat(template).reasoning !== undefined)) able.push("thinking");
  if (tokenizer !== undefined && fillInMiddleTokens(tokenizer, manifest.text?.tokenizerConfig) !== undefined) able.push("insert");
  return able;
}

/** Sizes by their keys in GGUF files, and their names in config.json. */
const sizeNames: Readonly<Record<string, readonly string[]>> = {
  embedding_length: configNames.width,
  block_count: [...configNames.layers, "num_layers"],
  feed_forward_length: [...configNames.inner, "d_ff"],
  "attention.head_count": [...configNames.heads, "num_heads"],
  "attention.head_count_kv": ["num_key_value_heads"],
  vocab_size: ["vocab_size"],
};

/** Facts of the model under the keys that GGUF files have. */
export function modelInfo(manifest: Manifest, family: string): Record<string, unknown> {
  const config = getTextConfig(manifest);
  const sizes = Object.entries(sizeNames).flatMap(([key, names]) => {
    const value = names.map((name) => config[name]).find((each) => typeof each === "number");
    return value === undefined ? [] : [[`${family}.${key}`, value] as const];
  });
  const context = getContextLength(manifest);
  return {
    "general.architecture": family,
    "general.basename": manifest.name,
    ...(context === undefined ? {} : { [`${family}.context_length`]: context }),
    ...Object.fromEntries(sizes),
  };
}

/** Parameters of a Modelfile, and their names in generation_config.json. */
const parameterNames: Readonly<Record<string, string>> = {
  temperature: "temperature",
  top_k: "top_k",
  top_p: "top_p",
  min_p: "min_p",
  repeat_penalty: "repetition_penalty",
};

/** Sampling parameters in the model's files, one a line; undefined if there are none. */
export function samplingParameters({ generation = {} }: Manifest): string | undefined {
  const lines = Object.entries(parameterNames).flatMap(([name, key]) => {
    const value = generation[key];
    return typeof value === "number" ? [`${name.padEnd(30)} ${value}`] : [];
  });
  return lines.length === 0 ? undefined : lines.join("\n");
}
