/** What llama.cpp allocates besides the weights. */
import type { CacheEstimate, LoadSettings, ModelFiles } from "../../contract/backend.ts";
import { configNames } from "../../formats/config-names.ts";
import type { GgufModel } from "../../formats/gguf/models/read-model.ts";
import { estimateCache, getNumber } from "../sequences/cache-estimate.ts";

/** Cache bytes of one token that are assumed for an unknown architecture; most take less. */
export const unknownBytesPerToken: number = 2 ** 18;

/** Tokens that one call of llama.cpp computes. */
export const batchTokens = 512;

/** "fp32" if all weights are in single precision; otherwise undefined, since files mix types. */
export function getPrecision({ tensors }: Pick<GgufModel, "tensors">): "fp32" | undefined {
  return [...tensors.values()].every(({ type }) => type === "F32") ? "fp32" : undefined;
}

/** Precision of the cache. Default: half precision, but a model in single precision is not rounded by its cache. */
export function getCachePrecision(
  weights: ModelFiles["precision"],
  { cachePrecision }: Pick<LoadSettings, "cachePrecision">,
): "fp32" | "fp16" {
  return cachePrecision ?? (weights === "fp32" ? "fp32" : "fp16");
}

/**
 * Memory that llama.cpp needs besides the weights. Measured with 3.22.1: its buffers hold the logits and two rows of activations for each token of a call;
 * without fused attention, which is not used in single precision, the scores of all tokens as well.
 */
export function estimateLlamaMemory({ config, precision }: ModelFiles, settings: LoadSettings): CacheEstimate | undefined {
  const cachePrecision = getCachePrecision(precision, settings);
  const vocabulary = getNumber(config, ["vocab_size"]) ?? 0;
  const width = getNumber(config, configNames.width) ?? 0;
  const inner = getNumber(config, configNames.inner) ?? 4 * width;
  const computeBytes = batchTokens * 4 * Math.max(vocabulary + 2 * width, 3 * width + 2 * inner);
  const cache = estimateCache(config, cachePrecision, computeBytes);
  if (cache === undefined || cachePrecision === "fp16") return cache;
  const heads = getNumber(config, configNames.heads) ?? 0;
  return { ...cache, bytesPerToken: cache.bytesPerToken + batchTokens * 4 * heads };
}
