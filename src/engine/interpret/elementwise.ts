/** Elementwise operations of one, two and three operands. */
import { elementCount } from "../../contract/tensor.ts";
import { broadcastShape, broadcastStrides, elementOffsets } from "../ir/broadcast.ts";
import { type ElementType, elementTypes, isFloat, isBigIntType } from "../ir/element-types.ts";
import { toBigints, type Literal, toLiteral, literalOfBigints, toNumbers, pickElements, toStrings } from "../ir/literal.ts";
import { type BinaryFunction, givesBool, type OperationOf, type UnaryFunction } from "../ir/operations.ts";
import { roundHalfToEven } from "../../contract/small-floats.ts";
import { erf } from "./erf.ts";
import type { One, Three, Two } from "./operands.ts";

const unary: Readonly<Record<UnaryFunction, (x: number) => number>> = {
  abs: Math.abs,
  neg: (x) => -x,
  sign: Math.sign,
  floor: Math.floor,
  ceil: Math.ceil,
  round: roundHalfToEven,
  sqrt: Math.sqrt,
  reciprocal: (x) => 1 / x,
  exp: Math.exp,
  log: Math.log,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  erf,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  "bitwise-not": (x) => ~x,
  not: (x) => Number(x === 0),
  "is-nan": (x) => Number(Number.isNaN(x)),
  "is-infinite": (x) => Number(x === Number.POSITIVE_INFINITY || x === Number.NEGATIVE_INFINITY),
};

/** All functions of one operand. */
export const unaryFunctions: readonly UnaryFunction[] = Object.keys(unary) as UnaryFunction[];

/** Functions of int64 and uint64 elements; the others are computed in float64. */
const bigintUnary: Readonly<Partial<Record<UnaryFunction, (x: bigint) => bigint>>> = {
  abs: (x) => (x < 0n ? -x : x),
  neg: (x) => -x,
  sign: (x) => (x < 0n ? -1n : x > 0n ? 1n : 0n),
  floor: (x) => x,
  ceil: (x) => x,
  round: (x) => x,
  "bitwise-not": (x) => ~x,
};

/** Evaluates `unary`: computes in float64, or in bigints for int64 and uint64, and rounds the result to the type of x. */
export function evaluateUnary({ function: name }: OperationOf<"unary">, [x]: One): One {
  const exact = isBigIntType(x.dataType) ? bigintUnary[name] : undefined;
  if (isBigIntType(x.dataType) && exact !== undefined)
    return [literalOfBigints(x.dataType, x.shape, Array.from(toBigints(x), exact))];
  const values = Float64Array.from(toNumbers(x), unary[name]);
  const bool = name === "is-nan" || name === "is-infinite" || name === "not";
  return [toLiteral(bool ? "bool" : x.dataType, x.shape, values)];
}

/** Binary functions of numbers. Integers up to 32 bits are exact in float64 and wrap around when they are stored. */
const binary: Readonly<Record<BinaryFunction, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  pow: (a, b) => (a === 1 ? 1 : a ** b), // IEEE 754: 1 whatever the exponent
  min: Math.min,
  max: Math.max,
  mod: (a, b) => a - b * Math.floor(a / b),
  remainder: (a, b) => a % b,
  "shift-left": (a, b) => (b >= 32 ? 0 : a * 2 ** b),
  "shift-right": (a, b) => Math.floor(a / 2 ** b),
  "bitwise-and": (a, b) => a & b,
  "bitwise-or": (a, b) => a | b,
  "bitwise-xor": (a, b) => a ^ b,
  equal: (a, b) => Number(a === b),
  less: (a, b) => Number(a < b),
  "less-or-equal": (a, b) => Number(a <= b),
  greater: (a, b) => Number(a > b),
  "greater-or-equal": (a, b) => Number(a >= b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

/** All functions of two operands. */
export const binaryFunctions: readonly BinaryFunction[] = Object.keys(binary) as BinaryFunction[];

/** Binary functions of int64 and uint64 elements, which wrap around when they are stored. */
const bigintBinary: Readonly<Record<Exclude<BinaryFunction, "and" | "or" | "xor">, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  pow: bigintPower,
  min: (a, b) => (a < b ? a : b),
  max: (a, b) => (a > b ? a : b),
  mod: (a, b) => ((a % b) + b) % b,
  remainder: (a, b) => a % b,
  "shift-left": (a, b) => (b >= 64n ? 0n : a << b),
  "shift-right": (a, b) => a >> b,
  "bitwise-and": (a, b) => a & b,
  "bitwise-or": (a, b) => a | b,
  "bitwise-xor": (a, b) => a ^ b,
  equal: (a, b) => BigInt(a === b),
  less: (a, b) => BigInt(a < b),
  "less-or-equal": (a, b) => BigInt(a <= b),
  greater: (a, b) => BigInt(a > b),
  "greater-or-equal": (a, b) => BigInt(a >= b),
};

/** The power modulo 2^64, by squaring; the exact number could exhaust memory. Negative exponents truncate towards 0. */
function bigintPower(base: bigint, exponent: bigint): bigint {
  if (exponent < 0n) return base === 1n || (base === -1n && exponent % 2n === 0n) ? 1n : base === -1n ? -1n : 0n;
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = BigInt.asIntN(64, result * square);
    square = BigInt.asIntN(64, square * square);
  }
  return result;
}

/** Evaluates `binary`, with broadcasting. Integer division by 0 gives 0. */
export function evaluateBinary({ function: name }: OperationOf<"binary">, [a, b]: Two): One {
  const shape = broadcastShape(a.shape, b.shape);
  const count = elementCount(shape);
  const type = givesBool(name) ? "bool" : a.dataType;
  if (a.dataType === "string" || isBigIntType(a.dataType)) return [evaluateBinaryObjects(name, type, a, b, shape)];
  const compute = name === "mul" && a.dataType.endsWith("int32") ? Math.imul : binary[name];
  const [one, other] = [toNumbers(a), toNumbers(b)];
  const [stepA, stepB] = [getStep(a, shape), getStep(b, shape)];
  const values = new Float64Array(count);
  if (stepA !== undefined && stepB !== undefined) {
    const isDifference = name === "sub" && a.dataType === "int32"; // of weights and zero points, which have millions of elements
    if (isDifference) return [differenceInt32(one as Int32Array, stepA, other as Int32Array, stepB, shape)];
    for (let index = 0; index < count; index += 1)
      values[index] = compute(one[index * stepA] as number, other[index * stepB] as number);
  } else {
    const [atA, atB] = [a, b].map((each) => elementOffsets(shape, broadcastStrides(each.shape, shape)));
    for (let index = 0; index < count; index += 1)
      values[index] = compute(one[atA?.[index] ?? 0] ?? 0, other[atB?.[index] ?? 0] ?? 0);
  }
  const truncates = name === "div" && !isFloat(a.dataType);
  return [toLiteral(type, shape, truncates ? values.map((value) => (Number.isFinite(value) ? Math.trunc(value) : 0)) : values)];
}

/** Differences of int32 elements, which wrap around. Steps: see `getStep`. */
function differenceInt32(one: Int32Array, stepA: 0 | 1, other: Int32Array, stepB: 0 | 1, shape: readonly number[]): Literal {
  const data = new Int32Array(elementCount(shape));
  for (let index = 0; index < data.length; index += 1)
    data[index] = (one[index * stepA] as number) - (other[index * stepB] as number);
  return { dataType: "int32", shape, data };
}

/** `binary` of strings, int64 and uint64. */
function evaluateBinaryObjects(
  name: BinaryFunction,
  type: ElementType,
  a: Literal,
  b: Literal,
  shape: readonly number[],
): Literal {
  const count = elementCount(shape);
  const atA = elementOffsets(shape, broadcastStrides(a.shape, shape));
  const atB = elementOffsets(shape, broadcastStrides(b.shape, shape));
  if (a.dataType === "string") {
    if (name !== "equal") throw new Error(`"${name}" is not defined for strings`);
    const [one, other] = [toStrings(a), toStrings(b)];
    return toLiteral(
      "bool",
      shape,
      Array.from({ length: count }, (_, index) => Number(one[atA[index] ?? 0] === other[atB[index] ?? 0])),
    );
  }
  if (name === "and" || name === "or" || name === "xor") throw new Error(`"${name}" is only defined for bool`);
  const compute = bigintBinary[name];
  const [one, other] = [toBigints(a), toBigints(b)];
  const values = Array.from({ length: count }, (_, index) => {
    const divisor = other[atB[index] ?? 0] ?? 0n;
    if (divisor === 0n && (name === "div" || name === "mod" || name === "remainder")) return 0n; // undefined by the specification; other engines do not fail either
    return compute(one[atA[index] ?? 0] ?? 0n, divisor);
  });
  if (type === "bool") return toLiteral("bool", shape, Float64Array.from(values, Number));
  return literalOfBigints(a.dataType as "int64" | "uint64", shape, values);
}

/** Elements to move in an operand for each element of the result: 1, or 0 for a single element; undefined where it is repeated along some axes. */
function getStep({ shape }: Literal, result: readonly number[]): 0 | 1 | undefined {
  const count = elementCount(shape);
  if (count === 1) return 0;
  return count === elementCount(result) ? 1 : undefined;
}

/** Evaluates `select`, with broadcasting. Elements of both branches are copied bit by bit, so NaN payloads stay. */
export function evaluateSelect(_: OperationOf<"select">, [condition, then, otherwise]: Three): readonly Literal[] {
  const shape = broadcastShape(condition.shape, then.shape, otherwise.shape);
  const chosen = toNumbers(condition);
  const conditionAt = elementOffsets(shape, broadcastStrides(condition.shape, shape));
  const [thenAt, elseAt] = [then, otherwise].map((each) => elementOffsets(shape, broadcastStrides(each.shape, shape)));
  const length = then.data.length;
  const both = joined(then, otherwise);
  const offsets = Float64Array.from({ length: elementCount(shape) }, (_, index) =>
    chosen[conditionAt[index] ?? 0] ? (thenAt?.[index] ?? 0) : length + (elseAt?.[index] ?? 0),
  );
  return [pickElements(both, shape, offsets)];
}

/** The elements of two literals of one type, concatenated. */
function joined(one: Literal, other: Literal): Literal {
  const { dataType } = one;
  const shape = [one.data.length + other.data.length];
  if (dataType === "string") return { dataType, shape, data: [...toStrings(one), ...toStrings(other)] };
  const data = new (elementTypes[dataType].array as Float64ArrayConstructor)(one.data.length + other.data.length);
  data.set(one.data as Float64Array);
  data.set(other.data as Float64Array, one.data.length);
  return { dataType, shape, data };
}
