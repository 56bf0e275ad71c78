/** com.microsoft's operators on quantised tensors: what goes in loses its quantisation, and what comes out gets another. */
import type { Value } from "../../../ir/graph.ts";
import { withoutZeroPoint, quantizeScaled, alignQuantization } from "../quantization/quantized-values.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import { windowOf } from "../nn/window-attributes.ts";

/** The tensor at `input`, with its scale and zero point behind it, in float32. */
function read(call: OperatorCall, input: number): Value {
  const whole = call.cast(withoutZeroPoint(call, input, input + 2), "float32");
  return call.binary("mul", whole, oneFor(call, call.tensor(input + 1)));
}

/** In the type of the zero point, which stands behind the scale at `input`. */
function written(call: OperatorCall, x: Value, input: number): Value {
  const scaled = call.binary("div", x, oneFor(call, call.tensor(input)));
  const zero = call.tensorIfGiven(input + 1);
  const type = zero?.type.dataType ?? call.tensor(0).type.dataType;
  return quantizeScaled(call, scaled, zero === undefined ? undefined : oneFor(call, zero), type, true);
}

function oneFor(call: OperatorCall, value: Value): Value {
  return alignQuantization(call, value, [], undefined, 0);
}

/** Of one tensor: x, its scale and zero point, the output's. */
function unary(compute: (call: OperatorCall, x: Value) => Value): Translate {
  return (call) => written(call, compute(call, read(call, 0)), 3);
}

function binary(name: "add" | "mul"): Translate {
  return (call) => written(call, call.binary(name, read(call, 0), read(call, 3)), 6);
}

function leakyRelu(call: OperatorCall, x: Value): Value {
  return call.select(call.binary("less", x, 0), call.binary("mul", x, call.float("alpha", 0.01)), x);
}

function softmax(call: OperatorCall, x: Value): Value {
  const { shape } = x.type;
  const axis = normalizeAxis(call.int("axis", -1), shape.length);
  if (call.int("opset", 13) >= 13) return call.add({ kind: "softmax", axis, logarithm: false }, x);
  const rows = shape.slice(0, axis).reduce((product, size) => product * size, 1);
  const matrix = call.reshape(x, [rows, shape.slice(axis).reduce((product, size) => product * size, 1)]);
  return call.reshape(call.add({ kind: "softmax", axis: 1, logarithm: false }, matrix), shape);
}

function refuseChannelsLast(call: OperatorCall): void {
  if (call.int("channels_last", 0) !== 0) throw new Error("channels in the last place are not built");
}

function averagePool(call: OperatorCall, x: Value): Value {
  refuseChannelsLast(call);
  const kernel = call.ints("kernel_shape");
  if (kernel === undefined) throw new Error("it states no kernel_shape");
  const window = windowOf(call, x.type.shape.slice(2), kernel);
  const countPadding = call.int("count_include_pad", 0) === 1;
  return call.add({ kind: "average-pool", kernel, ceil: call.int("ceil_mode", 0) === 1, countPadding, ...window }, x);
}

function globalAveragePool(call: OperatorCall, x: Value): Value {
  refuseChannelsLast(call);
  return call.reduce(
    "mean",
    x,
    Array.from({ length: x.type.shape.length - 2 }, (_, axis) => axis + 2),
    true,
  );
}

/** Inputs: the output's scale and zero point, then each tensor with its own. */
function concat(call: OperatorCall): Value {
  const tensors = Array.from({ length: (call.inputCount - 2) / 3 }, (_, index) => read(call, 2 + 3 * index));
  const axis = normalizeAxis(call.int("axis", 0), tensors[0]?.type.shape.length ?? 0);
  const joined = call.add({ kind: "concat", axis }, ...tensors);
  return written(call, joined, 0);
}

/** Inputs: condition, then one tensor and the other, each with scale and zero point, then the output's. */
function where(call: OperatorCall): Value {
  return written(call, call.select(call.tensor(0), read(call, 1), read(call, 4)), 7);
}

/** alpha A' B' + C, with C in int32 of the product's scale; without a scale of its own the output is a float. */
function gemm(call: OperatorCall): Value {
  const turn = (x: Value, name: string): Value => (call.int(name, 0) === 1 ? call.transpose(x, [1, 0]) : x);
  const a = turn(withoutZeroPoint(call, 0, 2), "transA");
  const turned = call.int("transB", 0) === 1;
  const b = turn(withoutZeroPoint(call, 3, 5, turned ? 0 : 1), "transB");
  const sums = call.add({ kind: "matmul" }, a, b);
  const c = call.tensorIfGiven(6);
  const biased = c === undefined ? sums : call.binary("add", sums, c);
  const scale = call.binary("mul", oneFor(call, widened(call, call.tensor(1))), oneFor(call, widened(call, call.tensor(4))));
  const alpha = call.float("alpha", 1);
  const product = call.binary("mul", call.cast(biased, "float32"), alpha === 1 ? scale : call.binary("mul", scale, alpha));
  return call.tensorIfGiven(7) === undefined ? product : written(call, product, 7);
}

export const contribQuantizedElementwise: OperatorFamily = {
  "com.microsoft:QLinearAdd": since(1, binary("add")),
  "com.microsoft:QLinearMul": since(1, binary("mul")),
  "com.microsoft:QLinearSigmoid": since(
    1,
    unary((call, x) => call.unary("sigmoid", x)),
  ),
  "com.microsoft:QLinearLeakyRelu": since(1, unary(leakyRelu)),
  "com.microsoft:QLinearSoftmax": since(1, unary(softmax)),
  "com.microsoft:QLinearAveragePool": since(1, unary(averagePool)),
  "com.microsoft:QLinearGlobalAveragePool": since(1, unary(globalAveragePool)),
  "com.microsoft:QLinearConcat": since(1, concat),
  "com.microsoft:QLinearWhere": since(1, where),
  "com.microsoft:QGemm": since(1, gemm),
};
