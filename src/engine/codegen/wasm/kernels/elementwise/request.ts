/** What the elementwise generator compiles: a short program on one element, run for every element of a shape. */

/** Types in memory. bool is a byte, 0 or 1 (any other byte is true as well); float16 is computed with as float32. */
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

export type Unary = FloatUnary | "not";
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
export type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/**
 * One step. Values are numbered: the inputs first, then each step's result; `of` names earlier ones. Both operands of a binary step and
 * both choices of `select` have one type.
 *
 * `round` is to the nearest, halves to even. Integer division truncates, and by zero gives 0, as its rest does; `mod` has the divisor's sign, `remainder` the
 * dividend's. float32 min and max give NaN where either is. `and`, `or`, `xor` and `not` are bitwise on whole numbers and logical on bool;
 * shifts fill with zeros, and give 0 from as many places on as there are bits.
 * Casts: float to integer truncates and saturates (NaN gives 0), int32 to fewer bits keeps the low ones, anything to bool asks "not zero".
 */
export type Step =
  | {
      readonly op: "constant";
      readonly type: "float32" | "float64" | "int32" | "uint32" | "int64" | "bool";
      readonly value: number;
    }
  | { readonly op: Unary; readonly of: readonly [number] }
  | { readonly op: Arithmetic | Comparison; readonly of: readonly [number, number] }
  /** Condition, value where true, value where false. */
  | { readonly op: "select"; readonly of: readonly [number, number, number] }
  | { readonly op: "cast"; readonly of: readonly [number]; readonly to: ElementwiseType };

export interface ElementwiseInput {
  readonly type: ElementwiseType;
  /** Elements from one place to the next along each axis of the shape, 0 where it repeats; dense and row-major where absent. */
  readonly strides?: readonly number[];
}

export interface ElementwiseRequest {
  /** The output's shape; it is dense and row-major. */
  readonly shape: readonly number[];
  readonly inputs: readonly ElementwiseInput[];
  readonly steps: readonly Step[];
  /** The type the last value is stored as: float32 also as float16, rounded; int64 and bool as they are; int32 also as what has fewer bits (its low ones). */
  readonly output: ElementwiseType;
}

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
