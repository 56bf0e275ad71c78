/** Matrix products and convolutions. */
import type { Value } from "../../../ir/graph.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { alignToChannels, windowOf } from "../nn/window-attributes.ts";

/** numpy's matmul: vectors count as a row on the left and as a column on the right. */
export function matmul(call: OperatorCall, a: Value, b: Value): Value {
  const left = a.type.shape.length === 1 ? call.reshape(a, [1, ...a.type.shape]) : a;
  const right = b.type.shape.length === 1 ? call.reshape(b, [...b.type.shape, 1]) : b;
  const product = call.add({ kind: "matmul" }, left, right);
  const { shape } = product.type;
  const rows = a.type.shape.length === 1 ? shape.toSpliced(-2, 1) : shape;
  return call.reshape(product, b.type.shape.length === 1 ? rows.slice(0, -1) : rows);
}

/** alpha A' B' + beta C. */
export function gemm(call: OperatorCall): Value {
  if (call.version < 7) call.ignore("broadcast");
  const a = call.int("transA", 0) === 1 ? call.transpose(call.tensor(0), [1, 0]) : call.tensor(0);
  const b = call.int("transB", 0) === 1 ? call.transpose(call.tensor(1), [1, 0]) : call.tensor(1);
  const [alpha, beta, c] = [call.float("alpha", 1), call.float("beta", 1), call.tensorIfGiven(2)];
  const product = call.add({ kind: "matmul" }, a, b);
  const scaled = alpha === 1 ? product : call.binary("mul", product, alpha);
  if (c === undefined || beta === 0) return scaled;
  return call.binary("add", scaled, beta === 1 ? c : call.binary("mul", c, beta));
}

export function convolution(call: OperatorCall): Value {
  const x = call.tensor(0);
  const weights = call.tensor(1);
  const kernel = weights.type.shape.slice(2);
  const stated = call.ints("kernel_shape");
  if (stated !== undefined && stated.join() !== kernel.join())
    throw new Error(`its kernel is [${kernel.join(", ")}], and it states [${stated.join(", ")}]`);
  const window = windowOf(call, x.type.shape.slice(2), kernel);
  const result = call.add({ kind: "convolution", groups: call.int("group", 1), ...window }, x, weights);
  const bias = call.tensorIfGiven(2);
  return bias === undefined ? result : call.binary("add", result, alignToChannels(call, bias, x.type.shape.length));
}

function layerNorm(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const { shape } = x.type;
  const axis = normalizeAxis(call.int("axis", -1), shape.length);
  const epsilon = call.float("epsilon", 1e-5);
  if (call.int("stash_type", 1) !== 1) throw new Error("it wants its mean in another type than float32, which is not built");
  const inputs = [x, call.tensor(1), call.tensorIfGiven(2)].filter((input) => input !== undefined);
  const normalized = call.add({ kind: "layer-norm", axis, epsilon }, ...inputs);
  if (!call.usesOutput(1) && !call.usesOutput(2)) return [normalized];
  const axes = Array.from({ length: shape.length - axis }, (_, index) => axis + index);
  const single = call.cast(x, "float32");
  const mean = call.reduce("mean", single, axes, true);
  const centred = call.binary("sub", single, mean);
  const variance = call.reduce("mean", call.binary("mul", centred, centred), axes, true);
  return [normalized, mean, call.unary("reciprocal", call.unary("sqrt", call.binary("add", variance, epsilon)))];
}

export const matrixProducts: OperatorFamily = {
  MatMul: since(1, (call) => matmul(call, call.tensor(0), call.tensor(1))),
  Gemm: since(1, gemm),
  Conv: since(1, convolution),
  LayerNormalization: since(17, layerNorm),
};
