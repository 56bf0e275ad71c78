/** The input of the elementwise generator: a program on one element, executed for every element of a shape. */

/** Element types in memory. bool is one byte, where any nonzero value is true; float16 is computed as float32. */
export type ElementwiseType =
  | "float32"
  | "float16"
  | "float64"
  | "int32"
  | "uint32"
  | "int64"
  | "uint16"
  | "int16"
  | "uint8"
  | "int8"
  | "bool";

/**
 * Operations with one operand that are defined for float32. `gelu`, `gelu-tanh`, `quick-gelu` and `silu` are defined at `Activation`; `log1p` is ln(1
 * + x) and `expm1` is e^x - 1.
 */
export type FloatUnary =
  | "abs"
  | "neg"
  | "sign"
  | "sqrt"
  | "reciprocal"
  | "floor"
  | "ceil"
  | "round"
  | "trunc"
  | "exp"
  | "log"
  | "sin"
  | "cos"
  | "erf"
  | "relu"
  | "gelu"
  | "gelu-tanh"
  | "quick-gelu"
  | "silu"
  | "sigmoid"
  | "tanh"
  | "tan"
  | "asin"
  | "acos"
  | "atan"
  | "sinh"
  | "cosh"
  | "asinh"
  | "acosh"
  | "atanh"
  | "log1p"
  | "expm1";

/** Operations with one operand. The result has the type of the operand. */
export type Unary = FloatUnary | "not";
/** Operations with two operands of the same type. The result has that type. */
export type Arithmetic =
  | "add"
  | "sub"
  | "mul"
  | "div"
  | "min"
  | "max"
  | "pow"
  | "mod"
  | "remainder"
  | "and"
  | "or"
  | "xor"
  | "shift-left"
  | "shift-right";
/** Comparisons of two operands of the same type. The result is a bool. `ne` is true if an operand is NaN; all others are then false. */
export type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/**
 * One step. Values are numbered: inputs first, then the result of each step; `of` refers to earlier values. Both operands of a binary step and both
 * choices of `select` have the same type.
 *
 * `round` rounds half to even. Integer division truncates; division by zero and its remainder give 0. `mod` has the sign of the divisor, `remainder` that
 * of the dividend. float32 min and max propagate NaN. `and`, `or`, `xor` and `not` are bitwise on integers and logical on bool. Shifts are logical and
 * give 0 when the count is at least the number of bits. Casts from float to integer truncate and saturate, with NaN becoming 0; casts from int32 to
 * narrower integers keep the low bits; casts to bool test for nonzero.
 */
export type Step =
  | {
      readonly op: "constant";
      readonly type: "float32" | "float64" | "int32" | "uint32" | "int64" | "bool";
      readonly value: number;
    }
  | { readonly op: Unary; readonly of: readonly [number] }
  | { readonly op: Arithmetic | Comparison; readonly of: readonly [number, number] }
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

/** Size in bytes of one element of each type in memory. */
export const elementBytes: Readonly<Record<ElementwiseType, number>> = {
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
};
