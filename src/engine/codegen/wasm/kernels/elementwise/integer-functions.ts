/** Elementwise functions of int32, uint32, int64 and bool. Results of arithmetic wrap around; division by 0, and the remainder of it, give 0. */
import type { Expression, I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32, i64, selectValue } from "../../assembler/scalar.ts";
import { i32x4, i64x2, v128 } from "../../assembler/vector.ts";
import { indices } from "../loops/lanes.ts";
import { bitwise, comparisonsOf, type EmitFunction, type FunctionTable, instructions } from "./function-table.ts";

/** Instructions on the lanes of a signed type. */
type SignedLanes = typeof i64x2 | typeof i32x4;

function signedFunctions(lanes: SignedLanes, quotient: EmitFunction): FunctionTable {
  /** a - a/b * b, with the sign of a. A divisor of 0 gives 0, as in NumPy and the ONNX reference implementation. */
  const remainder: EmitFunction = (f, a, b) =>
    v128.and(lanes.sub(a, lanes.mul(quotient(f, a, b, undefined), b)), lanes.ne(b, v128.zero));
  return {
    ...bitwise,
    ...instructions(lanes, "abs", "neg", "add", "sub", "mul"),
    ...comparisonsOf((name) => (name === "eq" || name === "ne" ? lanes[name] : lanes[`${name}S`])),
    sign: (_f, x) => lanes.sub(lanes.ltS(x, v128.zero), lanes.gtS(x, v128.zero)), // a true comparison is -1
    div: quotient,
    remainder,
    mod: (f, a, b) => {
      const rest = f.value(remainder(f, a, b, undefined));
      const otherSign = lanes.ltS(v128.xor(rest, b), v128.zero);
      const wrong = v128.and(otherSign, lanes.ne(rest, v128.zero));
      return lanes.add(rest, v128.and(b, wrong));
    },
  };
}

/** What the division of one lane needs of its type. */
interface Division<Type extends "i32" | "i64"> {
  readonly lanes: {
    extractLane(vector: V128, lane: number): Expression<Type>;
    replaceLane(vector: V128, lane: number, by: Expression<Type>): V128;
  };
  readonly scalar: {
    add(a: Expression<Type>, b: Expression<Type>): Expression<Type>;
    mul(a: Expression<Type>, b: Expression<Type>): Expression<Type>;
    divS(a: Expression<Type>, b: Expression<Type>): Expression<Type>;
    leU(a: Expression<Type>, b: Expression<Type>): I32;
  };
  readonly one: Expression<Type>;
  /** A divisor that does not trap, given a condition that is 1. */
  safe(traps: I32): Expression<Type>;
}

/**
 * a / b, truncated. WebAssembly has no vector division, so each lane is divided by itself. The two cases that trap, division by 0 and of the lowest number by
 * -1, are replaced: the first gives 0, the second wraps around.
 */
function quotient<Type extends "i32" | "i64">(count: number, { lanes, scalar, one, safe }: Division<Type>): EmitFunction {
  return (f, a, b) => {
    const result = f.value(v128.zero);
    for (const lane of indices(count)) {
      const divisor = f.value(lanes.extractLane(b, lane));
      const dividend = f.value(lanes.extractLane(a, lane));
      const traps = f.value(scalar.leU(scalar.add(divisor, one), one)); // 1, or 0
      const divided = scalar.divS(dividend, selectValue(traps, safe(traps), divisor));
      const whenTrapping = scalar.mul(dividend, divisor); // division by -1 negates, division by 0 gives 0
      f.set(result, lanes.replaceLane(result, lane, selectValue(traps, whenTrapping, divided)));
    }
    return result;
  };
}

const shifts: FunctionTable = {
  "shift-left": (f, a, b) => perLane32(f, a, b, (value, bits) => shifted(i32.shl, value, bits)),
  "shift-right": (f, a, b) => perLane32(f, a, b, (value, bits) => shifted(i32.shrU, value, bits)),
};

function shifted(shift: typeof i32.shl, value: I32, bits: I32): I32 {
  return selectValue(i32.ltU(bits, i32.const(32)), shift(value, bits), i32.const(0));
}

/** The functions of int32, four lanes at a time. */
export const int32Functions: FunctionTable = {
  ...signedFunctions(i32x4, quotient(4, { lanes: i32x4, scalar: i32, one: i32.const(1), safe: (traps) => traps })),
  ...shifts,
  min: (_f, a, b) => i32x4.minS(a, b),
  max: (_f, a, b) => i32x4.maxS(a, b),
};

/** The functions of int64, two lanes at a time. */
export const int64Functions: FunctionTable = {
  ...signedFunctions(i64x2, quotient(2, { lanes: i64x2, scalar: i64, one: i64.const(1n), safe: () => i64.const(1n) })),
  min: (_f, a, b) => v128.bitselect(a, b, i64x2.ltS(a, b)),
  max: (_f, a, b) => v128.bitselect(a, b, i64x2.gtS(a, b)),
};

/** a - a/b * b of unsigned integers. */
const unsignedRemainder: EmitFunction = (f, a, b) =>
  v128.and(i32x4.sub(a, i32x4.mul(perLane32(f, a, b, unsignedQuotient), b)), i32x4.ne(b, v128.zero));

/** The functions of uint32, four lanes at a time. */
export const uint32Functions: FunctionTable = {
  ...bitwise,
  ...shifts,
  ...instructions(i32x4, "add", "sub", "mul"),
  ...comparisonsOf((name) => (name === "eq" || name === "ne" ? i32x4[name] : i32x4[`${name}U`])),
  min: (_f, a, b) => i32x4.minU(a, b),
  max: (_f, a, b) => i32x4.maxU(a, b),
  div: (f, a, b) => perLane32(f, a, b, unsignedQuotient),
  remainder: unsignedRemainder,
  mod: unsignedRemainder,
};

/** a / b of unsigned integers; division by 0 gives 0. */
function unsignedQuotient(a: I32, b: I32): I32 {
  const isZero = i32.eqz(b);
  return i32.mul(i32.divU(a, selectValue(isZero, i32.const(1), b)), i32.eqz(isZero));
}

function perLane32(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">, compute: (a: I32, b: I32) => I32): Local<"v128"> {
  const result = f.value(v128.zero);
  for (const lane of indices(4)) {
    const [one, other] = [f.value(i32x4.extractLane(a, lane)), f.value(i32x4.extractLane(b, lane))];
    f.set(result, i32x4.replaceLane(result, lane, compute(one, other)));
  }
  return result;
}

/** The functions of bool, whose lanes have all bits set or clear. */
export const boolFunctions: FunctionTable = {
  not: (_f, x) => v128.not(x),
  and: (_f, a, b) => v128.and(a, b),
  or: (_f, a, b) => v128.or(a, b),
  xor: (_f, a, b) => v128.xor(a, b),
  equal: (_f, a, b) => i32x4.eq(a, b),
  "not-equal": (_f, a, b) => i32x4.ne(a, b),
};
