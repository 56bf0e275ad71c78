/** Quantised tensors as their operators see them: whole numbers around a zero point, with a scale for all, for an axis or for blocks of one. */
import { elementCount } from "../../../../tensor.ts";
import type { ElementType } from "../../../ir/element-types.ts";
import { isFloat, isBigIntType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { cachedAnalysis, numbersOf } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";

/** An input in int32 without its zero point, which another input may give: one for all, or one for each place along `axis`. */
export function withoutZeroPoint(call: OperatorCall, input: number, zeroPoint: number, axis?: number): Value {
  const x = call.tensor(input);
  const whole = call.cast(x, "int32");
  const zero = call.tensorIfGiven(zeroPoint);
  if (zero === undefined || isZero(zero)) return whole;
  return call.binary("sub", whole, alignQuantization(call, call.cast(zero, "int32"), x.type.shape, axis, 0));
}

/** Known to be 0 everywhere, as symmetric quantisation has it: then there is nothing to take off millions of weights. */
function isZero({ constant, type }: Value): boolean {
  if (constant === undefined || isBigIntType(type.dataType) || isFloat(type.dataType)) return false;
  return cachedAnalysis(constant, "zero", () => Array.from(numbersOf(constant)).every((each) => each === 0));
}

/** Scales or zero points so that they broadcast with a tensor of `shape`: one, one per place of an axis, or one per block of the axis. */
export function alignQuantization(
  call: OperatorCall,
  values: Value,
  shape: readonly number[],
  axis: number | undefined,
  block: number,
): Value {
  const given = values.type.shape;
  if (block > 0) return repeated(call, values, shape, axis ?? 0, block);
  if (given.length <= 1 && elementCount(given) === 1) return call.reshape(values, []);
  if (axis === undefined || given.length > 1) return values;
  if (given[0] !== shape[axis]) throw new Error(`[${given.join(", ")}] does not fit axis ${axis} of [${shape.join(", ")}]`);
  return call.reshape(
    values,
    shape.map((size, at) => (at === axis ? size : 1)),
  );
}

/** Every entry along the axis `block` times; the last block may be shorter. */
function repeated(call: OperatorCall, values: Value, shape: readonly number[], axis: number, block: number): Value {
  const given = values.type.shape;
  const length = shape[axis] ?? 0;
  const count = given[axis] ?? 0;
  if (given.length !== shape.length || count !== Math.ceil(length / block) || given.with(axis, length).join() !== shape.join())
    throw new Error(`[${given.join(", ")}] is not [${shape.join(", ")}] in blocks of ${block} along axis ${axis}`);
  const apart = call.reshape(values, given.toSpliced(axis + 1, 0, 1));
  const all = call.add({ kind: "expand", shape: given.toSpliced(axis + 1, 0, block) }, apart);
  return call.slice(call.reshape(all, given.with(axis, count * block)), axis, 0, length);
}

/** round(sums * scale) + zeroPoint, kept inside the zero point's type. */
export function requantize(call: OperatorCall, sums: Value, scale: Value, zeroPoint: Value): Value {
  const scaled = call.binary("mul", call.cast(sums, scale.type.dataType), scale);
  return quantizeScaled(call, scaled, zeroPoint, zeroPoint.type.dataType, true);
}

/** What was divided by its scale already, in a type of whole numbers or a small floating-point one. */
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
