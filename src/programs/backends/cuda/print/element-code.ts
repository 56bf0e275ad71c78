/** Elementwise operations as expressions of CUDA C. Operands are expressions of the computed types of their element types. */
import { at } from "../../../../contract/checked.ts";
import { InferyardError } from "../../../../contract/errors.ts";
import { type ElementType, integerRange } from "../../../../engine/ir/element-types.ts";
import type {
  Activation,
  BinaryFunction,
  ElementOperation,
  OperationOf,
  UnaryFunction,
} from "../../../../engine/ir/operations.ts";
import { cType, literal, rounded } from "./c-types.ts";

/** Functions of floats by the name that C gives them; float32 has the suffix f. */
const floatFunctions: Readonly<Partial<Record<UnaryFunction, string>>> = {
  abs: "fabs",
  floor: "floor",
  ceil: "ceil",
  round: "rint",
  sqrt: "sqrt",
  exp: "exp",
  log: "log",
  sin: "sin",
  cos: "cos",
  tan: "tan",
  asin: "asin",
  acos: "acos",
  atan: "atan",
  sinh: "sinh",
  cosh: "cosh",
  tanh: "tanh",
  asinh: "asinh",
  acosh: "acosh",
  atanh: "atanh",
  erf: "erf",
};

/** The value of an operation, in the computed type of its result and rounded to it. `types`: element types of the operands; `result`: of the result. */
export function elementCode(
  operation: ElementOperation,
  operands: readonly string[],
  types: readonly ElementType[],
  result: ElementType,
): string {
  const type = at(types, 0);
  if (operation.kind === "unary") return rounded(result, unaryCode(operation.function, at(operands, 0), type));
  if (operation.kind === "binary") return rounded(result, binaryCode(operation.function, at(operands, 0), at(operands, 1), type));
  if (operation.kind === "select") return `(${at(operands, 0)} ? ${at(operands, 1)} : ${at(operands, 2)})`;
  if (operation.kind === "cast") return castCode(operation, at(operands, 0), type);
  return rounded(result, geluCode(operation.approximate, at(operands, 0), type));
}

function floatCode(name: string, operands: readonly string[], type: ElementType): string {
  return `${name}${cType(type).computed === "float" ? "f" : ""}(${operands.join(", ")})`;
}

function unaryCode(name: UnaryFunction, x: string, type: ElementType): string {
  const { kind, computed } = cType(type);
  if (name === "not") return `(${x} == 0)`;
  if (name === "bitwise-not") return `~${x}`;
  if (name === "neg") return kind === "float" ? `(-${x})` : `(${computed})(0 - (u64)${x})`;
  if (name === "sign" && kind !== "float") return `((${x} > 0) - (${x} < 0))`;
  if (name === "is-nan") return kind === "float" ? `(${x} != ${x})` : "0";
  if (name === "is-infinite") return kind === "float" ? `(${x} == ${x} && ${x} - ${x} != 0)` : "0";
  if (kind !== "float") {
    if (name === "abs") return kind === "signed" ? `(${x} < 0 ? (${computed})(0 - (u64)${x}) : ${x})` : x;
    if (name === "floor" || name === "ceil" || name === "round") return x;
    return `(${computed})to_integer(${unaryCode(name, `(double)${x}`, "float64")})`;
  }
  const one = literal(type, 1);
  if (name === "sign") return `(${x} != ${x} ? ${x} : (${computed})((${x} > 0) - (${x} < 0)))`;
  if (name === "reciprocal") return `(${one} / ${x})`;
  if (name === "sigmoid") return `(${one} / (${one} + ${floatCode("exp", [`-${x}`], type)}))`;
  if (name === "softplus")
    return `(greatest(${x}, ${literal(type, 0)}) + ${floatCode("log1p", [floatCode("exp", [`-${floatCode("fabs", [x], type)}`], type)], type)})`;
  const c = floatFunctions[name];
  if (c === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `${name} has no form in CUDA C`);
  return floatCode(c, [x], type);
}

const operators: Readonly<Partial<Record<BinaryFunction, string>>> = {
  equal: "==",
  less: "<",
  "less-or-equal": "<=",
  greater: ">",
  "greater-or-equal": ">=",
  and: "&",
  or: "|",
  xor: "^",
  "bitwise-and": "&",
  "bitwise-or": "|",
  "bitwise-xor": "^",
};
const arithmetic: Readonly<Partial<Record<BinaryFunction, string>>> = { add: "+", sub: "-", mul: "*", div: "/" };

function binaryCode(name: BinaryFunction, a: string, b: string, type: ElementType): string {
  const { kind, computed, bytes } = cType(type);
  const operator = operators[name];
  if (operator !== undefined) return `(${a} ${operator} ${b})`;
  if (name === "min") return `least(${a}, ${b})`;
  if (name === "max") return `greatest(${a}, ${b})`;
  const symbol = arithmetic[name];
  if (kind === "float") {
    if (symbol !== undefined) return `(${a} ${symbol} ${b})`;
    if (name === "mod") return `(${a} - ${b} * ${floatCode("floor", [`${a} / ${b}`], type)})`;
    if (name === "remainder") return floatCode("fmod", [a, b], type);
    if (name === "pow") return floatCode("pow", [a, b], type);
    throw new InferyardError("MODEL_UNSUPPORTED", `${name} of ${type} has no form in CUDA C`);
  }
  // Products, sums and differences wrap around: unsigned arithmetic has no overflow.
  if (name === "add" || name === "sub" || name === "mul") return `(${computed})((u64)${a} ${symbol} (u64)${b})`;
  const isSigned = kind === "signed";
  const guarded = (value: string, minusOne: string): string =>
    isSigned ? `(${b} == 0 ? 0 : ${b} == -1 ? ${minusOne} : ${value})` : `(${b} == 0 ? 0 : ${value})`;
  if (name === "div") return guarded(`${a} / ${b}`, `(${computed})(0 - (u64)${a})`);
  if (name === "remainder") return guarded(`${a} % ${b}`, "0");
  if (name === "mod") return guarded(isSigned ? `(${a} % ${b} + ${b}) % ${b}` : `${a} % ${b}`, "0");
  if (name === "pow") return `(${computed})integer_power(${a}, ${b})`;
  const bits = bytes * 8;
  if (name === "shift-left") return `(${b} >= ${bits} ? 0 : (${computed})((u64)${a} << (int)${b}))`;
  return `(${b} >= ${bits} ? ${isSigned ? `(${a} < 0 ? -1 : 0)` : "0"} : ${a} >> (int)${b})`;
}

function castCode({ to, saturate }: OperationOf<"cast">, x: string, from: ElementType): string {
  const [source, target] = [cType(from), cType(to)];
  if (to === "bool") return `(${x} != 0)`;
  if (target.kind === "float") {
    const value = `(${target.computed})${x}`;
    if (!saturate || (to !== "float16" && to !== "bfloat16") || source.kind !== "float") return rounded(to, value);
    const largest = to === "float16" ? "65504.0f" : "bits_to_float(0x7f7f0000u)";
    return rounded(to, `(${value} > ${largest} ? ${largest} : ${value} < -${largest} ? -${largest} : ${value})`);
  }
  const range = saturate ? integerRange(to) : undefined;
  if (source.kind !== "float" && (range === undefined || target.bytes === 8)) return `(${target.computed})${x}`;
  const clamped = range === undefined ? `(double)${x}` : clampCode(`(double)${x}`, range);
  return `(${target.computed})to_integer(${clamped})`;
}

function clampCode(x: string, [lowest, highest]: readonly [number, number]): string {
  const [low, high] = [literal("float64", lowest), literal("float64", highest)];
  return `(${x} < ${low} ? ${low} : ${x} > ${high} ? ${high} : ${x})`;
}

function geluCode(approximate: "none" | "tanh", x: string, type: ElementType): string {
  const number = (value: number): string => literal(type, value);
  const half = number(0.5);
  if (approximate === "none")
    return `(${half} * ${x} * (${number(1)} + ${floatCode("erf", [`${x} * ${number(Math.SQRT1_2)}`], type)}))`;
  const inner = `${number(Math.sqrt(2 / Math.PI))} * (${x} + ${number(0.044715)} * ${x} * ${x} * ${x})`;
  return `(${half} * ${x} * (${number(1)} + ${floatCode("tanh", [inner], type)}))`;
}

/** An activation of a value that is a name. */
export function activationCode(activation: Activation, x: string, type: ElementType): string {
  if (activation === "none") return x;
  if (activation === "relu") return `greatest(${x}, ${literal(type, 0)})`;
  if (activation === "gelu" || activation === "gelu-tanh") return geluCode(activation === "gelu" ? "none" : "tanh", x, type);
  const gate = unaryCode(activation === "silu" ? "sigmoid" : activation, x, type);
  return activation === "silu" ? `(${x} * ${gate})` : gate;
}
