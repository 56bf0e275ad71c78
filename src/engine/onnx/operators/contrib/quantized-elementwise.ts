/** QLinear operators of com.microsoft: inputs are dequantized, the operation is computed in float32, and the result is quantized again. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { withoutZeroPoint, quantizeScaled, alignQuantization } from "../quantization/quantized-values.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import { leakyRelu } from "../math/activations.ts";
import { softmaxAlong } from "../math/reductions.ts";
import { averagePool, globalAveragePool } from "../nn/pooling.ts";

/** The dequantized tensor at `input`, whose scale and zero point are the next two inputs, in float32. */
function dequantized(call: OperatorCall, input: number): Value {
  const whole = call.cast(withoutZeroPoint(call, input, input + 2), "float32");
  return call.binary("mul", whole, alignedScale(call, call.tensor(input + 1)));
}

/** A result quantized with the scale at `input` and the zero point after it, in the type of the zero point. */
function requantizedOutput(call: OperatorCall, x: Value, input: number): Value {
  const scaled = call.binary("div", x, alignedScale(call, call.tensor(input)));
  const zero = call.tensorIfGiven(input + 1);
  const type = zero?.type.dataType ?? call.tensor(0).type.dataType;
  return quantizeScaled(call, scaled, zero === undefined ? undefined : alignedScale(call, zero), type, true);
}

/** A scale or zero point for the whole tensor as a scalar. */
function alignedScale(call: OperatorCall, value: Value): Value {
  return alignQuantization(call, value, [], undefined, 0);
}

/** An operator of one tensor. Inputs: x, scale, zero point; scale and zero point of the output. */
function unary(compute: (call: OperatorCall, x: Value) => Value): Translate {
  return (call) => requantizedOutput(call, compute(call, dequantized(call, 0)), 3);
}

function binary(name: "add" | "mul"): Translate {
  return (call) => requantizedOutput(call, call.binary(name, dequantized(call, 0), dequantized(call, 3)), 6);
}

/** QLinearSoftmax; the attribute `opset` selects the definition of Softmax. */
function softmax(call: OperatorCall, x: Value): Value {
  return softmaxAlong(call, x, call.int("axis", -1), call.int("opset", 13), false);
}

/** A pooling operator of one tensor, whose channels come first. */
function pool(compute: (call: OperatorCall, x: Value) => Value): Translate {
  return unary((call, x) => {
    if (call.int("channels_last", 0) !== 0) throw new Error("channels_last is not supported");
    return compute(call, x);
  });
}

/** QLinearConcat. Inputs: scale and zero point of the output, then each tensor with its own. */
function concat(call: OperatorCall): Value {
  const tensors = Array.from({ length: (call.inputCount - 2) / 3 }, (_, index) => dequantized(call, 2 + 3 * index));
  const axis = normalizeAxis(call.int("axis", 0), at(tensors, 0).type.shape.length);
  const joined = call.add({ kind: "concat", axis }, ...tensors);
  return requantizedOutput(call, joined, 0);
}

/** QLinearWhere. Inputs: condition, two tensors with scale and zero point each, scale and zero point of the output. */
function where(call: OperatorCall): Value {
  return requantizedOutput(call, call.select(call.tensor(0), dequantized(call, 1), dequantized(call, 4)), 7);
}

/** QGemm: alpha * A' * B' + C, with C in int32 and in the scale of the product. Without an output scale the result is float32. */
function gemm(call: OperatorCall): Value {
  const transposeIf = (x: Value, name: string): Value => (call.int(name, 0) === 1 ? call.transpose(x, [1, 0]) : x);
  const a = transposeIf(withoutZeroPoint(call, 0, 2), "transA");
  const transposeB = call.int("transB", 0) === 1;
  const b = transposeIf(withoutZeroPoint(call, 3, 5, transposeB ? 0 : 1), "transB");
  const sums = call.add({ kind: "matmul" }, a, b);
  const c = call.tensorIfGiven(6);
  const biased = c === undefined ? sums : call.binary("add", sums, c);
  const scale = call.binary(
    "mul",
    alignedScale(call, widened(call, call.tensor(1))),
    alignedScale(call, widened(call, call.tensor(4))),
  );
  const alpha = call.float("alpha", 1);
  const product = call.binary("mul", call.cast(biased, "float32"), alpha === 1 ? scale : call.binary("mul", scale, alpha));
  return call.tensorIfGiven(7) === undefined ? product : requantizedOutput(call, product, 7);
}

/**
 * Translates the QLinear operators of com.microsoft (QLinearAdd, QLinearSoftmax, ...) and QGemm to graph operations: dequantize, compute in float32,
 * quantize.
 */
export const contribQuantizedElementwise: OperatorFamily = {
  "com.microsoft:QLinearAdd": since(1, binary("add")),
  "com.microsoft:QLinearMul": since(1, binary("mul")),
  "com.microsoft:QLinearSigmoid": since(
    1,
    unary((call, x) => call.unary("sigmoid", x)),
  ),
  "com.microsoft:QLinearLeakyRelu": since(1, unary(leakyRelu)),
  "com.microsoft:QLinearSoftmax": since(1, unary(softmax)),
  "com.microsoft:QLinearAveragePool": since(1, pool(averagePool)),
  "com.microsoft:QLinearGlobalAveragePool": since(1, pool(globalAveragePool)),
  "com.microsoft:QLinearConcat": since(1, concat),
  "com.microsoft:QLinearWhere": since(1, where),
  "com.microsoft:QGemm": since(1, gemm),
};
