/** Lowers elementwise operations to StableHLO, with the same semantics as the interpreter. */
import { required } from "../../../contract/checked.ts";
import { type ElementType, elementTypes, isFloat } from "../../ir/element-types.ts";
import { type BinaryFunction, type OperationOf, type UnaryFunction } from "../../ir/operations.ts";
import type { Comparison, HloFunction, HloValue } from "./hlo-function.ts";
import { castElements } from "./casts.ts";

type Unary = (hlo: HloFunction, x: HloValue) => HloValue;
type Binary = (hlo: HloFunction, a: HloValue, b: HloValue) => HloValue;

const isUnsigned = ({ type }: HloValue): boolean => elementTypes[type.dataType].kind === "unsigned";

/** A unary function that is one StableHLO operation with this name. */
const named =
  (name: string): Unary =>
  (hlo, x) =>
    hlo.unary(name, x);

/** A unary function on floats; integer operands are computed in float64 and converted back. */
const real =
  (compute: Unary): Unary =>
  (hlo, x) => {
    const { dataType } = x.type;
    if (isFloat(dataType)) return compute(hlo, x);
    return castElements(hlo, compute(hlo, hlo.convert(x, "float64")), dataType, false);
  };

/** A unary function on floats; the identity for integer operands. */
const ofFloats =
  (compute: Unary): Unary =>
  (hlo, x) =>
    isFloat(x.type.dataType) ? compute(hlo, x) : x;

const unaryFunctions: Readonly<Record<UnaryFunction, Unary>> = {
  abs: (hlo, x) => (isUnsigned(x) ? x : hlo.unary("stablehlo.abs", x)),
  neg: named("stablehlo.negate"),
  sign: (hlo, x) =>
    isUnsigned(x) ? hlo.binary("stablehlo.minimum", x, hlo.scalar(x.type.dataType, 1)) : hlo.unary("stablehlo.sign", x),
  floor: ofFloats(named("stablehlo.floor")),
  ceil: ofFloats(named("stablehlo.ceil")),
  round: ofFloats(named("stablehlo.round_nearest_even")),
  sqrt: real(named("stablehlo.sqrt")),
  reciprocal: real((hlo, x) => hlo.binary("stablehlo.divide", hlo.scalar(x.type.dataType, 1), x)),
  exp: real(named("stablehlo.exponential")),
  log: real(named("stablehlo.log")),
  sin: real(named("stablehlo.sine")),
  cos: real(named("stablehlo.cosine")),
  tan: real((hlo, x) => hlo.binary("stablehlo.divide", hlo.unary("stablehlo.sine", x), hlo.unary("stablehlo.cosine", x))),
  asin: real(named("chlo.asin")),
  acos: real(named("chlo.acos")),
  atan: real(named("chlo.atan")),
  sinh: real(named("chlo.sinh")),
  cosh: real(named("chlo.cosh")),
  tanh: real(named("stablehlo.tanh")),
  asinh: real(named("chlo.asinh")),
  acosh: real(named("chlo.acosh")),
  atanh: real(named("chlo.atanh")),
  erf: real(named("chlo.erf")),
  sigmoid: real(named("stablehlo.logistic")),
  softplus: real((hlo, x) => {
    const below = hlo.unary("stablehlo.exponential", hlo.unary("stablehlo.negate", hlo.unary("stablehlo.abs", x)));
    const above = hlo.binary("stablehlo.maximum", x, hlo.scalar(x.type.dataType, 0));
    return hlo.binary("stablehlo.add", above, hlo.unary("stablehlo.log_plus_one", below));
  }),
  "bitwise-not": named("stablehlo.not"),
  not: (hlo, x) => hlo.compare(x, "EQ", hlo.scalar(x.type.dataType, 0)),
  "is-nan": (hlo, x) => (isFloat(x.type.dataType) ? hlo.compare(x, "NE", x) : hlo.filled("bool", 0, x.type.shape)),
  "is-infinite": (hlo, x) => {
    const { dataType, shape } = x.type;
    if (!isFloat(dataType)) return hlo.filled("bool", 0, shape);
    return hlo.compare(hlo.unary("stablehlo.abs", x), "EQ", hlo.scalar(dataType, Number.POSITIVE_INFINITY));
  },
};

/** Lowers `unary` to StableHLO. */
export function emitUnary(hlo: HloFunction, { function: name }: OperationOf<"unary">, [x]: readonly HloValue[]): HloValue {
  return unary(hlo, name, required(x, "the operand"));
}

/** Appends the operations of an elementwise function of one operand. */
export function unary(hlo: HloFunction, name: UnaryFunction, x: HloValue): HloValue {
  return unaryFunctions[name](hlo, x);
}

const arithmetic =
  (name: string): Binary =>
  (hlo, a, b) =>
    hlo.binary(name, a, b);

const comparison =
  (direction: Comparison): Binary =>
  (hlo, a, b) =>
    hlo.compare(a, direction, b);

/** A division. Integer division by 0 gives 0; StableHLO leaves that case undefined. */
const division =
  (name: string): Binary =>
  (hlo, a, b) =>
    isFloat(a.type.dataType) ? hlo.binary(name, a, b) : divided(hlo, b, (by) => hlo.binary(name, a, by));

const binaryFunctions: Readonly<Record<BinaryFunction, Binary>> = {
  add: arithmetic("stablehlo.add"),
  sub: arithmetic("stablehlo.subtract"),
  mul: arithmetic("stablehlo.multiply"),
  div: division("stablehlo.divide"),
  pow: arithmetic("stablehlo.power"),
  min: arithmetic("stablehlo.minimum"),
  max: arithmetic("stablehlo.maximum"),
  mod: modulo,
  remainder: division("stablehlo.remainder"),
  "shift-left": arithmetic("stablehlo.shift_left"),
  "shift-right": (hlo, a, b) =>
    hlo.binary(isUnsigned(a) ? "stablehlo.shift_right_logical" : "stablehlo.shift_right_arithmetic", a, b),
  "bitwise-and": arithmetic("stablehlo.and"),
  "bitwise-or": arithmetic("stablehlo.or"),
  "bitwise-xor": arithmetic("stablehlo.xor"),
  equal: comparison("EQ"),
  less: comparison("LT"),
  "less-or-equal": comparison("LE"),
  greater: comparison("GT"),
  "greater-or-equal": comparison("GE"),
  and: arithmetic("stablehlo.and"),
  or: arithmetic("stablehlo.or"),
  xor: arithmetic("stablehlo.xor"),
};

/** Lowers `binary` to StableHLO. */
export function emitBinary(hlo: HloFunction, { function: name }: OperationOf<"binary">, [a, b]: readonly HloValue[]): HloValue {
  return binaryFunctions[name](hlo, required(a, "the first operand"), required(b, "the second operand"));
}

/**
 * Integer division that gives 0 where the divisor is 0, a case that StableHLO leaves undefined. `divide` receives a divisor in which 1 replaces 0.
 */
function divided(hlo: HloFunction, b: HloValue, divide: (by: HloValue) => HloValue): HloValue {
  const zero = hlo.scalar(b.type.dataType, 0);
  const isZero = hlo.compare(b, "EQ", zero);
  const quotient = divide(hlo.select(isZero, hlo.scalar(b.type.dataType, 1), b));
  return hlo.select(isZero, zero, quotient);
}

/** Modulo: the remainder with the sign of the divisor. */
function modulo(hlo: HloFunction, a: HloValue, b: HloValue): HloValue {
  const { dataType } = a.type;
  if (isFloat(dataType)) {
    const whole = hlo.unary("stablehlo.floor", hlo.binary("stablehlo.divide", a, b));
    return hlo.binary("stablehlo.subtract", a, hlo.binary("stablehlo.multiply", b, whole));
  }
  return divided(hlo, b, (by) => {
    const rest = hlo.binary("stablehlo.remainder", a, by);
    if (isUnsigned(a)) return rest;
    const zero = hlo.scalar(dataType, 0);
    const differs = hlo.compare(hlo.compare(rest, "LT", zero), "NE", hlo.compare(by, "LT", zero));
    const isOff = hlo.binary("stablehlo.and", hlo.compare(rest, "NE", zero), differs);
    return hlo.select(isOff, hlo.binary("stablehlo.add", rest, by), rest);
  });
}

/** Lowers `select` to StableHLO. */
export function emitSelect(
  hlo: HloFunction,
  _: OperationOf<"select">,
  [condition, then, otherwise]: readonly HloValue[],
): HloValue {
  return hlo.select(
    required(condition, "the condition"),
    required(then, "the first branch"),
    required(otherwise, "the second branch"),
  );
}

/** Lowers `gelu` to StableHLO, exact or approximated by tanh (Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415). */
export function emitGelu(hlo: HloFunction, { approximate }: OperationOf<"gelu">, [x]: readonly HloValue[]): HloValue {
  return widenedOperand(hlo, required(x, "the operand"), (wide) => {
    const number = (value: number): HloValue => hlo.scalar(wide.type.dataType, value);
    const times = (a: HloValue, b: HloValue): HloValue => hlo.binary("stablehlo.multiply", a, b);
    const plus = (a: HloValue, b: HloValue): HloValue => hlo.binary("stablehlo.add", a, b);
    const inner =
      approximate === "none"
        ? hlo.unary("chlo.erf", times(wide, number(Math.SQRT1_2)))
        : hlo.unary(
            "stablehlo.tanh",
            times(number(Math.sqrt(2 / Math.PI)), plus(wide, times(number(0.044715), times(wide, times(wide, wide))))),
          );
    return times(times(wide, number(0.5)), plus(inner, number(1)));
  });
}

/** Applies `compute` in float32 to a value of a type of 16 bits or fewer, and rounds the result to that type. */
export function widenedOperand(hlo: HloFunction, x: HloValue, compute: (wide: HloValue) => HloValue): HloValue {
  return hlo.convert(compute(hlo.convert(x, wideType(x.type.dataType))), x.type.dataType);
}

/** The accumulator type for sums of elements of a type. */
export function wideType(type: ElementType): ElementType {
  return isFloat(type) && elementTypes[type].bits < 32 ? "float32" : type;
}

/** Lowers `elementwise` to StableHLO, a chain of operations whose values are numbered: the inputs first, then the result of each step. */
export function emitElementwise(hlo: HloFunction, { steps }: OperationOf<"elementwise">, inputs: readonly HloValue[]): HloValue {
  const values = [...inputs];
  for (const { operation, operands } of steps) {
    const of = operands.map((number) => required(values[number], `operand ${number} of the chain`));
    if (operation.kind === "unary") values.push(emitUnary(hlo, operation, of));
    else if (operation.kind === "binary") values.push(emitBinary(hlo, operation, of));
    else if (operation.kind === "select") values.push(emitSelect(hlo, operation, of));
    else if (operation.kind === "gelu") values.push(emitGelu(hlo, operation, of));
    else values.push(castElements(hlo, required(of[0], "the operand"), operation.to, operation.saturate));
  }
  return required(values.at(-1), "the last step");
}
