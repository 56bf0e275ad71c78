/** Scaled dot-product attention of primitives: what every attention operator comes down to. */
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { numbersOf } from "../../../ir/literal.ts";
import type { TensorOps } from "../../../build/tensor-ops.ts";

export interface AttentionOperands {
  /** [N, heads, L, D]. */
  readonly query: Value;
  /** [N, heads of keys, S, D]; as many heads of queries share each one. */
  readonly key: Value;
  /** [N, heads of keys, S, Dv]. */
  readonly value: Value;
  readonly scale: number;
  /** Scores x become cap tanh(x / cap); 0 leaves them. */
  readonly softcap: number;
  /** Added to the scores; broadcasts to [N, heads, L, S]. Minus infinity keeps a place out. */
  readonly bias: Value | undefined;
  /** What the softmax is computed in, where it is wider than the operands. */
  readonly softmaxType?: ElementType | undefined;
  /** A score [1, heads, 1, 1] that takes part in the softmax and leads to no value: probabilities may sum to less than 1. */
  readonly sink?: Value | undefined;
  /** What is made of the biased scores before the softmax, and of its result after. */
  readonly modifyScores?: (scores: Value) => Value;
  readonly modifyProbabilities?: (probabilities: Value) => Value;
}

export interface AttentionResults {
  /** [N, heads, L, Dv]. */
  readonly output: Value;
  /** [N, heads, L, S] each: products, after the cap, after the bias, after the softmax. */
  readonly scores: Value;
  readonly capped: Value;
  readonly biased: Value;
  readonly probabilities: Value;
}

/** A query whose places are all kept out attends to nothing and gives zeros. */
export function scaledDotProductAttention(call: TensorOps, operands: AttentionOperands): AttentionResults {
  const { query, key, value, scale, softcap, bias, softmaxType } = operands;
  const { dataType } = query.type;
  const turned = call.transpose(key, [0, 1, 3, 2]);
  const scores = sharedProduct(call, call.binary("mul", query, scale), turned);
  const capped = softcap === 0 ? scores : call.binary("mul", call.unary("tanh", call.binary("div", scores, softcap)), softcap);
  const biased = bias === undefined ? capped : call.binary("add", capped, bias);
  const modified = operands.modifyScores?.(biased) ?? biased;
  const wide = softmaxType === "float64" ? call.cast(modified, "float64") : modified;
  const softmax = call.cast(softmaxWith(call, wide, operands.sink), dataType);
  const safe = bias === undefined ? softmax : withoutMaskedRows(call, softmax, bias);
  const probabilities = operands.modifyProbabilities?.(safe) ?? safe;
  return { output: sharedProduct(call, probabilities, value), scores, capped, biased, probabilities };
}

function softmaxWith(call: TensorOps, scores: Value, sink: Value | undefined): Value {
  if (sink === undefined) return call.add({ kind: "softmax", axis: 3, logarithm: false }, scores);
  const { shape, dataType } = scores.type;
  const column = call.add({ kind: "expand", shape: [...shape.slice(0, 3), 1] }, call.cast(sink, dataType));
  const all = call.add({ kind: "concat", axis: 3 }, scores, column);
  return call.slice(call.add({ kind: "softmax", axis: 3, logarithm: false }, all), 3, 0, shape[3] ?? 0);
}

/** The product of [N, H, L, A] and [N, K, A, B], where each of the K heads serves H / K of the others. */
function sharedProduct(call: TensorOps, a: Value, b: Value): Value {
  const [batch = 0, heads = 0, rows = 0, inner = 0] = a.type.shape;
  const [, shared = 0, depth = 0, columns = 0] = b.type.shape;
  if (heads === shared) return call.add({ kind: "matmul" }, a, b);
  if (shared === 0 || heads % shared !== 0) throw new Error(`${heads} heads do not share ${shared}`);
  const apart = call.reshape(a, [batch, shared, heads / shared, rows, inner]);
  const product = call.add({ kind: "matmul" }, apart, call.reshape(b, [batch, shared, 1, depth, columns]));
  return call.reshape(product, [batch, heads, rows, columns]);
}

function withoutMaskedRows(call: TensorOps, softmax: Value, bias: Value): Value {
  const highest = call.reduce("max", bias, [bias.type.shape.length - 1], true);
  const masked = call.binary("equal", highest, Number.NEGATIVE_INFINITY);
  if (masked.constant !== undefined && Array.from(numbersOf(masked.constant)).every((each) => each === 0)) return softmax;
  return call.select(masked, 0, softmax);
}

/** 0 where the mask is true, else minus infinity, or what stands for it. */
export function maskToBias(call: TensorOps, mask: Value, type: ElementType, out: number = Number.NEGATIVE_INFINITY): Value {
  return call.select(mask, call.scalar(0, type), call.scalar(out, type));
}

/** The sum of those biases that there are. */
export function sumBiases(call: TensorOps, ...biases: readonly (Value | undefined)[]): Value | undefined {
  const [first, ...others] = biases.filter((bias) => bias !== undefined);
  return first === undefined ? undefined : others.reduce((sum, bias) => call.binary("add", sum, bias), first);
}

/** What came before, with what comes now behind it, along the third axis. */
export function appendToCache(call: TensorOps, past: Value | undefined, now: Value): Value {
  return past === undefined ? now : call.add({ kind: "concat", axis: 2 }, past, now);
}

/** 0, 1, 2, ... in int64, along `axis` of so many. */
export function iota(call: TensorOps, size: number, axis: number, rank: number): Value {
  call.builder.reserve({ dataType: "int64", shape: [size] });
  const shape = Array.from({ length: rank }, (_, at) => (at === axis ? size : 1));
  return call.builder.constant({ dataType: "int64", shape, data: BigInt64Array.from({ length: size }, (_, at) => BigInt(at)) });
}
