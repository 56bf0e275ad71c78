/** Generates the code of one elementwise step on four elements of any type. */
import { InferyardError } from "../../../../../contract/errors.ts";
import type { Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { f32, f64, i32, i64 } from "../../assembler/scalar.ts";
import { f32x4, f64x2, i32x4, i64x2, shuffle32, v128 } from "../../assembler/vector.ts";
import { isComparison } from "./function-table.ts";
import { needsTwoVectors, type RegisterValue, registerType } from "./registers.ts";
import type { ElementwiseType, RegisterType, Step } from "./request.ts";
import { functionTables } from "./support.ts";

/**
 * Generates the code of one step and returns its result. `values` holds the inputs and the results of earlier steps; `constants` maps indices of constants to
 * their numbers. Throws CONTRACT_VIOLATION if the step is not supported for the types of its operands.
 */
export function emitStep(
  f: FunctionBuilder,
  step: Step,
  values: readonly RegisterValue[],
  constants: ReadonlyMap<number, number>,
): RegisterValue {
  const lanes = (type: RegisterType, parts: readonly V128[]): RegisterValue => ({
    type,
    parts: parts.map((part) => f.value(part)),
  });
  if (step.op === "constant") return lanes(step.type, constantParts(step.type, step.value));
  const [a, b, c] = step.of.map((place) => valueAt(values, place));
  if (a === undefined) throw unsupportedStep(step, []);
  if (step.op === "cast") return lanes(registerType(step.to), castParts(f, a, step.to));
  if (step.op === "select") {
    if (b === undefined || c === undefined) throw unsupportedStep(step, [a]);
    return lanes(b.type, selectParts(step, a, b, c));
  }
  const emit = functionTables[a.type][step.op];
  if (emit === undefined || (b !== undefined && b.type !== a.type)) throw unsupportedStep(step, b === undefined ? [a] : [a, b]);
  const exponent = constants.get(step.of[1] ?? -1);
  const parts = a.parts.map((x, part) => emit(f, x, b?.parts[part] ?? x, exponent));
  if (!isComparison(step.op)) return lanes(a.type, parts);
  return lanes("bool", [needsTwoVectors(a.type) ? lowWords(parts) : (parts[0] ?? v128.zero)]);
}

function valueAt(values: readonly RegisterValue[], place: number): RegisterValue {
  const value = values[place];
  if (value !== undefined) return value;
  throw new InferyardError(
    "CONTRACT_VIOLATION",
    `an elementwise step names value ${place}, and there are ${values.length} before it`,
  );
}

function unsupportedStep(step: Step, operands: readonly RegisterValue[]): InferyardError {
  const types = operands.map(({ type }) => type).join(" and ");
  return new InferyardError("CONTRACT_VIOLATION", `there is no elementwise ${step.op} of ${types}`);
}

function selectParts(step: Step, condition: RegisterValue, whenTrue: RegisterValue, whenFalse: RegisterValue): V128[] {
  const [mask] = condition.parts;
  if (condition.type !== "bool" || mask === undefined || whenTrue.type !== whenFalse.type)
    throw unsupportedStep(step, [condition, whenTrue, whenFalse]);
  const masks = needsTwoVectors(whenTrue.type) ? [i64x2.extendLowI32x4S(mask), i64x2.extendHighI32x4S(mask)] : [mask];
  return masks.map((own, part) => v128.bitselect(whenTrue.parts[part] ?? mask, whenFalse.parts[part] ?? mask, own));
}

function constantParts(type: RegisterType, value: number): V128[] {
  if (type === "float32") return [f32x4.const(value)];
  if (type === "int32" || type === "uint32") return [i32x4.const(value | 0)];
  if (type === "float64") return [f64x2.const(value), f64x2.const(value)];
  if (type === "bool") return [i32x4.const(value === 0 ? 0 : -1)];
  const pair = i64x2.splat(i64.const(BigInt(value)));
  return [pair, pair];
}

/** Truncates two vectors of two 64-bit lanes to one vector of four 32-bit lanes: the low 32 bits of each. */
function lowWords([low, high]: readonly V128[]): V128 {
  return shuffle32(low ?? v128.zero, high ?? v128.zero, [0, 2, 4, 6]);
}

function castParts(f: FunctionBuilder, from: RegisterValue, to: ElementwiseType): V128[] {
  const [x, y] = from.parts;
  if (x === undefined) return [];
  if (to === "bool") return [notZero(from)];
  const target = registerType(to);
  if (target === from.type) return from.parts.map((part) => truncateTo(part, to));
  if (target === "float32") return [toFloat(f, from)];
  const numbers = from.type === "bool" ? f.value(v128.and(x, i32x4.const(1))) : x;
  if (target === "float64") return toDouble(f, { ...from, parts: y === undefined ? [numbers] : [numbers, y] });
  if (target === "int64") {
    if (from.type === "float32") return [floatToInt64(f, x, 0), floatToInt64(f, x, 2)];
    if (from.type === "float64") return from.parts.map((part) => doubleToInt64(f, part));
    if (from.type === "uint32") return [i64x2.extendLowI32x4U(x), i64x2.extendHighI32x4U(x)];
    return [i64x2.extendLowI32x4S(numbers), i64x2.extendHighI32x4S(numbers)];
  }
  if (from.type === "bool") return [numbers];
  if (from.type === "float32") {
    const whole = i32x4.truncSatF32x4S(x);
    // A negative number gives the bits of the int32: it wraps around.
    return target === "uint32"
      ? [v128.bitselect(whole, i32x4.truncSatF32x4U(x), f32x4.lt(x, v128.zero))]
      : [truncateTo(whole, to)];
  }
  if (from.type === "float64") {
    if (target === "uint32") return [lowWords(from.parts.map((part) => f.value(doubleToInt64(f, part))))];
    return [truncateTo(shuffle32(i32x4.truncSatF64x2SZero(x), i32x4.truncSatF64x2SZero(y ?? x), [0, 1, 4, 5]), to)];
  }
  if (from.type === "int32" || from.type === "uint32") return [truncateTo(x, to)]; // a cast between int32 and uint32 keeps the bits
  return [truncateTo(lowWords([x, y ?? x]), to)];
}

/** Truncates int32 lanes to the low bits of an 8- or 16-bit type, zero- or sign-extended to 32 bits; returns other types unchanged. */
function truncateTo(x: V128, to: ElementwiseType): V128 {
  if (to === "uint8") return v128.and(x, i32x4.const(0xff));
  if (to === "uint16") return v128.and(x, i32x4.const(0xffff));
  if (to !== "int8" && to !== "int16") return x;
  const unused = i32.const(to === "int8" ? 24 : 16);
  return i32x4.shrS(i32x4.shl(x, unused), unused);
}

function notZero({ type, parts }: RegisterValue): V128 {
  const [x] = parts;
  if (x === undefined || type === "bool") return x ?? v128.zero;
  if (type === "float32") return f32x4.ne(x, v128.zero);
  if (type === "int32" || type === "uint32") return i32x4.ne(x, v128.zero);
  if (type === "float64") return lowWords(parts.map((part) => f64x2.ne(part, v128.zero)));
  return lowWords(parts.map((part) => i64x2.ne(part, v128.zero)));
}

function toFloat(f: FunctionBuilder, { type, parts }: RegisterValue): V128 {
  const [x, y] = parts;
  if (x === undefined) return v128.zero;
  if (type === "bool") return v128.and(x, f32x4.const(1));
  if (type === "uint32") return f32x4.convertI32x4U(x);
  if (type === "int32" || y === undefined) return f32x4.convertI32x4S(x);
  if (type === "float64") return shuffle32(f32x4.demoteF64x2Zero(x), f32x4.demoteF64x2Zero(y), [0, 1, 4, 5]);
  const result = f.value(v128.zero);
  [x, y].forEach((part, index) => {
    for (const lane of [0, 1])
      f.set(result, f32x4.replaceLane(result, index * 2 + lane, f32.convertI64S(i64x2.extractLane(part, lane))));
  });
  return result;
}

function floatToInt64(f: FunctionBuilder, x: Local<"v128">, first: number): V128 {
  const low = f.value(i64x2.splat(i64.truncSatF32S(f32x4.extractLane(x, first))));
  return i64x2.replaceLane(low, 1, i64.truncSatF32S(f32x4.extractLane(x, first + 1)));
}

/** Converts to float64: two vectors of two lanes. */
function toDouble(f: FunctionBuilder, { type, parts }: RegisterValue): V128[] {
  const [x, y] = parts;
  if (x === undefined) return [];
  if (type === "int64")
    return [x, y ?? x].map((part) => {
      const low = f.value(f64x2.splat(f64.convertI64S(i64x2.extractLane(part, 0))));
      return f64x2.replaceLane(low, 1, f64.convertI64S(i64x2.extractLane(part, 1)));
    });
  const convert =
    type === "float32" ? f64x2.promoteLowF32x4 : type === "uint32" ? f64x2.convertLowI32x4U : f64x2.convertLowI32x4S;
  return [convert(x), convert(i64x2.splat(i64x2.extractLane(x, 1)))];
}

function doubleToInt64(f: FunctionBuilder, x: Local<"v128">): V128 {
  const low = f.value(i64x2.splat(i64.truncSatF64S(f64x2.extractLane(x, 0))));
  return i64x2.replaceLane(low, 1, i64.truncSatF64S(f64x2.extractLane(x, 1)));
}
