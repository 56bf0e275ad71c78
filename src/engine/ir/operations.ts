/**
 * The primitive operations of a program graph. Attributes are plain data, so that operations print, parse and compare alike. Axes are counted from
 * 0 and never negative; shapes are whole. What each one gives is in `infer/`, what it computes in `../interpret/`.
 */
import type { ElementType } from "./element-types.ts";

/** One operand, the result has its shape and type; the last three give bool. */
export type UnaryFunction =
  | "abs"
  | "neg"
  | "sign"
  | "floor"
  | "ceil"
  | "round" // half to even
  | "sqrt"
  | "reciprocal"
  | "exp"
  | "log"
  | "sin"
  | "cos"
  | "tan"
  | "asin"
  | "acos"
  | "atan"
  | "sinh"
  | "cosh"
  | "tanh"
  | "asinh"
  | "acosh"
  | "atanh"
  | "erf"
  | "sigmoid"
  | "softplus"
  | "bitwise-not"
  | "not"
  | "is-nan"
  | "is-infinite";

/** Two operands of one type, broadcast as numpy does. */
export type BinaryFunction =
  | "add"
  | "sub"
  | "mul"
  | "div" // whole numbers: towards zero
  | "pow"
  | "min"
  | "max"
  | "mod" // sign of the divisor
  | "remainder" // sign of the dividend, C's fmod
  | "shift-left"
  | "shift-right"
  | "bitwise-and"
  | "bitwise-or"
  | "bitwise-xor"
  | CompareFunction
  | LogicalFunction;

/** Give bool. */
export type CompareFunction = "equal" | "less" | "less-or-equal" | "greater" | "greater-or-equal";
/** Of bool, give bool. */
export type LogicalFunction = "and" | "or" | "xor";

export type ReduceFunction = "sum" | "product" | "min" | "max" | "mean";
export type ScatterReduction = "none" | "add" | "mul" | "min" | "max";

/** Of windows: where each axis starts, steps and is spread. `pads` names the begins of all spatial axes, then the ends. */
export interface Window {
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly pads: readonly number[];
}

export type Operation =
  | { readonly kind: "unary"; readonly function: UnaryFunction }
  | { readonly kind: "binary"; readonly function: BinaryFunction }
  /** Inputs: condition (bool), then, else; all broadcast. */
  | { readonly kind: "select" }
  /** `saturate`: what the type cannot hold becomes its end (of float8 and smaller; of quantised whole numbers), else it wraps or is infinite. */
  | { readonly kind: "cast"; readonly to: ElementType; readonly saturate: boolean }
  /** The same bits, another type of the same width. */
  | { readonly kind: "bitcast"; readonly to: ElementType }
  | { readonly kind: "reduce"; readonly function: ReduceFunction; readonly axes: readonly number[]; readonly keep: boolean }
  /** The place of the largest or smallest element of an axis, as int64; of equals the first, or the last. The axis stays, with size 1. */
  | { readonly kind: "arg"; readonly function: "max" | "min"; readonly axis: number; readonly last: boolean }
  | {
      readonly kind: "cumulative";
      readonly function: "sum" | "product";
      readonly axis: number;
      readonly exclusive: boolean;
      readonly reverse: boolean;
    }
  /** numpy's matmul of two operands of rank 2 or more; leading axes broadcast. Whole numbers of 8 bits are to be cast before. */
  | { readonly kind: "matmul" }
  /** Inputs: x [N,C,...], weights [M,C/groups,...], and perhaps a bias [M]. Default of the activation: none. */
  | ({ readonly kind: "convolution"; readonly groups: number; readonly activation?: Activation } & Window)
  /** Inputs: x [N,C,...], weights [C,M/groups,...], and perhaps a bias [M]; `outputPads` are added at the end of each axis. */
  | ({
      readonly kind: "convolution-transpose";
      readonly groups: number;
      readonly outputPads: readonly number[];
      readonly activation?: Activation;
    } & Window)
  /** The largest of each window of x [N,C,...]; padding is never the largest. Second output: its place in the whole tensor, as int64. `ceil`: windows that begin inside count though they end outside. */
  | ({
      readonly kind: "max-pool";
      readonly kernel: readonly number[];
      readonly ceil: boolean;
      readonly columnMajor: boolean;
    } & Window)
  /** The mean of each window; padding counts as zeros where `countPadding`. */
  | ({
      readonly kind: "average-pool";
      readonly kernel: readonly number[];
      readonly ceil: boolean;
      readonly countPadding: boolean;
    } & Window)
  /** Input: indices of any shape, from -n to n-1, take the place of the axis. */
  | { readonly kind: "gather"; readonly axis: number }
  | { readonly kind: "gather-elements"; readonly axis: number }
  | { readonly kind: "gather-nd"; readonly batchAxes: number }
  /** Inputs: data, indices, updates. */
  | { readonly kind: "scatter-elements"; readonly axis: number; readonly reduction: ScatterReduction }
  | { readonly kind: "scatter-nd"; readonly reduction: ScatterReduction }
  /** For every axis: the first element, the step (may be negative) and how many. */
  | {
      readonly kind: "slice";
      readonly starts: readonly number[];
      readonly steps: readonly number[];
      readonly sizes: readonly number[];
    }
  /** Inputs: data, and for "constant" the value, a scalar. */
  | {
      readonly kind: "pad";
      readonly mode: "constant" | "reflect" | "edge" | "wrap";
      readonly before: readonly number[];
      readonly after: readonly number[];
    }
  | { readonly kind: "concat"; readonly axis: number }
  | { readonly kind: "transpose"; readonly permutation: readonly number[] }
  | { readonly kind: "reshape"; readonly shape: readonly number[] }
  /** numpy's broadcast_to. */
  | { readonly kind: "expand"; readonly shape: readonly number[] }
  /** The `count` largest or smallest of an axis, in order, equals by their place; second output: their places, as int64. */
  | { readonly kind: "top-k"; readonly axis: number; readonly count: number; readonly largest: boolean }
  /** exp(x) / sum(exp(x)) over an axis, or its logarithm. A second input, a mask that broadcasts, is added to x first. */
  | { readonly kind: "softmax"; readonly axis: number; readonly logarithm: boolean }
  /** (x - mean) / sqrt(variance + epsilon) over the last axes from `axis` on, times inputs[1], plus inputs[2] where there is one. */
  | { readonly kind: "layer-norm"; readonly axis: number; readonly epsilon: number }
  | { readonly kind: "gelu"; readonly approximate: "none" | "tanh" }
  /** activation(x weights + bias), x of [..., k], weights [k, n]. Inputs: x, weights, then bias and residual where there are any; see `LinearParts`. */
  | ({ readonly kind: "linear" } & LinearEpilogue)
  /** Scale (float32) and zero point (uint8) that spread the range of x, made to hold 0, over 0 to 255: those of DynamicQuantizeLinear. Scalars. */
  | { readonly kind: "quantization-range" }
  /** clamp(round(x / scale) + zero, 0, 255) - zero as int16: an activation of 8 bits without its zero point. Inputs: x, scale, zero (uint8), both scalars. */
  | { readonly kind: "quantize" }
  /** Bytes without their zero point, as int16. Inputs: x (uint8 or int8), and perhaps its zero point, a scalar of the same type. */
  | { readonly kind: "centre" }
  /** The product of int16 [..., k] and int32 weights [k, n] that fit 16 bits, exact in int32. */
  | { readonly kind: "integer-matmul" }
  /** As `linear`, of integers: activation(x weights * (scale * columnScale) + bias). Inputs: x (int16), weights (int32), scale, columnScale [1] or [n], bias and residual. */
  | ({ readonly kind: "integer-linear" } & LinearEpilogue)
  /** alpha times the matmul of both operands, each with its axes in another order, and the axes of the result in another order in the end. */
  | {
      readonly kind: "fused-matmul";
      readonly a: readonly number[];
      readonly b: readonly number[];
      readonly result: readonly number[];
      readonly alpha: number;
    }
  /** A chain of operations on elements, computed in one go; all inputs broadcast to the output. */
  | { readonly kind: "elementwise"; readonly steps: readonly ElementStep[] }
  /** A function that only the interpreter computes; see `../interpret/functions.ts`. Its output types stand beside it. */
  | {
      readonly kind: "call";
      readonly function: string;
      readonly attributes: CallAttributes;
      readonly types: readonly CallType[];
      /** Gives something else each time (random numbers without a seed): never folded, shared or left out of a later run. */
      readonly nondeterministic?: true;
    };

export interface LinearEpilogue {
  /** A vector of n is added. */
  readonly bias: boolean;
  readonly activation: Activation;
  /** Whether a tensor of the output's shape is added, and when. */
  readonly residual: "none" | "before-activation" | "after-activation";
}

/** `gelu-tanh` is the approximation by tanh, `silu` is x sigmoid(x). */
export type Activation = "none" | "relu" | "gelu" | "gelu-tanh" | "tanh" | "sigmoid" | "silu";

/** One step of a chain. Values are numbered: the inputs first, then the result of each step; the last is the output. */
export interface ElementStep {
  readonly operation: ElementOperation;
  readonly operands: readonly number[];
}

export type ElementOperation = OperationOf<"unary" | "binary" | "select" | "cast" | "gelu">;

export type OperationKind = Operation["kind"];
export type OperationOf<Kind extends OperationKind> = Extract<Operation, { readonly kind: Kind }>;

export type CallAttributes = Readonly<Record<string, number | string | boolean | readonly number[] | readonly string[]>>;

export interface CallType {
  readonly dataType: ElementType;
  readonly shape: readonly number[];
}
