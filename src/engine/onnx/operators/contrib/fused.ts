/** Fused operators of com.microsoft, which onnxruntime's optimizer creates: normalization with residuals, activations with biases, products with epilogues. */
import type { Value } from "../../../ir/graph.ts";
import { iota } from "../attention/scaled-dot-product.ts";
import { rmsNormalize, inverseStandardDeviation } from "../nn/normalizations.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { computeWidened, widened, widenedIfGiven } from "../precision.ts";
import { gemm, matmulOperator } from "../math/matrix-products.ts";
import { convolution } from "../nn/convolutions.ts";
import { getActivation } from "../nn/recurrent-activations.ts";

/** SkipLayerNormalization of x + skip + bias over the last axis. Outputs: the normalized sum, mean, inverse standard deviation, the sum. */
function skipLayerNorm(call: OperatorCall): readonly Value[] {
  const [gamma, beta, bias] = [widened(call, call.tensor(2)), widenedIfGiven(call, 3), widenedIfGiven(call, 4)];
  const sum = skipped(call, bias);
  const epsilon = call.float("epsilon", 1e-12);
  const axis = sum.type.shape.length - 1;
  const normalized = call.add({ kind: "layer-norm", axis, epsilon }, sum, gamma, ...(beta === undefined ? [] : [beta]));
  const outputs = [normalized, sum].map((each) => call.cast(each, call.tensor(0).type.dataType));
  const [first = normalized, last = sum] = outputs;
  if (!call.usesOutput(1) && !call.usesOutput(2)) return [first, sum, sum, last]; // the second and third output are not used
  const mean = call.reduce("mean", sum, [axis], true);
  const centred = call.binary("sub", sum, mean);
  const variance = call.reduce("mean", call.binary("mul", centred, centred), [axis], true);
  return [first, mean, inverseStandardDeviation(call, variance, epsilon), last];
}

/** x + skip + bias. */
function skipped(call: OperatorCall, bias: Value | undefined): Value {
  const sum = call.binary("add", widened(call, call.tensor(0)), widened(call, call.tensor(1)));
  return bias === undefined ? sum : call.binary("add", sum, bias);
}

/** SkipSimplifiedLayerNormalization: as SkipLayerNormalization with RMSNorm. */
function skipSimplifiedLayerNorm(call: OperatorCall): readonly Value[] {
  const sum = skipped(call, widenedIfGiven(call, 3));
  const [normalized, factor] = rmsNormalize(call, sum, [sum.type.shape.length - 1], call.float("epsilon", 1e-12));
  const { dataType } = call.tensor(0).type;
  const scaled = call.binary("mul", normalized, widened(call, call.tensor(2)));
  if (call.usesOutput(1)) throw new Error("the mean as an output is not supported");
  return [call.cast(scaled, dataType), factor, factor, call.cast(sum, dataType)];
}

/** EmbedLayerNormalization. Inputs: token and segment ids, word, position and segment embeddings, scale, shift, mask, positions. */
function embedLayerNorm(call: OperatorCall): readonly Value[] {
  const ids = call.tensor(0);
  const [batch = 0, length = 0] = ids.type.shape;
  const rows = (table: number, at: Value): Value => call.add({ kind: "gather", axis: 0 }, widened(call, call.tensor(table)), at);
  const positions = iota(call, length, 1, 2);
  const words = call.binary("add", rows(2, ids), rows(3, call.tensorIfGiven(8) ?? positions));
  const segments = call.tensorIfGiven(1);
  const sum = segments === undefined ? words : call.binary("add", words, rows(4, segments));
  const epsilon = call.float("epsilon", 1e-12);
  const normalized = call.add(
    { kind: "layer-norm", axis: 2, epsilon },
    sum,
    widened(call, call.tensor(5)),
    widened(call, call.tensor(6)),
  );
  const { dataType } = call.tensor(2).type;
  call.ignore("mask_index_type");
  const mask = call.tensorIfGiven(7);
  const counts =
    mask === undefined
      ? call.zeros("int32", [batch])
      : call.reduce("sum", call.cast(call.binary("equal", call.cast(mask, "int32"), 1), "int32"), [1], false);
  return [call.cast(normalized, dataType), counts, call.cast(sum, dataType)];
}

/** x plus the optional second input. */
function biased(call: OperatorCall, x: Value): Value {
  const bias = widenedIfGiven(call, 1);
  return bias === undefined ? x : call.binary("add", x, bias);
}

/** FusedMatMul: alpha * A' * B'; `trans` transposes the last two axes, `transBatch` moves the first axis after the other leading ones. */
const fusedMatmul = computeWidened((call, a) => {
  const b = widened(call, call.tensor(1));
  const one = permuted(call, a, call.int("transA", 0) === 1, call.int("transBatchA", 0) === 1);
  const other = permuted(call, b, call.int("transB", 0) === 1, call.int("transBatchB", 0) === 1);
  const product = matmulOperator(call, one, other);
  const alpha = call.float("alpha", 1);
  return alpha === 1 ? product : call.binary("mul", product, alpha);
});

/** FusedGemm: Gemm with an activation. */
function fusedGemm(call: OperatorCall): Value {
  const parameters = [call.float("activation_alpha", Number.NaN), call.float("activation_beta", Number.NaN)];
  const stated = parameters.filter((each) => !Number.isNaN(each));
  call.ignore("activation_gamma");
  const name = call.string("activation", "");
  const sum = gemm(call);
  return name === "" ? sum : getActivation(name, stated)(call, sum);
}

/** An operand of FusedMatMul with its axes permuted. */
function permuted(call: OperatorCall, x: Value, last: boolean, batch: boolean): Value {
  const rank = x.type.shape.length;
  if (rank < 2) return x;
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const leading = batch ? [...axes.slice(1, -1), 0] : axes.slice(0, -1);
  const order = [...leading, rank - 1];
  return call.transpose(x, last ? [...order.slice(0, -2), ...order.slice(-2).toReversed()] : order);
}

/** FusedConv: a convolution, an optional tensor added to it, and an activation. */
function fusedConvolution(call: OperatorCall): Value {
  const result = convolution(call);
  const more = call.tensorIfGiven(3);
  const sum = more === undefined ? result : call.binary("add", result, more);
  const name = call.string("activation", "");
  const parameters = call.floats("activation_params") ?? [];
  return name === "" ? sum : getActivation(name, parameters)(call, sum);
}

/**
 * Translates fused operators of com.microsoft that onnxruntime's optimizer writes, such as SkipLayerNormalization, BiasGelu and FusedMatMul, to graph
 * operations.
 */
export const contribFused: OperatorFamily = {
  "com.microsoft:SkipLayerNormalization": since(1, skipLayerNorm),
  "com.microsoft:SkipSimplifiedLayerNormalization": since(1, skipSimplifiedLayerNorm),
  "com.microsoft:EmbedLayerNormalization": since(1, embedLayerNorm),
  "com.microsoft:Gelu": since(
    1,
    computeWidened((call, x) => call.add({ kind: "gelu", approximate: "none" }, x)),
  ),
  "com.microsoft:BiasGelu": since(
    1,
    computeWidened((call, x) => call.add({ kind: "gelu", approximate: "none" }, biased(call, x))),
  ),
  "com.microsoft:FastGelu": since(
    1,
    computeWidened((call, x) => call.add({ kind: "gelu", approximate: "tanh" }, biased(call, x))),
  ),
  "com.microsoft:QuickGelu": since(
    1,
    computeWidened((call, x) => call.binary("mul", x, call.unary("sigmoid", call.binary("mul", x, call.float("alpha", 1.702))))),
  ),
  "com.microsoft:FusedMatMul": since(1, fusedMatmul),
  "com.microsoft:TransposeMatMul": since(1, fusedMatmul),
  "com.microsoft:FusedGemm": since(1, fusedGemm),
  "com.microsoft:FusedConv": since(1, fusedConvolution),
};
