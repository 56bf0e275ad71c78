/**
 * Elementwise operators of ai.onnx: arithmetic, comparisons, logic and bits. Operators without a comment are one operation of the graph; the
 * definitions are those of https://onnx.ai/onnx/operators/.
 */
import { isFloat } from "../../../ir/element-types.ts";
import { type Value } from "../../../ir/graph.ts";
import { sameShape } from "../../../ir/tensor-type.ts";
import type { BinaryFunction, UnaryFunction } from "../../../ir/operations.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, type OperatorRule, since, versions } from "../operator-rule.ts";

function unary(name: UnaryFunction): Translate {
  return (call) => call.unary(name, call.tensor(0));
}

function binary(name: BinaryFunction): Translate {
  return (call) => call.binary(name, call.tensor(0), call.tensor(1));
}

/** Operands up to version 6: they broadcast only if `broadcast` is set, and `axis` says where the second shape begins in the first. */
function alignedOperands(call: OperatorCall): readonly [Value, Value] {
  const [a, b] = [call.tensor(0), call.tensor(1)];
  const axis = call.intIfGiven("axis");
  if (call.int("broadcast", 0) !== 1) {
    if (!sameShape(a.type.shape, b.type.shape)) throw new Error("the shapes differ, and the attribute broadcast is not set");
    return [a, b];
  }
  if (axis === undefined) return [a, b];
  const trailing = a.type.shape.length - normalizeAxis(axis, a.type.shape.length) - b.type.shape.length;
  if (trailing < 0)
    throw new Error(`shape [${b.type.shape.join(", ")}] does not fit from axis ${axis} of [${a.type.shape.join(", ")}] on`);
  return [a, call.reshape(b, [...b.type.shape, ...Array.from({ length: trailing }, () => 1)])];
}

/** Rules of a binary operator: before version 7 with explicit broadcasting, from 7 on with that of NumPy. */
function arithmetic(name: BinaryFunction): readonly OperatorRule[] {
  return versions([1, (call) => call.binary(name, ...alignedOperands(call))], [7, binary(name)]);
}

/** A binary function of any number of inputs, applied from the first to the last. */
function variadic(name: BinaryFunction): Translate {
  return (call) => [call.tensor(0), ...call.tensors(1)].reduce((sum, next) => call.binary(name, sum, next));
}

/** ONNX Pow from version 7 on. The exponent may have another type; the result has that of the base. */
function power(call: OperatorCall): Value {
  const base = call.tensor(0);
  const exponent = call.tensor(1);
  const { dataType } = base.type;
  if (isFloat(dataType) || !isFloat(exponent.type.dataType)) return call.binary("pow", base, call.cast(exponent, dataType));
  return call.cast(call.binary("pow", call.cast(base, "float64"), call.cast(exponent, "float64")), dataType);
}

/** ONNX Mod: with the sign of the divisor, or with `fmod` that of the dividend. */
function mod(call: OperatorCall): Value {
  return call.binary(call.int("fmod", 0) === 1 ? "remainder" : "mod", call.tensor(0), call.tensor(1));
}

/** ONNX BitShift. */
function bitShift(call: OperatorCall): Value {
  const direction = call.string("direction", "");
  if (direction !== "LEFT" && direction !== "RIGHT") throw new Error(`direction "${direction}" is neither LEFT nor RIGHT`);
  return call.binary(direction === "LEFT" ? "shift-left" : "shift-right", call.tensor(0), call.tensor(1));
}

/** ONNX Mean of any number of inputs. */
function mean(call: OperatorCall): Value {
  const tensors = [call.tensor(0), ...call.tensors(1)];
  const sum = tensors.reduce((all, next) => call.binary("add", all, next));
  return call.binary("div", sum, tensors.length);
}

/** ONNX Clip. The bounds are attributes before version 11 and inputs from then on; both are optional. */
function clip(call: OperatorCall): Value {
  const x = call.tensor(0);
  const byAttribute = call.version < 11;
  const low = byAttribute ? call.float("min", Number.NEGATIVE_INFINITY) : call.tensorIfGiven(1);
  const high = byAttribute ? call.float("max", Number.POSITIVE_INFINITY) : call.tensorIfGiven(2);
  const raised = low === undefined ? x : call.binary("max", x, low);
  return high === undefined ? raised : call.binary("min", raised, high);
}

/** ONNX IsInf. */
function isInfinite(call: OperatorCall): Value {
  const x = call.tensor(0);
  const negative = call.int("detect_negative", 1) === 1;
  const positive = call.int("detect_positive", 1) === 1;
  const infinite = call.unary("is-infinite", x);
  if (negative && positive) return infinite;
  const sides = [negative ? call.binary("less", x, 0) : undefined, positive ? call.binary("greater", x, 0) : undefined];
  const side = sides.find((each) => each !== undefined) ?? call.binary("less", x, x); // neither: always false
  return call.binary("and", infinite, side);
}

/** Translates elementwise operators of ai.onnx to graph operations: arithmetic, comparisons, logic, bits, trigonometry, Clip and Where. */
export const elementwiseOperators: OperatorFamily = {
  Add: arithmetic("add"),
  Sub: arithmetic("sub"),
  Mul: arithmetic("mul"),
  Div: arithmetic("div"),
  Pow: versions([1, (call) => call.binary("pow", ...alignedOperands(call))], [7, power]),
  Mod: since(10, mod),
  Max: since(1, variadic("max")),
  Min: since(1, variadic("min")),
  Sum: since(1, variadic("add")),
  Mean: since(1, mean),
  Clip: since(1, clip),
  Abs: since(1, unary("abs")),
  Neg: since(1, unary("neg")),
  Sign: since(9, unary("sign")),
  Floor: since(1, unary("floor")),
  Ceil: since(1, unary("ceil")),
  Round: since(11, unary("round")),
  Sqrt: since(1, unary("sqrt")),
  Reciprocal: since(1, unary("reciprocal")),
  Exp: since(1, unary("exp")),
  Log: since(1, unary("log")),
  Sin: since(7, unary("sin")),
  Cos: since(7, unary("cos")),
  Tan: since(7, unary("tan")),
  Asin: since(7, unary("asin")),
  Acos: since(7, unary("acos")),
  Atan: since(7, unary("atan")),
  Sinh: since(9, unary("sinh")),
  Cosh: since(9, unary("cosh")),
  Asinh: since(9, unary("asinh")),
  Acosh: since(9, unary("acosh")),
  Atanh: since(9, unary("atanh")),
  Erf: since(9, unary("erf")),
  Equal: arithmetic("equal"),
  Less: arithmetic("less"),
  LessOrEqual: since(12, binary("less-or-equal")),
  Greater: arithmetic("greater"),
  GreaterOrEqual: since(12, binary("greater-or-equal")),
  And: arithmetic("and"),
  Or: arithmetic("or"),
  Xor: arithmetic("xor"),
  Not: since(1, unary("not")),
  BitShift: since(11, bitShift),
  BitwiseAnd: since(18, binary("bitwise-and")),
  BitwiseOr: since(18, binary("bitwise-or")),
  BitwiseXor: since(18, binary("bitwise-xor")),
  BitwiseNot: since(18, unary("bitwise-not")),
  IsNaN: since(9, unary("is-nan")),
  IsInf: since(10, isInfinite),
  Where: since(9, (call) => call.select(call.tensor(0), call.tensor(1), call.tensor(2))),
};
