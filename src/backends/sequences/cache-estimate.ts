/** What the cache of a language model takes, from its config.json. */
import type { CacheEstimate, LoadSettings, ModelFiles } from "../../contract/backend.ts";
import { configNames } from "../../formats/config-names.ts";

type Config = ModelFiles["config"];

/** Bytes of one element of a cache. */
const elementBytes = { fp32: 4, fp16: 2 } as const;

/** Maximum number of tokens of a sequence, as config.json states it. Undefined for models without a limit, such as T5. */
export function getConfigContextLength(config: Config): number | undefined {
  return getNumber(config, configNames.context);
}

/** Maximum number of tokens of a sequence: the limit of the model, or a lower one from the settings. */
export function contextLengthFor(config: Config, { contextLength }: Pick<LoadSettings, "contextLength">): number | undefined {
  const lengths = [getConfigContextLength(config), contextLength].filter((length) => length !== undefined);
  return lengths.length === 0 ? undefined : Math.min(...lengths);
}

/**
 * Estimates the cache of a model whose keys and values have this precision. `computeBytes`: bytes that the engine needs besides, whatever the length.
 * Undefined for an architecture whose config.json does not state its layers and heads.
 */
export function estimateCache(
  config: Config,
  precision: keyof typeof elementBytes,
  computeBytes: number,
): CacheEstimate | undefined {
  const layers = getNumber(config, [...configNames.layers, "decoder_layers"]);
  const heads = getNumber(config, [...configNames.heads, "decoder_attention_heads"]);
  const width = getNumber(config, configNames.width);
  if (layers === undefined || heads === undefined || width === undefined) return undefined;
  const keyValueHeads = getNumber(config, ["num_key_value_heads"]) ?? heads;
  const headSize = getNumber(config, ["head_dim"]) ?? width / heads;
  const bytesPerToken = 2 * layers * keyValueHeads * headSize * elementBytes[precision];
  return { contextLength: getConfigContextLength(config), bytesPerToken, computeBytes };
}

/** The first of these fields that holds a positive integer, in the section of the language model if there is one. */
export function getNumber(config: Config, fields: readonly string[]): number | undefined {
  const sections = [config["text_config"], config].filter((section) => typeof section === "object" && section !== null);
  for (const section of sections) {
    for (const field of fields) {
      const value = (section as Config)[field];
      if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    }
  }
  return undefined;
}
