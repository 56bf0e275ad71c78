/** Elementwise operations on float32, four lanes at a time. */
import type { Expression, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import type { HostFunction } from "../../assembler/host-functions.ts";
import { f32, f64 } from "../../assembler/scalar.ts";
import { f32x4, i32x4, v128 } from "../../assembler/vector.ts";
import { activate } from "../../math/activation.ts";
import { erf } from "../../math/error-function.ts";
import { exp } from "../../math/exponential.ts";
import { log } from "../../math/logarithm.ts";
import { cos, sin } from "../../math/trigonometric.ts";
import { indices } from "../loops/lanes.ts";
import type { Arithmetic, Comparison, FloatUnary } from "./request.ts";

const one = f32x4.const(1);

/** Applies a unary operation to four float32 lanes. */
export function floatUnary(f: FunctionBuilder, op: FloatUnary, x: Local<"v128">): V128 {
  switch (op) {
    case "abs":
    case "neg":
    case "sqrt":
    case "floor":
    case "ceil":
    case "trunc":
      return f32x4[op](x);
    case "round":
      return f32x4.nearest(x);
    case "reciprocal":
      return f32x4.div(one, x);
    case "sign":
      return sign(x);
    case "exp":
      return exp(f, x);
    case "log":
      return log(f, x);
    case "sin":
      return sin(f, x);
    case "cos":
      return cos(f, x);
    case "erf":
      return erf(f, x);
    case "relu":
    case "gelu":
    case "gelu-tanh":
    case "quick-gelu":
    case "silu":
    case "sigmoid":
    case "tanh":
      return activate(f, op, x);
    case "tan":
    case "asin":
    case "acos":
    case "atan":
    case "sinh":
    case "cosh":
    case "asinh":
    case "acosh":
    case "atanh":
    case "log1p":
    case "expm1":
      return callPerLane(f, op, x);
  }
}

/**
 * Applies a binary operation to four float32 lanes of `a` and `b`. `exponent` is the value of `b` if it is a constant, else undefined; it selects
 * multiplications instead of pow. Returns undefined if the operation is not supported for float32.
 */
export function floatArithmetic(
  f: FunctionBuilder,
  op: Arithmetic,
  a: Local<"v128">,
  b: Local<"v128">,
  exponent: number | undefined,
): V128 | undefined {
  switch (op) {
    case "add":
    case "sub":
    case "mul":
    case "div":
    case "min":
    case "max":
      return f32x4[op](a, b);
    case "pow":
      return power(f, a, b, exponent);
    case "remainder":
      return callPerLane(f, "remainder", a, b);
    case "mod": {
      const rest = f.value(callPerLane(f, "remainder", a, b));
      const otherSign = i32x4.ltS(v128.xor(rest, b), v128.zero);
      const wrong = v128.and(otherSign, f32x4.ne(rest, v128.zero));
      return f.value(v128.bitselect(f32x4.add(rest, b), rest, wrong));
    }
    case "and":
    case "or":
    case "xor":
    case "shift-left":
    case "shift-right":
      return undefined;
  }
}

/** Compares four float32 lanes. Each 32-bit lane of the result has all bits set if the comparison is true, else all bits clear. */
export function floatComparison(op: Comparison, a: V128, b: V128): V128 {
  return f32x4[op](a, b);
}

/** The sign of each lane: -1, 0 or 1. NaN gives NaN. */
function sign(x: Local<"v128">): V128 {
  const ones = v128.bitselect(x, one, i32x4.const(-0x80000000));
  return v128.bitselect(x, ones, v128.or(f32x4.eq(x, v128.zero), f32x4.ne(x, x)));
}

/** a^b. Uses multiplications or a division for the constant exponents 2, 3, 1 and -1, and the host's Math.pow otherwise. */
function power(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">, exponent: number | undefined): V128 {
  if (exponent === 2) return f32x4.mul(a, a);
  if (exponent === 3) return f32x4.mul(f32x4.mul(a, a), a);
  if (exponent === 1) return a;
  if (exponent === -1) return f32x4.div(one, a);
  return callPerLane(f, "pow", a, b);
}

/** Calls a host function on float64 for each float32 lane, and rounds the results to float32. */
function callPerLane(f: FunctionBuilder, name: HostFunction, ...operands: Local<"v128">[]): V128 {
  const result = f.value(v128.zero);
  for (const lane of indices(4)) {
    const values = operands.map((operand): Expression<"f64"> => f64.promote(f32x4.extractLane(operand, lane)));
    f.set(result, f32x4.replaceLane(result, lane, f32.demote(f.callHost(name, ...values))));
  }
  return result;
}
