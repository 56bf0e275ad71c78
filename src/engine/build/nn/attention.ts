/** Multi-head attention (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762) and its masks, built from primitives that the passes fuse. */
import type { Value } from "../../ir/graph.ts";
import { int64Literal } from "../../ir/literal.ts";
import { dimensions, type TensorOps } from "../tensor-ops.ts";

/** The lowest finite float32, which PyTorch's masks use in place of minus infinity: the softmax of a fully masked row stays finite. */
const maskedScore = -3.4028234663852886e38;

/** Operands of `attention`. L is the number of queries, S the number of keys, D the size of one head. */
export interface AttentionInputs {
  /** `[batch, heads, L, D]`. */
  readonly query: Value;
  /** `[batch, keyValueHeads, S, D]`. Each key head serves `heads / keyValueHeads` query heads (grouped-query attention). */
  readonly key: Value;
  /** `[batch, keyValueHeads, S, D]`. */
  readonly value: Value;
  /** Factor of the scores; usually 1 / sqrt(D). */
  readonly scale: number;
  /** Bounds the scaled scores: `cap * tanh(score / cap)`. */
  readonly cap?: number | undefined;
  /** Added to the scores before the softmax; broadcasts to `[batch, heads, L, S]`. */
  readonly bias?: Value | undefined;
}

/**
 * `softmax(cap(scale query key^T) + bias) value`, with the heads joined: `[batch, L, heads * D]`. With fewer key heads than query heads this is
 * grouped-query attention (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245).
 */
export function attention(ops: TensorOps, { query, key, value, scale, cap, bias }: AttentionInputs): Value {
  const [batch, heads, length, size] = dimensions(query, 4);
  const [, keyValueHeads, total] = dimensions(key, 4);
  if (heads === keyValueHeads)
    return joinHeads(ops, ops.add({ kind: "matmul" }, attentionWeights(ops, { query, key, scale, cap, bias }), value));
  // The query heads of one group become an axis of their own, along which keys and values broadcast: nothing is repeated in memory.
  const grouped = ops.reshape(query, [batch, keyValueHeads, heads / keyValueHeads, length, size]);
  const shape = [batch, keyValueHeads, 1, total, size];
  const [keys, values] = [ops.reshape(key, shape), ops.reshape(value, shape)];
  const groupedBias = bias === undefined ? undefined : withGroupAxis(ops, bias);
  const products = ops.add({ kind: "matmul" }, grouped, ops.transpose(keys, [0, 1, 2, 4, 3]));
  const scores = biased(ops, capped(ops, scaled(ops, products, scale), cap), groupedBias);
  const output = ops.add({ kind: "matmul" }, softmax(ops, scores), values);
  return ops.reshape(ops.transpose(output, [0, 3, 1, 2, 4]), [batch, length, heads * size]);
}

/** The weights `softmax(cap(scale query key^T) + bias)` of attention with as many key heads as query heads: `[batch, heads, L, S]`. */
export function attentionWeights(ops: TensorOps, { query, key, scale, cap, bias }: Omit<AttentionInputs, "value">): Value {
  const products = ops.add({ kind: "matmul" }, query, ops.transpose(key, [0, 1, 3, 2]));
  return softmax(ops, biased(ops, capped(ops, scaled(ops, products, scale), cap), bias));
}

/** A bias `[batch, 1, L, S]` as `[batch, 1, 1, L, S]`, which broadcasts over the heads of a group. */
function withGroupAxis(ops: TensorOps, bias: Value): Value {
  const [batch, , rows, columns] = dimensions(bias, 4);
  return ops.reshape(bias, [batch, 1, 1, rows, columns]);
}

function scaled(ops: TensorOps, scores: Value, scale: number): Value {
  return scale === 1 ? scores : ops.binary("mul", scores, scale);
}

function biased(ops: TensorOps, scores: Value, bias: Value | undefined): Value {
  return bias === undefined ? scores : ops.binary("add", scores, bias);
}

/** `cap * tanh(x / cap)` (Bello et al. 2016, https://arxiv.org/abs/1611.09940; "soft capping" in Gemma 2). x itself without a cap. */
export function capped(ops: TensorOps, x: Value, cap: number | undefined): Value {
  return cap === undefined ? x : ops.binary("mul", ops.unary("tanh", ops.binary("div", x, cap)), cap);
}

function softmax(ops: TensorOps, scores: Value): Value {
  return ops.add({ kind: "softmax", axis: scores.type.shape.length - 1, logarithm: false }, scores);
}

/** `[batch, length, heads * size]` to `[batch, heads, length, size]`. Throws if x has another rank or `heads` does not divide its last axis. */
export function splitHeads(ops: TensorOps, x: Value, heads: number): Value {
  const [batch, length, width] = dimensions(x, 3);
  if (heads < 1 || width % heads !== 0)
    throw new Error(`a tensor of shape [${x.type.shape.join(", ")}] cannot be split into ${heads} heads`);
  return ops.transpose(ops.reshape(x, [batch, length, heads, width / heads]), [0, 2, 1, 3]);
}

/** The inverse of `splitHeads`: `[batch, heads, length, size]` to `[batch, length, heads * size]`. */
export function joinHeads(ops: TensorOps, x: Value): Value {
  const [batch, heads, length, size] = dimensions(x, 4);
  return ops.reshape(ops.transpose(x, [0, 2, 1, 3]), [batch, length, heads * size]);
}

/**
 * Causal mask as a constant, bool `[length, total]`: true where a query may attend to a key. Query i has position `offset` + i; it attends to keys up to its
 * own position.
 */
export function causalMask(ops: TensorOps, length: number, total: number, offset: number): Value {
  ops.builder.reserve({ dataType: "bool", shape: [length, total] }, 0);
  const mask = Uint8Array.from({ length: length * total }, (_, index) => {
    const query = Math.floor(index / total) + offset;
    const key = index % total;
    return Number(key <= query);
  });
  return ops.builder.constant({ dataType: "bool", shape: [length, total], data: mask });
}

/** An attention mask `[batch, S]`, 1 for tokens and 0 for padding, as bool `[batch, 1, 1, S]`, which broadcasts over heads and queries. */
export function keyVisibility(ops: TensorOps, mask: Value): Value {
  const [batch, total] = dimensions(mask, 2);
  return ops.reshape(ops.unary("not", ops.binary("equal", mask, 0)), [batch, 1, 1, total]);
}

/** A boolean mask as an addend of the scores: 0 where `visible` is true, the lowest finite float32 elsewhere. */
export function additiveMask(ops: TensorOps, visible: Value): Value {
  return ops.select(visible, 0, maskedScore);
}

/** The bias of bidirectional attention: excludes padding. `mask` is `[batch, S]`, 1 for tokens; the result is float32 `[batch, 1, 1, S]`. */
export function paddingBias(ops: TensorOps, mask: Value): Value {
  return additiveMask(ops, keyVisibility(ops, mask));
}

/** Whether query and key are at most `radius` positions apart, in a text without a cache: bool `[1, 1, length, length]`. */
export function symmetricWindow(ops: TensorOps, length: number, radius: number): Value {
  const indices = Array.from({ length }, (_, index) => index);
  const index = (shape: readonly number[]): Value => ops.builder.constant(int64Literal(indices, shape));
  const [rows, columns] = [index([length, 1]), index([1, length])];
  const near = ops.binary("less-or-equal", ops.unary("abs", ops.binary("sub", rows, columns)), radius);
  return ops.reshape(near, [1, 1, length, length]);
}

/**
 * The bias of attention to the whole text: excludes padding, and keys that are more than `radius` positions from the query. `mask` is `[batch, S]`, 1 for
 * tokens; the result is float32 `[batch, 1, S, S]`, or `[batch, 1, 1, S]` if the radius excludes nothing.
 */
export function bidirectionalBias(ops: TensorOps, mask: Value, radius: number): Value {
  const [, total] = dimensions(mask, 2);
  const visible = keyVisibility(ops, mask);
  return additiveMask(ops, radius >= total - 1 ? visible : ops.binary("and", visible, symmetricWindow(ops, total, radius)));
}

/** Sliding-window attention: true where a key is among the last `window` tokens before and at a query. bool `[batch, 1, length, S]`. */
function windowMask(ops: TensorOps, mask: Value, length: number, window: number): Value {
  const [batch, total] = dimensions(mask, 2);
  const ones = ops.cast(ops.unary("not", ops.binary("equal", mask, 0)), "int32");
  const places = ops.add({ kind: "cumulative", function: "sum", axis: 1, exclusive: false, reverse: false }, ones);
  const queries = ops.reshape(ops.slice(places, 1, total - length, length), [batch, 1, length, 1]);
  const keys = ops.reshape(places, [batch, 1, 1, total]);
  return ops.binary("greater", keys, ops.binary("sub", queries, window));
}

/**
 * The bias of causal attention: excludes padding and later tokens. `mask` is `[batch, S]`, 1 for tokens; the queries are the last `length` of the S
 * positions. A query attends to at most the last `window` tokens, its own included; positions that the mask excludes do not count, so that a cache may
 * have unused positions between its tokens. The result is float32 `[batch, 1, length, S]`, or `[batch, 1, 1, S]` for one query that sees everything
 * before it.
 */
export function causalBias(ops: TensorOps, mask: Value, length: number, window: number = Number.POSITIVE_INFINITY): Value {
  const visible = keyVisibility(ops, mask);
  const [, total] = dimensions(mask, 2);
  if (length === 1 && total <= window) return additiveMask(ops, visible);
  const causal = ops.reshape(causalMask(ops, length, total, total - length), [1, 1, length, total]);
  const allowed = ops.binary("and", causal, visible);
  return additiveMask(ops, total <= window ? allowed : ops.binary("and", allowed, windowMask(ops, mask, length, window)));
}
