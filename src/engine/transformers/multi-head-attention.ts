/** Attention with the linear layers before and after it, as the architectures have it that store queries, keys and values apart. */
import type { Value } from "../ir/graph.ts";
import { attention, splitHeads } from "../build/nn/attention.ts";
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
  /** Attends from x to itself, and to cached tokens if `updateCache` adds them. */
  attendToSelf(ops: TensorOps, x: Value, bias: Value, updateCache?: UpdateOwnCache): Value;
}

/** Names of the linear layers of an attention. */
export type ProjectionNames = readonly [query: string, key: string, value: string, output: string];

/** `headSize`: by default `width / heads`; `scale`: of the scores, by default 1 / sqrt(headSize); `bias`: whether the linear layers have one. */
interface MultiHeadOptions {
  readonly width: number;
  readonly heads: number;
  readonly headSize?: number;
  readonly scale?: number;
  readonly bias?: boolean;
}

/** Reads the linear layers `${prefix}.${name}`. */
export function multiHeadAttention(
  weights: Weights,
  prefix: string,
  names: ProjectionNames,
  { width, heads, headSize = width / heads, scale = 1 / Math.sqrt(headSize), bias = true }: MultiHeadOptions,
): MultiHeadAttention {
  const project = (name: string, inFeatures: number, outFeatures: number): Layer =>
    linear(weights, `${prefix}.${name}`, { inFeatures, outFeatures, bias });
  const split = (name: string): Layer => {
    const layer = project(name, width, heads * headSize);
    return (ops, x) => splitHeads(ops, layer(ops, x), heads);
  };
  const [query, key, value] = [split(names[0]), split(names[1]), split(names[2])];
  const output = project(names[3], heads * headSize, width);
  const keyValues: MultiHeadAttention["keyValues"] = (ops, states) => ({ key: key(ops, states), value: value(ops, states) });
  const attend: MultiHeadAttention["attend"] = (ops, x, cache, addend) =>
    output(ops, attention(ops, { query: query(ops, x), ...cache, scale, bias: addend }));
  return {
    keyValues,
    attend,
    attendToSelf: (ops, x, addend, updateCache = (current) => current) => attend(ops, x, updateCache(keyValues(ops, x)), addend),
  };
}
