/** The input of the elementwise generator: a program on one element, executed for every element of a shape. */
import type { Activation, BinaryFunction, UnaryFunction } from "../../../../ir/operations.ts";

/** Size in bytes of one element of each type in memory. bool is one byte, where any nonzero value is true; float16 is computed as float32. */
export const laneBytes = {
  float32: 4,
  float16: 2,
  float64: 8,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint16: 2,
  int16: 2,
  uint8: 1,
  int8: 1,
  bool: 1,
} as const;

/** Element types in memory. */
export type ElementwiseType = keyof typeof laneBytes;

/** Types in registers. 8- and 16-bit integers are held as int32, float16 as float32, and bool as a mask with all bits of a lane set or clear. */
export type RegisterType = "float32" | "float64" | "int32" | "uint32" | "int64" | "bool";

/**
 * Operations with one operand; the result has its type. Those of the graph but for compositions of others, activations, and `log1p`, which is ln(1 + x).
 * `not` is that of bool.
 */
export type Unary = Exclude<UnaryFunction, "softplus" | "is-nan" | "is-infinite"> | Exclude<Activation, "none"> | "log1p";
/** Operations with two operands of the same type, those of the graph. `not-equal` is true if an operand is NaN; all other comparisons are then false. */
export type Binary = BinaryFunction | "not-equal";

/**
 * One step. Values are numbered: inputs first, then the result of each step; `of` refers to earlier values. Both operands of a binary step and both
 * choices of `select` have the same type. The result of a comparison is a bool, that of any other step with two operands has their type.
 *
 * `round` rounds half to even. Integer division truncates; division by zero and its remainder give 0. `mod` has the sign of the divisor, `remainder` that
 * of the dividend. float32 min and max propagate NaN. Shifts are logical and give 0 when the count is at least the number of bits. Casts from float to
 * integer truncate and saturate, with NaN becoming 0; casts from int32 to narrower integers keep the low bits; casts to bool test for nonzero.
 */
export type Step =
  | { readonly op: "constant"; readonly type: RegisterType; readonly value: number }
  | { readonly op: Unary; readonly of: readonly [number] }
  | { readonly op: Binary; readonly of: readonly [number, number] }
  /** Operands: condition, value if true, value if false. */
  | { readonly op: "select"; readonly of: readonly [number, number, number] }
  | { readonly op: "cast"; readonly of: readonly [number]; readonly to: ElementwiseType };

/** Element type and memory layout of one input tensor. */
export interface ElementwiseInput {
  readonly type: ElementwiseType;
  /** Strides in elements; 0 on broadcast axes. Default: contiguous, row-major. */
  readonly strides?: readonly number[];
}

/** A fused chain of elementwise operations over one output shape. The result of the last step is stored as the output. */
export interface ElementwiseRequest {
  /** Shape of the output, which is contiguous and row-major. */
  readonly shape: readonly number[];
  readonly inputs: readonly ElementwiseInput[];
  readonly steps: readonly Step[];
  /** Type in which the last value is stored. float32 can be stored as float16, rounded; int32 as a narrower integer, truncated to its low bits. */
  readonly output: ElementwiseType;
}
