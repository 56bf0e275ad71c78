/** Elementwise operations on float64, two lanes at a time. Functions without a vector instruction, such as tan, call the host (JavaScript) per lane. */
import type { Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import type { HostFunction } from "../../assembler/host-functions.ts";
import { f64x2, v128 } from "../../assembler/vector.ts";
import { indices } from "../loops/lanes.ts";
import type { Arithmetic, Comparison, Unary } from "./request.ts";

/** Applies a unary operation to two float64 lanes. Returns undefined if the operation is not supported for float64. */
export function doubleUnary(f: FunctionBuilder, op: Unary, x: Local<"v128">): V128 | undefined {
  switch (op) {
    case "abs":
    case "neg":
    case "sqrt":
    case "floor":
    case "ceil":
    case "trunc":
      return f64x2[op](x);
    case "round":
      return f64x2.nearest(x);
    case "reciprocal":
      return f64x2.div(f64x2.const(1), x);
    case "relu":
      return f64x2.max(x, v128.zero);
    case "sign": {
      const ones = v128.or(v128.and(x, f64x2.const(-0)), f64x2.const(1)); // its sign alone is kept
      return v128.bitselect(x, ones, v128.or(f64x2.eq(x, v128.zero), f64x2.ne(x, x)));
    }
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
    case "exp":
    case "log":
    case "sin":
    case "cos":
    case "erf":
    case "gelu":
    case "gelu-tanh":
    case "quick-gelu":
    case "silu":
    case "sigmoid":
    case "tanh":
    case "not":
      return undefined;
  }
}

/** Applies a binary operation to two float64 lanes of `a` and `b`. Returns undefined if the operation is not supported for float64. */
export function doubleArithmetic(f: FunctionBuilder, op: Arithmetic, a: Local<"v128">, b: Local<"v128">): V128 | undefined {
  switch (op) {
    case "add":
    case "sub":
    case "mul":
    case "div":
    case "min":
    case "max":
      return f64x2[op](a, b);
    case "remainder":
      return callPerLane(f, op, a, b);
    case "mod":
    case "pow":
    case "and":
    case "or":
    case "xor":
    case "shift-left":
    case "shift-right":
      return undefined;
  }
}

/** Compares two float64 lanes. Each 64-bit lane of the result has all bits set if the comparison is true, else all bits clear. */
export function doubleComparison(op: Comparison, a: V128, b: V128): V128 {
  return f64x2[op](a, b);
}

function callPerLane(f: FunctionBuilder, name: HostFunction, ...operands: Local<"v128">[]): V128 {
  const result = f.value(v128.zero);
  for (const lane of indices(2)) {
    const values = operands.map((operand) => f64x2.extractLane(operand, lane));
    f.set(result, f64x2.replaceLane(result, lane, f.callHost(name, ...values)));
  }
  return result;
}
