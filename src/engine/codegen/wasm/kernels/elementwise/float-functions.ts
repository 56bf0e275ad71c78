/** Elementwise functions of floats: float32, four lanes at a time, and float64, two lanes at a time. */
import type { F64, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import type { HostFunction } from "../../assembler/host-functions.ts";
import { f32, f64 } from "../../assembler/scalar.ts";
import { f32x4, f64x2, i32x4, v128 } from "../../assembler/vector.ts";
import { activate } from "../../math/activation.ts";
import { emitErf } from "../../math/error-function.ts";
import { exp } from "../../math/exponential.ts";
import { log } from "../../math/logarithm.ts";
import { cos, sin } from "../../math/trigonometric.ts";
import { indices } from "../loops/lanes.ts";
import { comparisonsOf, type EmitFunction, type FunctionTable, instructions } from "./function-table.ts";
import type { Unary } from "./request.ts";

/** Functions without an instruction, which call the host (JavaScript) for each lane. */
const hostFunctions = [
  ...(["tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "log1p"] as const),
] satisfies readonly (HostFunction & Unary)[];

/** Calls a host function on float64 for each lane. */
type CallPerLane = (f: FunctionBuilder, name: HostFunction, ...operands: readonly Local<"v128">[]) => V128;

function callPerLane(
  lanes: number,
  read: (vector: V128, lane: number) => F64,
  write: (vector: V128, lane: number, value: F64) => V128,
): CallPerLane {
  return (f, name, ...operands) => {
    const result = f.value(v128.zero);
    for (const lane of indices(lanes))
      f.set(result, write(result, lane, f.callHost(name, ...operands.map((operand) => read(operand, lane)))));
    return result;
  };
}

/** The functions that both types have. `sign`: -1, 0 or 1; NaN gives NaN. */
function commonFunctions(lanes: typeof f32x4 | typeof f64x2, call: CallPerLane, sign: EmitFunction): FunctionTable {
  return {
    ...instructions(lanes, "abs", "neg", "sqrt", "floor", "ceil", "add", "sub", "mul", "div", "min", "max"),
    ...comparisonsOf((name) => lanes[name]),
    ...Object.fromEntries(hostFunctions.map((name): [string, EmitFunction] => [name, (f, x) => call(f, name, x)])),
    round: (_f, x) => lanes.nearest(x),
    reciprocal: (_f, x) => lanes.div(lanes.const(1), x),
    remainder: (f, a, b) => call(f, "remainder", a, b),
    sign,
  };
}

const callPerFloat = callPerLane(
  4,
  (vector, lane) => f64.promote(f32x4.extractLane(vector, lane)),
  (vector, lane, value) => f32x4.replaceLane(vector, lane, f32.demote(value)),
);

const activations = Object.fromEntries(
  (["relu", "gelu", "gelu-tanh", "silu", "sigmoid", "tanh"] as const).map((name): [string, EmitFunction] => [
    name,
    (f, x) => activate(f, name, x),
  ]),
);

/** The functions of float32. */
export const float32Functions: FunctionTable = {
  ...commonFunctions(f32x4, callPerFloat, (_f, x) => {
    const ones = v128.bitselect(x, f32x4.const(1), i32x4.const(-0x80000000));
    return v128.bitselect(x, ones, v128.or(f32x4.eq(x, v128.zero), f32x4.ne(x, x)));
  }),
  ...activations,
  exp,
  log,
  sin,
  cos,
  erf: emitErf,
  pow: power,
  mod: (f, a, b) => {
    const rest = f.value(callPerFloat(f, "remainder", a, b));
    const otherSign = i32x4.ltS(v128.xor(rest, b), v128.zero);
    const wrong = v128.and(otherSign, f32x4.ne(rest, v128.zero));
    return f.value(v128.bitselect(f32x4.add(rest, b), rest, wrong));
  },
};

/** The functions of float64. */
export const float64Functions: FunctionTable = commonFunctions(
  f64x2,
  callPerLane(2, f64x2.extractLane, f64x2.replaceLane),
  (_f, x) => {
    const ones = v128.or(v128.and(x, f64x2.const(-0)), f64x2.const(1)); // its sign alone is kept
    return v128.bitselect(x, ones, v128.or(f64x2.eq(x, v128.zero), f64x2.ne(x, x)));
  },
);

/** a^b. Uses multiplications or a division for the constant exponents 2, 3, 1 and -1, and the host's Math.pow otherwise. */
function power(f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">, exponent: number | undefined): V128 {
  if (exponent === 2) return f32x4.mul(a, a);
  if (exponent === 3) return f32x4.mul(f32x4.mul(a, a), a);
  if (exponent === 1) return a;
  if (exponent === -1) return f32x4.div(f32x4.const(1), a);
  return callPerFloat(f, "pow", a, b);
}
