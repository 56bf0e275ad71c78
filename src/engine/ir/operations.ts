/**
 * The primitive operations of the graph. Attributes are plain data, so that operations can be printed, parsed, compared and sent to other threads.
 * Axes count from 0 and are never negative; shapes have no unknown dimensions. Output types are in `shape-inference/`, semantics in
 * `../interpret/`.
 */
import type { ElementType } from "./element-types.ts";
import type { Literal } from "./lazy-storage.ts";
import type { TensorType } from "./tensor-type.ts";

/** A function of one operand, element by element. The result has the operand's shape and type; `not`, `is-nan` and `is-infinite` return bool. */
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

/** A function of two operands of one type, element by element, with NumPy broadcasting. */
export type BinaryFunction =
  | "add"
  | "sub"
  | "mul"
  | "div" // integers: truncated towards zero
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

/** Comparisons; the result is bool. */
export type CompareFunction = "equal" | "less" | "less-or-equal" | "greater" | "greater-or-equal";
/** Logical functions; operands and result are bool. */
export type LogicalFunction = "and" | "or" | "xor";

/** How a reduction combines the elements of the reduced axes. */
export type ReduceFunction = "sum" | "product" | "min" | "max" | "mean";
/** How a scatter combines an update with the existing element; "none" overwrites it. */
export type ScatterReduction = "none" | "add" | "mul" | "min" | "max";

/** Geometry of a sliding window over the spatial axes. `pads` lists the padding before every axis, then that after every axis, as in ONNX. */
export interface Window {
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly pads: readonly number[];
}

/** An operation of the graph. `kind` selects it; the other members are its attributes. */
export type Operation =
  | { readonly kind: "unary"; readonly function: UnaryFunction }
  | { readonly kind: "binary"; readonly function: BinaryFunction }
  /** Inputs: condition (bool), then, else; all three broadcast. */
  | { readonly kind: "select" }
  /** `saturate`: values out of range become the nearest value of the type (for float8 and smaller, and for integers); otherwise integers wrap around and floats become infinite. */
  | { readonly kind: "cast"; readonly to: ElementType; readonly saturate: boolean }
  /** Reinterprets the bits as another type of the same width. */
  | { readonly kind: "bitcast"; readonly to: ElementType }
  /** `keep`: reduced axes stay, with size 1. */
  | { readonly kind: "reduce"; readonly function: ReduceFunction; readonly axes: readonly number[]; readonly keep: boolean }
  /** Argmax or argmin: the index along the axis, as int64. `last`: the last of equal elements, else the first. The axis stays, with size 1. */
  | { readonly kind: "arg"; readonly function: "max" | "min"; readonly axis: number; readonly last: boolean }
  /** Prefix sum or product. `exclusive`: an element is not part of its own result. `reverse`: from the end of the axis. */
  | {
      readonly kind: "cumulative";
      readonly function: "sum" | "product";
      readonly axis: number;
      readonly exclusive: boolean;
      readonly reverse: boolean;
    }
  /** Matrix product as numpy.matmul, of two operands of rank 2 or more; leading axes broadcast. 8-bit integers must be cast first. */
  | { readonly kind: "matmul" }
  /** Inputs: x [N,C,...], weights [M,C/groups,...], and optionally a bias [M]. Default activation: none. */
  | ({ readonly kind: "convolution"; readonly groups: number; readonly activation?: Activation } & Window)
  /** Inputs: x [N,C,...], weights [C,M/groups,...], and optionally a bias [M]. `outputPads`: elements added at the end of each axis. */
  | ({
      readonly kind: "convolution-transpose";
      readonly groups: number;
      readonly outputPads: readonly number[];
      readonly activation?: Activation;
    } & Window)
  /**
   * The maximum of each window of x [N,C,...]; padding does not take part. Second output: the index of the maximum in the flattened tensor, as int64.
   * `ceil`: windows that start inside the input and end outside count too. `columnMajor`: indices count the spatial axes in column-major order.
   */
  | ({
      readonly kind: "max-pool";
      readonly kernel: readonly number[];
      readonly ceil: boolean;
      readonly columnMajor: boolean;
    } & Window)
  /** The mean of each window. `countPadding`: padding counts as zeros, else it does not count. */
  | ({
      readonly kind: "average-pool";
      readonly kernel: readonly number[];
      readonly ceil: boolean;
      readonly countPadding: boolean;
    } & Window)
  /** Inputs: data, and indices of any shape, from -n to n - 1 for an axis of size n; the shape of the indices replaces the axis. */
  | { readonly kind: "gather"; readonly axis: number }
  /** ONNX GatherElements: inputs data and indices of equal rank. */
  | { readonly kind: "gather-elements"; readonly axis: number }
  /** ONNX GatherND: the last axis of the indices holds coordinates, after `batchAxes` common axes. */
  | { readonly kind: "gather-nd"; readonly batchAxes: number }
  /** Inputs: data, indices, updates. */
  | { readonly kind: "scatter-elements"; readonly axis: number; readonly reduction: ScatterReduction }
  | { readonly kind: "scatter-nd"; readonly reduction: ScatterReduction }
  /** For every axis: the first index, the step (may be negative) and the number of elements. */
  | {
      readonly kind: "slice";
      readonly starts: readonly number[];
      readonly steps: readonly number[];
      readonly sizes: readonly number[];
    }
  /** Inputs: data, and for the mode "constant" the value, a scalar. `before` and `after`: elements added to each axis. */
  | {
      readonly kind: "pad";
      readonly mode: "constant" | "reflect" | "edge" | "wrap";
      readonly before: readonly number[];
      readonly after: readonly number[];
    }
  | { readonly kind: "concat"; readonly axis: number }
  | { readonly kind: "transpose"; readonly permutation: readonly number[] }
  | { readonly kind: "reshape"; readonly shape: readonly number[] }
  /** numpy.broadcast_to. */
  | { readonly kind: "expand"; readonly shape: readonly number[] }
  /** The `count` largest or smallest elements of an axis, sorted, equal ones by index. Second output: their indices, as int64. */
  | { readonly kind: "top-k"; readonly axis: number; readonly count: number; readonly largest: boolean }
  /** exp(x) / sum(exp(x)) over an axis, or its logarithm. An optional second input, an additive mask that broadcasts, is added to x first. */
  | { readonly kind: "softmax"; readonly axis: number; readonly logarithm: boolean }
  /** Layer normalization (Ba et al. 2016): (x - mean) / sqrt(variance + epsilon) over the axes from `axis` on. Inputs: x, optional scale, optional shift. */
  | { readonly kind: "layer-norm"; readonly axis: number; readonly epsilon: number }
  /** Root mean square normalization (Zhang and Sennrich 2019): x / sqrt(mean of squares + epsilon) over the axes from `axis` on. Inputs: x, optional scale. */
  | { readonly kind: "rms-norm"; readonly axis: number; readonly epsilon: number }
  /** GELU (Hendrycks and Gimpel 2016), exact or approximated by tanh. */
  | { readonly kind: "gelu"; readonly approximate: "none" | "tanh" }
  /** A matmul with its epilogue. Inputs: x [..., k], weights [k, n], then bias and residual if the epilogue has them. */
  | ({ readonly kind: "linear" } & LinearEpilogue)
  /** Quantization parameters of ONNX DynamicQuantizeLinear: scale (float32) and zero point (uint8), both scalars, that map the range of x, extended to contain 0, to 0..255. */
  | { readonly kind: "quantization-range" }
  /** clamp(round(x / scale) + zero, 0, 255) - zero, as int16: an 8-bit activation with its zero point subtracted. Inputs: x, scale and zero (uint8), both scalars. */
  | { readonly kind: "quantize" }
  /** x - zero, as int16. Inputs: x (uint8 or int8), and optionally its zero point, a scalar of the same type. */
  | { readonly kind: "subtract-zero-point" }
  /** The matrix product of int16 x [..., k] and int32 weights [k, n] whose values fit 16 bits, exact in int32. */
  | { readonly kind: "integer-matmul" }
  /** `integer-matmul`, times scale * columnScale, with an epilogue in float32. Inputs: x (int16), weights (int32), scale, columnScale [1] or [n], then bias and residual if the epilogue has them. */
  | ({ readonly kind: "integer-linear" } & LinearEpilogue)
  /** alpha * matmul of both operands, as onnxruntime's FusedMatMul. `a`, `b` and `result`: permutations of the axes of the operands before and of the product after. */
  | {
      readonly kind: "fused-matmul";
      readonly a: readonly number[];
      readonly b: readonly number[];
      readonly result: readonly number[];
      readonly alpha: number;
    }
  /** A fused chain of elementwise operations; all inputs broadcast to the shape of the output. */
  | { readonly kind: "elementwise"; readonly steps: readonly ElementStep[] }
  /** A function that only the interpreter computes, by its name in `../interpret/functions.ts`. `types`: types of its outputs. */
  | {
      readonly kind: "call";
      readonly function: string;
      readonly attributes: CallAttributes;
      readonly types: readonly TensorType[];
      /** The results differ from call to call (random numbers without a seed), so the call is never folded, shared or skipped in a later run. */
      readonly nondeterministic?: true;
      /** What computes it if it is an operator of a program's author, which is in no table. */
      readonly implementation?: CallImplementation;
    };

/** Operations of a fused matrix product on its result: first adds a bias, then applies an activation; a residual is added before or after the activation. */
export interface LinearEpilogue {
  /** Whether a vector [n] is added. */
  readonly bias: boolean;
  readonly activation: Activation;
  /** Whether and when a tensor of the output's shape is added. */
  readonly residual: "none" | "before-activation" | "after-activation";
}

/** An activation function. `gelu-tanh` is GELU's tanh approximation, `silu` is x * sigmoid(x). */
export type Activation = "none" | "relu" | "gelu" | "gelu-tanh" | "tanh" | "sigmoid" | "silu";

/** One step of a fused elementwise chain. `operands` are numbers of values: the inputs first, then the result of each step. The last step is the output. */
export interface ElementStep {
  readonly operation: ElementOperation;
  readonly operands: readonly number[];
}

/** The operations that a fused elementwise chain (`elementwise`) may consist of. */
export type ElementOperation = OperationOf<"unary" | "binary" | "select" | "cast" | "gelu">;

/** The `kind` of an operation, such as "matmul". */
export type OperationKind = Operation["kind"];
/** The operation of one kind, as `Operation` declares it. */
export type OperationOf<Kind extends OperationKind> = Extract<Operation, { readonly kind: Kind }>;

/** What computes a `call` of an operator that the author of a program defines. Each backend has the member that it uses. */
export interface CallImplementation {
  /** Computes the outputs in JavaScript, on the calling thread. */
  evaluate?(inputs: readonly Literal[]): readonly Literal[];
  /** Writes statements of StableHLO, one a line. */
  stableHlo?(operands: {
    readonly inputs: readonly string[];
    readonly results: readonly string[];
    readonly inputTypes: readonly string[];
    readonly resultTypes: readonly string[];
    newName(): string;
  }): string;
}

/** Attributes of a `call` of an interpreted function: numbers, strings, booleans and lists by name. */
export type CallAttributes = Readonly<Record<string, number | string | boolean | readonly number[] | readonly string[]>>;

const booleanResult: ReadonlySet<BinaryFunction> = new Set<CompareFunction | LogicalFunction>([
  "equal",
  "less",
  "less-or-equal",
  "greater",
  "greater-or-equal",
  "and",
  "or",
  "xor",
]);

/** Whether the result of a binary function is bool, whatever the type of its operands: comparisons and logical functions. */
export function givesBool(name: BinaryFunction): boolean {
  return booleanResult.has(name);
}
