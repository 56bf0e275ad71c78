/** Attention of transformers, of primitives that the passes know, and who may see whom. */
import type { Value } from "../../ir/graph.ts";
import { causalMask } from "../../onnx/operators/attention/scaled-dot-product.ts";
import type { TensorOps } from "../tensor-ops.ts";

/** What takes the place of minus infinity in PyTorch's masks: a text of which nothing may be seen still gives numbers. */
const maskedScore = -3.4028234663852886e38;

export interface AttentionInputs {
  /** [N, heads, L, D]. */
  readonly query: Value;
  /** [N, heads of keys, S, D]: as many heads of queries share each one. */
  readonly key: Value;
  /** [N, heads of keys, S, D]. */
  readonly value: Value;
  readonly scale: number;
  /** Added to the scores; broadcasts to [N, heads, L, S]. */
  readonly bias?: Value | undefined;
}

/** Vaswani and others, https://arxiv.org/abs/1706.03762. Gives [N, L, heads * D]. */
export function attention(net: TensorOps, { query, key, value, scale, bias }: AttentionInputs): Value {
  const [batch = 0, heads = 0, length = 0, size = 0] = query.type.shape;
  const [, shared = 1, total = 0] = key.type.shape;
  const width = heads * size;
  if (heads === shared) {
    const scores = scaledAndBiased(net, net.add({ kind: "matmul" }, query, net.transpose(key, [0, 1, 3, 2])), scale, bias);
    const mixed = net.add({ kind: "matmul" }, softmax(net, scores), value);
    return net.reshape(net.transpose(mixed, [0, 2, 1, 3]), [batch, length, width]);
  }
  // A group of heads is an axis of its own, along which keys and values repeat.
  const apart = net.reshape(query, [batch, shared, heads / shared, length, size]);
  const [keys, values] = [key, value].map((each) => net.reshape(each, [batch, shared, 1, total, size]));
  if (keys === undefined || values === undefined) throw new Error("there are no keys");
  const [first = 1, , rows = 1, columns = 1] = bias?.type.shape ?? [];
  const grouped = bias === undefined ? undefined : net.reshape(bias, [first, 1, 1, rows, columns]);
  const scores = scaledAndBiased(net, net.add({ kind: "matmul" }, apart, net.transpose(keys, [0, 1, 2, 4, 3])), scale, grouped);
  const mixed = net.add({ kind: "matmul" }, softmax(net, scores), values);
  return net.reshape(net.transpose(mixed, [0, 3, 1, 2, 4]), [batch, length, width]);
}

function scaledAndBiased(net: TensorOps, scores: Value, scale: number, bias: Value | undefined): Value {
  const product = scale === 1 ? scores : net.binary("mul", scores, scale);
  return bias === undefined ? product : net.binary("add", product, bias);
}

function softmax(net: TensorOps, scores: Value): Value {
  return net.add({ kind: "softmax", axis: scores.type.shape.length - 1, logarithm: false }, scores);
}

/** [N, L, heads * D] becomes [N, heads, L, D]. */
export function splitHeads(net: TensorOps, x: Value, heads: number): Value {
  const [batch = 0, length = 0, width = 0] = x.type.shape;
  return net.transpose(net.reshape(x, [batch, length, heads, width / heads]), [0, 2, 1, 3]);
}

/** Of a mask [N, S] of ones and zeros, whether a place may be seen: bool [N, 1, 1, S]. */
export function keyVisibility(net: TensorOps, mask: Value): Value {
  const [batch = 0, total = 0] = mask.type.shape;
  return net.reshape(net.unary("not", net.binary("equal", mask, 0)), [batch, 1, 1, total]);
}

/** What is added to scores for places that may be seen, and for others. */
export function additiveMask(net: TensorOps, seen: Value): Value {
  return net.select(seen, 0, maskedScore);
}

/** Every place sees all places the mask [N, S] has a one at. */
export function paddingBias(net: TensorOps, mask: Value): Value {
  return additiveMask(net, keyVisibility(net, mask));
}

/**
 * A place sees those up to itself that the mask [N, S] has a one at, no more than `window` of them, itself counted. There are `length` places, the
 * last of those the mask has. Gives [N, 1, L, S].
 */
export function causalBias(net: TensorOps, mask: Value, length: number, window: number = Number.POSITIVE_INFINITY): Value {
  const seen = keyVisibility(net, mask);
  const total = mask.type.shape[1] ?? 0;
  if (length === 1 && total <= window) return additiveMask(net, seen);
  const before = net.reshape(causalMask(net, length, total, total - length, window), [1, 1, length, total]);
  return additiveMask(net, net.binary("and", before, seen));
}
