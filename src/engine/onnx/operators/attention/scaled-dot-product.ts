/**
 * Scaled dot-product attention (Vaswani et al., https://arxiv.org/abs/1706.03762), which all attention operators of ONNX and com.microsoft share.
 * Dimensions: N batch, L queries, S keys, D and Dv sizes of a head. The transformers of build/nn scale the scores instead of the queries and mask
 * with a finite number, as PyTorch does, so they have a function of their own.
 */
import { at } from "../../../../contract/checked.ts";
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { toNumbers } from "../../../ir/literal.ts";
import type { TensorOps } from "../../../build/tensor-ops.ts";

/** Operands and options of `scaledDotProductAttention`, which all attention operators of ONNX are translated to. */
export interface AttentionOperands {
  /** [N, heads, L, D]. */
  readonly query: Value;
  /** [N, key heads, S, D]. The number of query heads is a multiple of the number of key heads: groups of query heads share one key head. */
  readonly key: Value;
  /** [N, key heads, S, Dv]. */
  readonly value: Value;
  /** Factor of the queries, usually 1 / sqrt(D). */
  readonly scale: number;
  /** Scores x become softcap * tanh(x / softcap); 0 for none. */
  readonly softcap: number;
  /** Added to the scores; broadcasts to [N, heads, L, S]. Minus infinity masks a key. */
  readonly bias: Value | undefined;
  /** The type of the softmax, if wider than the type of the operands. */
  readonly softmaxType?: ElementType | undefined;
  /** An attention sink: a score [1, heads, 1, 1] that takes part in the softmax but has no value, so that probabilities may sum to less than 1. */
  readonly sink?: Value | undefined;
  /** Functions applied to the biased scores before the softmax, and to its result. */
  readonly modifyScores?: (scores: Value) => Value;
  readonly modifyProbabilities?: (probabilities: Value) => Value;
}

/** The output of `scaledDotProductAttention` and its intermediate tensors, which ONNX Attention can return as well. */
export interface AttentionResults {
  /** [N, heads, L, Dv]. */
  readonly output: Value;
  /** Scores [N, heads, L, S]: the products, after the soft cap, after the bias, after the softmax. */
  readonly scores: Value;
  readonly capped: Value;
  readonly biased: Value;
  readonly probabilities: Value;
}

/** softmax(query * key' * scale + bias) * value. The output of a query whose keys are all masked is 0. */
export function scaledDotProductAttention(call: TensorOps, operands: AttentionOperands): AttentionResults {
  const { query, key, value, scale, softcap, bias, softmaxType } = operands;
  const { dataType } = query.type;
  const turned = call.transpose(key, [0, 1, 3, 2]);
  const scores = groupedMatmul(call, call.binary("mul", query, scale), turned);
  const capped = softcap === 0 ? scores : call.binary("mul", call.unary("tanh", call.binary("div", scores, softcap)), softcap);
  const biased = bias === undefined ? capped : call.binary("add", capped, bias);
  const modified = operands.modifyScores?.(biased) ?? biased;
  const wide = softmaxType === "float64" ? call.cast(modified, "float64") : modified;
  const softmax = call.cast(softmaxWith(call, wide, operands.sink), dataType);
  const safe = bias === undefined ? softmax : withoutMaskedRows(call, softmax, bias);
  const probabilities = operands.modifyProbabilities?.(safe) ?? safe;
  return { output: groupedMatmul(call, probabilities, value), scores, capped, biased, probabilities };
}

function softmaxWith(call: TensorOps, scores: Value, sink: Value | undefined): Value {
  if (sink === undefined) return call.add({ kind: "softmax", axis: 3, logarithm: false }, scores);
  const { shape, dataType } = scores.type;
  const column = call.add({ kind: "expand", shape: [...shape.slice(0, 3), 1] }, call.cast(sink, dataType));
  const all = call.add({ kind: "concat", axis: 3 }, scores, column);
  return call.slice(call.add({ kind: "softmax", axis: 3, logarithm: false }, all), 3, 0, at(shape, 3));
}

/** The product of [N, H, L, A] and [N, K, A, B], in which groups of H / K heads share one of the K. */
function groupedMatmul(call: TensorOps, a: Value, b: Value): Value {
  const [batch = 0, heads = 0, rows = 0, inner = 0] = a.type.shape;
  const [, shared = 0, depth = 0, columns = 0] = b.type.shape;
  if (heads === shared) return call.add({ kind: "matmul" }, a, b);
  if (shared === 0 || heads % shared !== 0) throw new Error(`${heads} query heads are not a multiple of ${shared} key heads`);
  const apart = call.reshape(a, [batch, shared, heads / shared, rows, inner]);
  const product = call.add({ kind: "matmul" }, apart, call.reshape(b, [batch, shared, 1, depth, columns]));
  return call.reshape(product, [batch, heads, rows, columns]);
}

function withoutMaskedRows(call: TensorOps, softmax: Value, bias: Value): Value {
  const highest = call.reduce("max", bias, [bias.type.shape.length - 1], true);
  const masked = call.binary("equal", highest, Number.NEGATIVE_INFINITY);
  if (masked.constant !== undefined && Array.from(toNumbers(masked.constant)).every((each) => each === 0)) return softmax;
  return call.select(masked, 0, softmax);
}

/**
 * A boolean mask as an addend of attention scores, of type `type`: 0 where the mask is true, `masked` elsewhere. Default of `masked`: minus infinity.
 */
export function maskToBias(call: TensorOps, mask: Value, type: ElementType, masked: number = Number.NEGATIVE_INFINITY): Value {
  return call.select(mask, call.scalar(0, type), call.scalar(masked, type));
}

/** Adds the biases that are defined, with broadcasting. Undefined if none is. */
export function sumBiases(call: TensorOps, ...biases: readonly (Value | undefined)[]): Value | undefined {
  const [first, ...others] = biases.filter((bias) => bias !== undefined);
  return first === undefined ? undefined : others.reduce((sum, bias) => call.binary("add", sum, bias), first);
}

/** Concatenates the keys or values of previous calls with the ones of this call along axis 2, the sequence. Returns `current` if `past` is undefined. */
export function appendToCache(call: TensorOps, past: Value | undefined, current: Value): Value {
  return past === undefined ? current : call.add({ kind: "concat", axis: 2 }, past, current);
}

/** The int64 constant 0, 1, ..., `size` - 1 along `axis`, with `rank` axes in all; the others have size 1, so that it broadcasts. */
export function iota(call: TensorOps, size: number, axis: number, rank: number): Value {
  call.builder.reserve({ dataType: "int64", shape: [size] });
  const shape = Array.from({ length: rank }, (_, at) => (at === axis ? size : 1));
  return call.builder.constant({ dataType: "int64", shape, data: BigInt64Array.from({ length: size }, (_, at) => BigInt(at)) });
}
