/** Quantized tensors: integers around a zero point with a scale, per tensor, per index of an axis or per block of an axis. */
import { at, required } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import type { ElementType } from "../../../ir/element-types.ts";
import { isFloat, isBigIntType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { cachedAnalysis, toNumbers } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";

/**
 * An input in int32 with its zero point subtracted. `zeroPoint`: the input that holds the zero point, if it is given: one for the tensor, or one for
 * each index of `axis`.
 */
export function withoutZeroPoint(call: OperatorCall, input: number, zeroPoint: number, axis?: number): Value {
  const x = call.tensor(input);
  const integers = call.cast(x, "int32");
  const zero = call.tensorIfGiven(zeroPoint);
  if (zero === undefined || isZero(zero)) return integers;
  return call.binary("sub", integers, alignQuantization(call, call.cast(zero, "int32"), x.type.shape, axis, 0));
}

/** Whether a constant is 0 everywhere, as in symmetric quantization; then the subtraction is left out. */
function isZero({ constant, type }: Value): boolean {
  if (constant === undefined || isBigIntType(type.dataType) || isFloat(type.dataType)) return false;
  return cachedAnalysis(constant, "zero", () => Array.from(toNumbers(constant)).every((each) => each === 0));
}

/**
 * Scales or zero points reshaped so that they broadcast to `shape`: one for the tensor, one for each index of `axis`, or, if `block` is positive, one
 * for each `block` indices of the axis.
 */
export function alignQuantization(
  call: OperatorCall,
  values: Value,
  shape: readonly number[],
  axis: number | undefined,
  block: number,
): Value {
  const given = values.type.shape;
  if (block > 0) return repeated(call, values, shape, required(axis, "an axis for blocks of scales"), block);
  if (given.length <= 1 && elementCount(given) === 1) return call.reshape(values, []);
  if (axis === undefined || given.length > 1) return values;
  if (given[0] !== shape[axis])
    throw new Error(`scales or zero points of shape [${given.join(", ")}] do not fit axis ${axis} of [${shape.join(", ")}]`);
  return call.reshape(
    values,
    shape.map((size, at) => (at === axis ? size : 1)),
  );
}

/** Every entry along the axis repeated `block` times; the last block may be shorter. */
function repeated(call: OperatorCall, values: Value, shape: readonly number[], axis: number, block: number): Value {
  const given = values.type.shape;
  const length = at(shape, axis);
  const count = given[axis] ?? 0;
  if (given.length !== shape.length || count !== Math.ceil(length / block) || given.with(axis, length).join() !== shape.join())
    throw new Error(
      `scales or zero points of shape [${given.join(", ")}] do not fit [${shape.join(", ")}] in blocks of ${block} along axis ${axis}`,
    );
  const separated = call.reshape(values, given.toSpliced(axis + 1, 0, 1));
  const all = call.add({ kind: "expand", shape: given.toSpliced(axis + 1, 0, block) }, separated);
  return call.slice(call.reshape(all, given.with(axis, count * block)), axis, 0, length);
}

/** round(sums * scale) + zeroPoint, saturated to the type of the zero point. */
export function requantize(call: OperatorCall, sums: Value, scale: Value, zeroPoint: Value): Value {
  const scaled = call.binary("mul", call.cast(sums, scale.type.dataType), scale);
  return quantizeScaled(call, scaled, zeroPoint, zeroPoint.type.dataType, true);
}

/** A value that is divided by its scale already, rounded and moved by the zero point, in an integer type or a small floating-point type. */
export function quantizeScaled(
  call: OperatorCall,
  scaled: Value,
  zeroPoint: Value | undefined,
  to: ElementType,
  saturate: boolean,
): Value {
  if (isFloat(to)) return call.cast(scaled, to, saturate);
  const rounded = call.cast(call.unary("round", scaled), "float32");
  const moved = zeroPoint === undefined ? rounded : call.binary("add", rounded, call.cast(zeroPoint, "float32"));
  return call.cast(moved, to, true);
}
