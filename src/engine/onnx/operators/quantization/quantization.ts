/** Quantization, dequantization and matrix products of quantized tensors: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html. */
import { at } from "../../../../contract/checked.ts";
import type { ElementType } from "../../../ir/element-types.ts";
import { isFloat } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import { matmulOperator } from "../math/matrix-products.ts";
import { withoutZeroPoint, quantizeScaled, requantize, alignQuantization } from "./quantized-values.ts";

/** The axis of per-axis scales; undefined if the tensor has no such axis. */
function scaleAxis(call: OperatorCall, x: Value): number | undefined {
  const axis = call.int("axis", 1);
  const rank = x.type.shape.length;
  const stated = axis < 0 ? axis + rank : axis;
  return stated >= 0 && stated < rank ? normalizeAxis(axis, rank) : undefined;
}

/** ONNX QuantizeLinear. Inputs: x, scale, optional zero point. The division is in the type of the scale, or in `precision`. */
export function quantizeOperator(call: OperatorCall): Value {
  const x = call.tensor(0);
  const scale = call.tensor(1);
  const zero = call.tensorIfGiven(2);
  const block = call.int("block_size", 0);
  const axis = scaleAxis(call, x);
  const stated = call.elementType("output_dtype");
  const to: ElementType = zero?.type.dataType ?? stated ?? "uint8";
  if (stated !== undefined && stated !== to) throw new Error(`output_dtype is ${stated}, and the zero point is ${to}`);
  const precision = call.elementType("precision") ?? scale.type.dataType;
  const within = isFloat(precision) ? precision : scale.type.dataType;
  const saturate = call.int("saturate", 1) === 1;
  const scales = alignQuantization(call, call.cast(scale, within), x.type.shape, axis, block);
  const scaled = call.binary("div", call.cast(x, within), scales);
  const zeros = zero === undefined || isFloat(to) ? undefined : alignQuantization(call, zero, x.type.shape, axis, block);
  return quantizeScaled(call, scaled, zeros, to, saturate);
}

/** ONNX DequantizeLinear: (x - zero point) * scale, in float32, rounded once. */
export function dequantize(call: OperatorCall): Value {
  const x = call.tensor(0);
  const scale = call.tensor(1);
  const zero = call.tensorIfGiven(2);
  const block = call.int("block_size", 0);
  const axis = scaleAxis(call, x);
  const stated = call.elementType("output_dtype");
  const single = call.cast(x, "float32");
  const moved =
    zero === undefined
      ? single
      : call.binary("sub", single, alignQuantization(call, call.cast(zero, "float32"), x.type.shape, axis, block));
  const scales = alignQuantization(call, call.cast(scale, "float32"), x.type.shape, axis, block);
  return call.cast(call.binary("mul", moved, scales), stated ?? scale.type.dataType);
}

/** ONNX DynamicQuantizeLinear: x in uint8, with a scale and zero point computed from its range, extended to contain 0. */
export function dynamicQuantize(call: OperatorCall, x: Value): readonly [y: Value, scale: Value, zeroPoint: Value] {
  const axes = Array.from(x.type.shape, (_, axis) => axis);
  const highest = call.binary("max", call.reduce("max", x, axes, false), 0);
  const lowest = call.binary("min", call.reduce("min", x, axes, false), 0);
  const range = call.binary("sub", highest, lowest);
  const scale = call.select(call.binary("equal", range, 0), 1, call.binary("div", range, 255));
  const start = call.binary("sub", 0, call.binary("div", lowest, scale));
  const zeroPoint = call.cast(call.unary("round", start), "uint8", true);
  const y = quantizeScaled(call, call.binary("div", x, scale), zeroPoint, "uint8", true);
  return [y, scale, zeroPoint];
}

/** Scales or zero points of the first operand of a product, shaped to broadcast: a vector is one per row, a single entry a scalar. */
export function perRow(call: OperatorCall, values: Value): Value {
  const { shape } = values.type;
  return shape.length === 1 && shape[0] !== 1 ? call.reshape(values, [at(shape, 0), 1]) : perColumn(call, values);
}

/** Scales or zero points of the second operand of a product, shaped to broadcast: a vector is one per column, a single entry a scalar. */
export function perColumn(call: OperatorCall, values: Value): Value {
  return values.type.shape.length === 1 && values.type.shape[0] === 1 ? call.reshape(values, []) : values;
}

/** The matrix product in int32 of two operands with their zero points subtracted. `inputs`: indices of the node's inputs for operands and zero points. */
export function integerMatmulOperator(
  call: OperatorCall,
  inputs: readonly [a: number, aZero: number, b: number, bZero: number],
): Value {
  const [aInput, aZero, bInput, bZero] = inputs;
  const zeroA = call.tensorIfGiven(aZero);
  const a = call.cast(call.tensor(aInput), "int32");
  const left = zeroA === undefined ? a : call.binary("sub", a, perRow(call, call.cast(zeroA, "int32")));
  return matmulOperator(call, left, withoutZeroPoint(call, bInput, bZero));
}

/** ONNX QLinearMatMul. Inputs: a, scale, zero point; b, scale, zero point; scale and zero point of the output. */
function qlinearMatmul(call: OperatorCall): Value {
  if (isFloat(call.tensor(0).type.dataType)) throw new Error("float8 is not supported");
  const sums = integerMatmulOperator(call, [0, 2, 3, 5]);
  const [a, b, y] = [call.tensor(1), call.tensor(4), call.tensor(6)].map((scale) => widened(call, scale));
  if (a === undefined || b === undefined || y === undefined) throw new Error("a scale is missing");
  const product = call.binary("mul", perRow(call, a), perColumn(call, b));
  return requantize(call, sums, call.binary("div", product, perRow(call, y)), perRow(call, call.tensor(7)));
}

/** Translates QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, MatMulInteger and QLinearMatMul of ai.onnx to graph operations. */
export const quantization: OperatorFamily = {
  QuantizeLinear: since(10, quantizeOperator),
  DequantizeLinear: since(10, dequantize),
  DynamicQuantizeLinear: since(11, (call) => dynamicQuantize(call, call.tensor(0))),
  MatMulInteger: since(10, (call) => integerMatmulOperator(call, [0, 2, 1, 3])),
  QLinearMatMul: since(10, qlinearMatmul),
};
