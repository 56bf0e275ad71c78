/** A step on four lanes of any type. */
import { InferyardError } from "../../../../../errors.ts";
import type { Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { f32, i32, i64 } from "../../assembler/scalar.ts";
import { f32x4, i32x4, i64x2, shuffle32, v128 } from "../../assembler/vector.ts";
import { floatArithmetic, floatComparison, floatUnary } from "./float-operations.ts";
import {
  int32Arithmetic,
  int32Comparison,
  int32Unary,
  int64Arithmetic,
  int64Comparison,
  int64Unary,
} from "./integer-operations.ts";
import { type Lanes, type RegisterType, registerType } from "./lanes.ts";
import type { Arithmetic, Comparison, ElementType, Step, Unary } from "./request.ts";

const comparisons: ReadonlySet<string> = new Set<Comparison>(["eq", "ne", "lt", "le", "gt", "ge"]);

/** Computes the step. `constants` has the value of every constant step. */
export function emitStep(
  f: FunctionBuilder,
  step: Step,
  values: readonly Lanes[],
  constants: ReadonlyMap<number, number>,
): Lanes {
  const lanes = (type: RegisterType, parts: readonly V128[]): Lanes => ({ type, parts: parts.map((part) => f.value(part)) });
  if (step.op === "constant") return lanes(step.type, constantParts(step.type, step.value));
  const [a, b, c] = step.of.map((place) => valueAt(values, place));
  if (a === undefined) throw refusal(step, []);
  if (step.op === "cast") return lanes(registerType(step.to), cast(f, a, step.to));
  if (b === undefined)
    return lanes(
      a.type,
      computed(step, [a], (x) => unary(f, step.op as Unary, a.type, x)),
    );
  if (c !== undefined) return lanes(b.type, choose(step, a, b, c));
  if (a.type !== b.type) throw refusal(step, [a, b]);
  if (comparisons.has(step.op)) {
    const masks = computed(step, [a, b], (x, y) => compare(step.op as Comparison, a.type, x, y));
    return lanes("bool", [a.type === "int64" ? narrowed(masks) : (masks[0] ?? v128.zero)]);
  }
  const exponent = constants.get(step.of[1] ?? -1);
  return lanes(
    a.type,
    computed(step, [a, b], (x, y) => arithmetic(f, step.op as Arithmetic, a.type, x, y, exponent)),
  );
}

function valueAt(values: readonly Lanes[], place: number): Lanes {
  const value = values[place];
  if (value !== undefined) return value;
  throw new InferyardError(
    "CONTRACT_VIOLATION",
    `an elementwise step names value ${place}, and there are ${values.length} before it`,
  );
}

function refusal(step: Step, operands: readonly Lanes[]): InferyardError {
  const types = operands.map(({ type }) => type).join(" and ");
  return new InferyardError("CONTRACT_VIOLATION", `there is no elementwise ${step.op} of ${types}`);
}

/** Part by part: once, or twice for int64. */
function computed(
  step: Step,
  operands: readonly Lanes[],
  compute: (x: Local<"v128">, y: Local<"v128">) => V128 | undefined,
): V128[] {
  const [a, b] = operands;
  return (a?.parts ?? []).map((x, part) => {
    const result = compute(x, b?.parts[part] ?? x);
    if (result === undefined) throw refusal(step, operands);
    return result;
  });
}

function unary(f: FunctionBuilder, op: Unary, type: RegisterType, x: Local<"v128">): V128 | undefined {
  if (type === "int64") return int64Unary(op, x);
  if (type === "int32") return int32Unary(op, x);
  if (type === "bool") return op === "not" ? v128.not(x) : undefined;
  return op === "not" ? undefined : floatUnary(f, op, x);
}

function arithmetic(
  f: FunctionBuilder,
  op: Arithmetic,
  type: RegisterType,
  a: Local<"v128">,
  b: Local<"v128">,
  exponent: number | undefined,
): V128 | undefined {
  if (type === "int64") return int64Arithmetic(f, op, a, b);
  if (type === "int32") return int32Arithmetic(f, op, a, b);
  if (type === "float32") return floatArithmetic(f, op, a, b, exponent);
  return op === "and" || op === "or" || op === "xor" ? v128[op](a, b) : undefined;
}

function compare(op: Comparison, type: RegisterType, a: V128, b: V128): V128 | undefined {
  if (type === "float32") return floatComparison(op, a, b);
  if (type === "int64") return int64Comparison(op, a, b);
  if (type === "bool" && op !== "eq" && op !== "ne") return undefined;
  return int32Comparison(op, a, b);
}

function choose(step: Step, condition: Lanes, whenTrue: Lanes, whenFalse: Lanes): V128[] {
  const [mask] = condition.parts;
  if (condition.type !== "bool" || mask === undefined || whenTrue.type !== whenFalse.type)
    throw refusal(step, [condition, whenTrue, whenFalse]);
  const masks = whenTrue.type === "int64" ? [i64x2.extendLowI32x4S(mask), i64x2.extendHighI32x4S(mask)] : [mask];
  return masks.map((own, part) => v128.bitselect(whenTrue.parts[part] ?? mask, whenFalse.parts[part] ?? mask, own));
}

function constantParts(type: RegisterType, value: number): V128[] {
  if (type === "float32") return [f32x4.const(value)];
  if (type === "int32") return [i32x4.const(value)];
  if (type === "bool") return [i32x4.const(value === 0 ? 0 : -1)];
  const pair = i64x2.splat(i64.const(BigInt(value)));
  return [pair, pair];
}

/** The low words of the lanes of two int64 vectors. */
function narrowed([low, high]: readonly V128[]): V128 {
  return shuffle32(low ?? v128.zero, high ?? v128.zero, [0, 2, 4, 6]);
}

function cast(f: FunctionBuilder, from: Lanes, to: ElementType): V128[] {
  const [x, y] = from.parts;
  if (x === undefined) return [];
  if (to === "bool") return [notZero(from)];
  const target = registerType(to);
  if (target === from.type) return from.parts.map((part) => toByte(part, to));
  if (target === "float32") return [toFloat(f, from)];
  if (target === "int64") {
    if (from.type === "float32") return [floatToInt64(f, x, 0), floatToInt64(f, x, 2)];
    const numbers = from.type === "bool" ? f.value(v128.and(x, i32x4.const(1))) : x;
    return [i64x2.extendLowI32x4S(numbers), i64x2.extendHighI32x4S(numbers)];
  }
  if (from.type === "bool") return [v128.and(x, i32x4.const(1))];
  if (from.type === "float32") return [toByte(i32x4.truncSatF32x4S(x), to)];
  return [toByte(narrowed([x, y ?? x]), to)];
}

const shift24 = i32.const(24);

/** The low byte alone, as the types of one byte are held. */
function toByte(x: V128, to: ElementType): V128 {
  if (to === "uint8") return v128.and(x, i32x4.const(0xff));
  if (to === "int8") return i32x4.shrS(i32x4.shl(x, shift24), shift24);
  return x;
}

function notZero({ type, parts }: Lanes): V128 {
  const [x] = parts;
  if (x === undefined || type === "bool") return x ?? v128.zero;
  if (type === "float32") return f32x4.ne(x, v128.zero);
  if (type === "int32") return i32x4.ne(x, v128.zero);
  return narrowed(parts.map((part) => i64x2.ne(part, v128.zero)));
}

function toFloat(f: FunctionBuilder, { type, parts }: Lanes): V128 {
  const [x, y] = parts;
  if (x === undefined) return v128.zero;
  if (type === "bool") return v128.and(x, f32x4.const(1));
  if (type === "int32" || y === undefined) return f32x4.convertI32x4S(x);
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
