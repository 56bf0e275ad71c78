/** Attention with the linear layers before and after it, as the architectures have it that store queries, keys and values apart. */
import type { Value } from "../ir/graph.ts";
import { attention, attentionWeights, splitHeads } from "../build/nn/attention.ts";
import { type Layer, linear } from "../build/nn/layers.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import type { KeyValueCache } from "./causal-model.ts";
import type { Weights } from "./weights.ts";

/** Replaces the keys and values of the new tokens by the keys and values of all tokens. */
export type UpdateOwnCache = (current: KeyValueCache) => KeyValueCache;

/** Self-attention or cross-attention. */
export interface MultiHeadAttention {
  /** Keys and values of `states`, `[batch, length, width]`. */
  keyValues(ops: TensorOps, states: Value): KeyValueCache;
  /** Attends from x `[batch, length, width]` to the keys and values, and returns the same shape. */
  attend(ops: TensorOps, x: Value, cache: KeyValueCache, bias: Value): Value;
  /** The weights of `attend`: `[batch, heads, length, S]`. */
  getWeights(ops: TensorOps, x: Value, cache: KeyValueCache, bias: Value): Value;
  /** Attends from x to itself, and to cached tokens if `updateCache` adds them. */
  attendToSelf(ops: TensorOps, x: Value, bias: Value, updateCache?: UpdateOwnCache): Value;
}

/** Names of the linear layers of an attention. */
export type ProjectionNames = readonly [query: string, key: string, value: string, output: string];

/**
 * `headSize`: by default `width / heads`; `scale`: of the scores, by default 1 / sqrt(headSize); `bias`: whether the linear layers have one; `keyBias`,
 * `outputBias`: whether the layer of the keys and the last layer have one, by default as the others; `sourceWidth`: size of the states that keys and values are made of, by default
 * `width`.
 */
interface MultiHeadOptions {
  readonly width: number;
  readonly heads: number;
  readonly headSize?: number;
  readonly scale?: number;
  readonly bias?: boolean;
  readonly keyBias?: boolean;
  readonly outputBias?: boolean;
  readonly sourceWidth?: number;
}

/** Reads the linear layers `${prefix}.${name}`. */
export function multiHeadAttention(
  weights: Weights,
  prefix: string,
  names: ProjectionNames,
  options: MultiHeadOptions,
): MultiHeadAttention {
  const { width, heads, headSize = width / heads, scale = 1 / Math.sqrt(headSize), bias = true } = options;
  const { keyBias = bias, outputBias = bias, sourceWidth = width } = options;
  const split = (name: string, hasBias: boolean, inFeatures = sourceWidth): Layer => {
    const layer = linear(weights, `${prefix}.${name}`, { inFeatures, outFeatures: heads * headSize, bias: hasBias });
    return (ops, x) => splitHeads(ops, layer(ops, x), heads);
  };
  const [query, key, value] = [split(names[0], bias, width), split(names[1], keyBias), split(names[2], bias)];
  const output = linear(weights, `${prefix}.${names[3]}`, {
    inFeatures: heads * headSize,
    outFeatures: width,
    bias: outputBias,
  });
  const keyValues: MultiHeadAttention["keyValues"] = (ops, states) => ({ key: key(ops, states), value: value(ops, states) });
  const attend: MultiHeadAttention["attend"] = (ops, x, cache, addend) =>
    output(ops, attention(ops, { query: query(ops, x), ...cache, scale, bias: addend }));
  return {
    keyValues,
    attend,
    getWeights: (ops, x, { key: keys }, addend) =>
      attentionWeights(ops, { query: query(ops, x), key: keys, scale, bias: addend }),
    attendToSelf: (ops, x, addend, updateCache = (current) => current) => attend(ops, x, updateCache(keyValues(ops, x)), addend),
  };
}
