/** Elementwise operations on int32, uint32 and int64. */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32, i64, select } from "../../assembler/scalar.ts";
import { i32x4, i64x2, v128 } from "../../assembler/vector.ts";
import { indices } from "../loops/lanes.ts";
import type { Arithmetic, Comparison, Unary } from "./request.ts";

/** Applies a unary operation to four int32 lanes. Returns undefined if the operation is not supported for int32. */
export function int32Unary(op: Unary, x: Local<"v128">): V128 | undefined {
  if (op === "abs" || op === "neg") return i32x4[op](x);
  if (op === "not") return v128.not(x);
  if (op === "relu") return i32x4.maxS(x, v128.zero);
  if (op !== "sign") return undefined;
  return i32x4.sub(i32x4.ltS(x, v128.zero), i32x4.gtS(x, v128.zero)); // a true comparison is -1
}

/** Applies a unary operation to two int64 lanes. Returns undefined if the operation is not supported for int64. */
export function int64Unary(op: Unary, x: Local<"v128">): V128 | undefined {
  if (op === "abs" || op === "neg") return i64x2[op](x);
  if (op === "not") return v128.not(x);
  if (op !== "sign") return undefined;
  return i64x2.sub(i64x2.ltS(x, v128.zero), i64x2.gtS(x, v128.zero));
}

/**
 * Applies a binary operation to four int32 lanes; results wrap around. Division by 0, and the remainder of it, give 0. Returns undefined if the
 * operation is not supported for int32.
 */
export function int32Arithmetic(f: FunctionBuilder, op: Arithmetic, a: Local<"v128">, b: Local<"v128">): V128 | undefined {
  switch (op) {
    case "add":
    case "sub":
    case "mul":
      return i32x4[op](a, b);
    case "min":
      return i32x4.minS(a, b);
    case "max":
      return i32x4.maxS(a, b);
    case "and":
    case "or":
    case "xor":
      return v128[op](a, b);
    case "div":
      return quotient32(f, a, b);
    case "remainder":
      return remainder32(f, a, b);
    case "mod": {
      const rest = f.value(remainder32(f, a, b));
      const otherSign = i32x4.ltS(v128.xor(rest, b), v128.zero);
      const wrong = v128.and(otherSign, i32x4.ne(rest, v128.zero));
      return i32x4.add(rest, v128.and(b, wrong));
    }
    case "shift-left":
    case "shift-right":
      return shift32(op, f, a, b);
    case "pow":
      return undefined;
  }
}

/**
 * Applies a binary operation to four uint32 lanes. Differs from `int32Arithmetic` in min, max, div, mod and remainder. Returns undefined if the
 * operation is not supported for uint32.
 */
export function uint32Arithmetic(f: FunctionBuilder, op: Arithmetic, a: Local<"v128">, b: Local<"v128">): V128 | undefined {
  if (op === "min") return i32x4.minU(a, b);
  if (op === "max") return i32x4.maxU(a, b);
  if (op === "div") return perLane32(f, a, b, quotientU);
  if (op === "mod" || op === "remainder")
    return v128.and(i32x4.sub(a, i32x4.mul(perLane32(f, a, b, quotientU), b)), i32x4.ne(b, v128.zero));
  return int32Arithmetic(f, op, a, b);
}

/** Compares four lanes as unsigned 32-bit integers. Each lane of the result has all bits set if the comparison is true, else all bits clear. */
export function uint32Comparison(op: Comparison, a: V128, b: V128): V128 {
  if (op === "eq" || op === "ne") return i32x4[op](a, b);
  return i32x4[`${op}U`](a, b);
}

/** a / b of unsigned integers; division by 0 gives 0. */
function quotientU(a: I32, b: I32): I32 {
  const isZero = i32.eqz(b);
  return i32.mul(i32.divU(a, select(isZero, i32.const(1), b)), i32.eqz(isZero));
}

function shift32(op: "shift-left" | "shift-right", f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">): V128 {
  const shift = op === "shift-left" ? i32.shl : i32.shrU;
  return perLane32(f, a, b, (value, bits) => select(i32.ltU(bits, i32.const(32)), shift(value, bits), i32.const(0)));
}

function perLane32(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">, compute: (a: I32, b: I32) => I32): Local<"v128"> {
  const result = f.value(v128.zero);
  for (const lane of indices(4)) {
    const [one, other] = [f.value(i32x4.extractLane(a, lane)), f.value(i32x4.extractLane(b, lane))];
    f.set(result, i32x4.replaceLane(result, lane, compute(one, other)));
  }
  return result;
}

/**
 * Applies a binary operation to two int64 lanes; results wrap around. Division by 0, and the remainder of it, give 0. Returns undefined if the
 * operation is not supported for int64.
 */
export function int64Arithmetic(f: FunctionBuilder, op: Arithmetic, a: Local<"v128">, b: Local<"v128">): V128 | undefined {
  switch (op) {
    case "add":
    case "sub":
    case "mul":
      return i64x2[op](a, b);
    case "min":
      return v128.bitselect(a, b, i64x2.ltS(a, b));
    case "max":
      return v128.bitselect(a, b, i64x2.gtS(a, b));
    case "and":
    case "or":
    case "xor":
      return v128[op](a, b);
    case "div":
      return quotient64(f, a, b);
    case "remainder":
      return remainder64(f, a, b);
    case "mod": {
      const rest = f.value(remainder64(f, a, b));
      const otherSign = i64x2.ltS(v128.xor(rest, b), v128.zero);
      const wrong = v128.and(otherSign, i64x2.ne(rest, v128.zero));
      return i64x2.add(rest, v128.and(b, wrong));
    }
    case "shift-left":
    case "shift-right":
    case "pow":
      return undefined;
  }
}

/** Compares four lanes as signed 32-bit integers. Each lane of the result has all bits set if the comparison is true, else all bits clear. */
export function int32Comparison(op: Comparison, a: V128, b: V128): V128 {
  return integerComparison(i32x4, op, a, b);
}

/** Compares two lanes as signed 64-bit integers. Each lane of the result has all bits set if the comparison is true, else all bits clear. */
export function int64Comparison(op: Comparison, a: V128, b: V128): V128 {
  return integerComparison(i64x2, op, a, b);
}

type ComparisonInstructions = Pick<typeof i64x2, "eq" | "ne" | "ltS" | "leS" | "gtS" | "geS">;

function integerComparison(lanes: ComparisonInstructions, op: Comparison, a: V128, b: V128): V128 {
  if (op === "eq" || op === "ne") return lanes[op](a, b);
  return lanes[`${op}S`](a, b);
}

/**
 * a / b of int32 lanes, truncated. WebAssembly has no vector division, so each lane is divided by itself. The two cases that trap, division by 0 and
 * -2^31 / -1, are replaced: the first gives 0, the second wraps around.
 */
function quotient32(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">): V128 {
  const result = f.value(v128.zero);
  for (const lane of indices(4)) {
    const divisor = f.value(i32x4.extractLane(b, lane));
    const dividend = f.value(i32x4.extractLane(a, lane));
    const traps = f.value(i32.leU(i32.add(divisor, i32.const(1)), i32.const(1))); // 1, or 0
    const quotient = i32.divS(dividend, select(traps, traps, divisor));
    const whenTrapping = i32.mul(dividend, divisor); // division by -1 negates, division by 0 gives 0
    f.set(result, i32x4.replaceLane(result, lane, select(traps, whenTrapping, quotient)));
  }
  return result;
}

function quotient64(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">): V128 {
  const result = f.value(v128.zero);
  for (const lane of indices(2)) {
    const divisor = f.value(i64x2.extractLane(b, lane));
    const dividend = f.value(i64x2.extractLane(a, lane));
    const traps = i64.leU(i64.add(divisor, i64.const(1n)), i64.const(1n));
    const quotient = i64.divS(dividend, select(traps, i64.const(1n), divisor));
    f.set(result, i64x2.replaceLane(result, lane, select(traps, i64.mul(dividend, divisor), quotient)));
  }
  return result;
}

/** a - a/b * b of int32 lanes, with the sign of a. A divisor of 0 gives 0, as in NumPy and the ONNX reference implementation. */
function remainder32(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">): V128 {
  return v128.and(i32x4.sub(a, i32x4.mul(quotient32(f, a, b), b)), i32x4.ne(b, v128.zero));
}

function remainder64(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">): V128 {
  return v128.and(i64x2.sub(a, i64x2.mul(quotient64(f, a, b), b)), i64x2.ne(b, v128.zero));
}
