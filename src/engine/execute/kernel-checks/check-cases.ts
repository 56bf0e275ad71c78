/** Small graphs whose results the interpreter knows: at least one for every function of generated code. */
import { at } from "../../../checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import { type GraphNode, typeOf, type Value } from "../../ir/graph.ts";
import { type Literal, literalOf } from "../../ir/literal.ts";
import type { Activation, ElementOperation, Operation } from "../../ir/operations.ts";
import { inferTypes } from "../../ir/shape-inference/index.ts";
import type { ElementwiseFunction } from "../../lower/kernel-functions.ts";
import { castable, indices, moderate, ordinary, special, withSpecialRow } from "./check-values.ts";

/** One check: nodes with the elements of their inputs. The outputs of the last node are compared. */
export interface CheckCase {
  /** Name of the function that is wrong if the results differ; see `KernelFunction`. */
  readonly name: string;
  readonly nodes: readonly GraphNode[];
  /** The elements of every value that no node computes and that is no constant. */
  readonly inputs: ReadonlyMap<Value, Literal>;
  /** Maximum difference, relative to the larger of 1 and the right value. 0: equal. */
  readonly tolerance: number;
}

/** An input of a case: a tensor that the kernel reads, or a constant, which lowering may pack. */
type CaseInput = Literal | { readonly constant: Literal };

/** Relative error that float32 kernels may have: sums in another order, and approximations of functions. */
const floatTolerance = 4e-6;

class CaseBuilder {
  readonly nodes: GraphNode[] = [];
  readonly inputs = new Map<Value, Literal>();

  input(given: CaseInput): Value {
    if ("constant" in given) return { type: typeOf(given.constant), constant: given.constant };
    const value = { type: typeOf(given) };
    this.inputs.set(value, given);
    return value;
  }

  node(operation: Operation, inputs: readonly Value[]): readonly Value[] {
    const outputs = inferTypes(
      operation,
      inputs.map(({ type }) => type),
    ).map((type) => ({ type }));
    this.nodes.push({ operation, inputs, outputs });
    return outputs;
  }
}

function single(name: string, operation: Operation, inputs: readonly CaseInput[], tolerance: number = 0): CheckCase {
  const builder = new CaseBuilder();
  builder.node(
    operation,
    inputs.map((each) => builder.input(each)),
  );
  return { name, nodes: builder.nodes, inputs: builder.inputs, tolerance };
}

const epilogue = { bias: false, activation: "none", residual: "none" } as const;
const activations: readonly Exclude<Activation, "none">[] = ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"];

function linearCases(): readonly CheckCase[] {
  const weights = { constant: ordinary("float32", [37, 21], 2) };
  const linear = (name: string, rows: number, more: Partial<Extract<Operation, { readonly kind: "linear" }>> = {}): CheckCase =>
    single(
      name,
      { kind: "linear", ...epilogue, ...more },
      [
        withSpecialRow([rows, 37]),
        weights,
        ...(more.bias === true ? [ordinary("float32", [21], 3)] : []),
        ...(more.residual === undefined || more.residual === "none" ? [] : [ordinary("float32", [rows, 21], 5)]),
      ],
      floatTolerance,
    );
  return [
    linear("matmul", 2),
    linear("matmul", 13),
    linear("matmul", 3, { bias: true, residual: "before-activation" }),
    linear("matmul", 5, { bias: true, residual: "after-activation" }),
    ...activations.map((activation) => linear(`matmul ${activation}`, 5, { bias: true, activation })),
  ];
}

function batchedMatmulCases(): readonly CheckCase[] {
  const operands = (type: ElementType, a: readonly number[], b: readonly number[]): Literal[] => [
    type === "float32" ? withSpecialRow(a) : ordinary(type, a),
    ordinary(type, b, 2),
  ];
  const swapped = [0, 1, 3, 2];
  const plain = [0, 1, 2, 3];
  return [
    single("batched-matmul", { kind: "matmul" }, operands("float32", [2, 1, 7, 11], [1, 3, 11, 6]), floatTolerance),
    single("batched-matmul", { kind: "matmul" }, operands("int32", [3, 5, 7], [7, 9])),
    single(
      "batched-matmul",
      { kind: "fused-matmul", a: plain, b: swapped, result: [0, 2, 1, 3], alpha: 0.125 },
      operands("float32", [1, 2, 9, 8], [1, 2, 7, 8]),
      floatTolerance,
    ),
    single(
      "batched-matmul",
      { kind: "fused-matmul", a: swapped, b: plain, result: plain, alpha: 2 },
      operands("float32", [1, 2, 6, 5], [1, 2, 6, 19]),
      floatTolerance,
    ),
  ];
}

function convolutionCases(): readonly CheckCase[] {
  const convolution = (
    name: string,
    x: readonly number[],
    w: readonly number[],
    more: Partial<Extract<Operation, { readonly kind: "convolution" }>> = {},
    type: ElementType = "float32",
  ): CheckCase => {
    const rank = x.length - 2;
    const [ones, pads] = [Array<number>(rank).fill(1), Array<number>(2 * rank).fill(1)];
    return single(
      name,
      { kind: "convolution", groups: 1, strides: ones, dilations: ones, pads, ...more },
      [
        more.activation === undefined && type === "float32" ? withSpecialRow(x) : ordinary(type, x),
        ordinary(type, w, 2),
        ordinary(type, w.slice(0, 1), 3),
      ],
      type === "float32" ? floatTolerance : 0,
    );
  };
  return [
    convolution("conv2d", [1, 3, 7, 9], [5, 3, 3, 3]),
    convolution("conv2d", [2, 6, 5, 5], [9, 6, 1, 1], { pads: [0, 0, 0, 0] }),
    convolution("conv2d", [1, 4, 9, 7], [6, 2, 3, 3], { groups: 2, strides: [2, 2], dilations: [1, 2] }),
    convolution("conv2d", [1, 2, 4, 5, 6], [3, 2, 2, 3, 3]),
    convolution("conv2d", [1, 3, 11], [4, 3, 5]),
    convolution("conv2d", [1, 2, 5, 6], [3, 2, 3, 3], {}, "int32"),
    convolution("depthwise", [1, 6, 9, 10], [6, 1, 3, 3], { groups: 6 }),
    convolution("depthwise", [1, 5, 9, 11], [5, 1, 5, 5], { groups: 5, strides: [2, 2], pads: [2, 2, 2, 2] }),
    ...activations.flatMap((activation) => [
      convolution(`conv2d ${activation}`, [1, 3, 5, 6], [4, 3, 3, 3], { activation }),
      convolution(`depthwise ${activation}`, [1, 4, 5, 6], [4, 1, 3, 3], { groups: 4, activation }),
    ]),
    single(
      "interleave",
      { kind: "convolution-transpose", groups: 1, outputPads: [0, 0], strides: [2, 2], dilations: [1, 1], pads: [1, 1, 1, 1] },
      [ordinary("float32", [1, 3, 4, 5]), ordinary("float32", [3, 2, 3, 3], 2), ordinary("float32", [2], 3)],
      floatTolerance,
    ),
  ];
}

function poolingCases(): readonly CheckCase[] {
  const window = { kernel: [3, 2], strides: [2, 1], dilations: [1, 1], pads: [1, 0, 1, 1], ceil: false };
  return [
    single("pool2d max", { kind: "max-pool", ...window, columnMajor: false }, [ordinary("float32", [1, 3, 7, 9])]),
    single(
      "pool2d average",
      { kind: "average-pool", ...window, countPadding: false },
      [withSpecialRow([1, 3, 7, 9])],
      floatTolerance,
    ),
    single(
      "pool2d average",
      { kind: "average-pool", ...window, countPadding: true },
      [ordinary("float32", [1, 2, 6, 5])],
      floatTolerance,
    ),
  ];
}

function softmaxCases(): readonly CheckCase[] {
  const masked = literalOf("float32", [3, 7], [...Array<number>(8).fill(0.5), ...Array<number>(13).fill(-Infinity)]);
  const softmax = (name: string, axis: number, logarithm: boolean, ...inputs: readonly Literal[]): CheckCase =>
    single(name, { kind: "softmax", axis, logarithm }, inputs, floatTolerance);
  return [
    softmax("softmax", 1, false, withSpecialRow([3, 19])),
    softmax("softmax", 1, false, ordinary("float32", [3, 7]), masked),
    softmax("softmax logarithm", 1, true, withSpecialRow([3, 19])),
    softmax("softmax-columns", 0, false, withSpecialRow([5, 9])),
    softmax("softmax-columns logarithm", 0, true, ordinary("float32", [5, 9])),
  ];
}

function normCases(): readonly CheckCase[] {
  const [scale, shift] = [ordinary("float32", [19], 2), ordinary("float32", [19], 3)];
  const operation = { kind: "layer-norm", axis: 1, epsilon: 1e-5 } as const;
  return [
    single("norm", operation, [withSpecialRow([3, 19]), scale, shift], floatTolerance),
    single("norm", operation, [ordinary("float32", [2, 19]), scale], floatTolerance),
  ];
}

const numericTypes = ["float32", "int32", "int64"] as const;

/** Special values for floats, ordinary ones for integers, whose sums must not overflow. */
function numbers(type: ElementType, shape: readonly number[]): Literal {
  return type === "float32" ? withSpecialRow(shape) : ordinary(type, shape);
}

function toleranceOf(type: ElementType): number {
  return type === "float32" ? floatTolerance : 0;
}

function reduceCases(): readonly CheckCase[] {
  return (["sum", "product", "min", "max", "mean"] as const).flatMap((name) =>
    numericTypes.flatMap((type) => {
      if (name === "mean" && type !== "float32") return [];
      const family = type === "int64" ? "reduce-wide" : "reduce";
      const reduce = (axis: number): CheckCase =>
        single(
          `${family} ${name} ${type}`,
          { kind: "reduce", function: name, axes: [axis], keep: false },
          [numbers(type, [5, 9])],
          toleranceOf(type),
        );
      return [reduce(0), reduce(1)];
    }),
  );
}

function scanCases(): readonly CheckCase[] {
  const argReduce = (name: "max" | "min"): CheckCase =>
    single(`arg-reduce ${name} float32`, { kind: "arg", function: name, axis: 1, last: false }, [withSpecialRow([3, 9])]);
  const scans = numericTypes.flatMap((type) => [
    ...(["sum", "product"] as const).map((name) =>
      single(
        `cumulative ${name} ${type}`,
        { kind: "cumulative", function: name, axis: 1, exclusive: true, reverse: true },
        [numbers(type, [3, 9])],
        toleranceOf(type),
      ),
    ),
    single(`top-k ${type}`, { kind: "top-k", axis: 1, count: 4, largest: true }, [ordinary(type, [3, 9])]),
  ]);
  return [argReduce("max"), argReduce("min"), ...scans];
}

function scatterCases(): readonly CheckCase[] {
  return (["none", "add", "mul", "min", "max"] as const).flatMap((reduction) =>
    (reduction === "none" ? (["float32"] as const) : numericTypes).flatMap((type) => {
      const suffix = reduction === "none" ? "" : ` ${reduction} ${type}`;
      const data = ordinary(type, [4, 3]);
      return [
        single(`scatter-elements${suffix}`, { kind: "scatter-elements", axis: 0, reduction }, [
          data,
          indices([2, 3], 4),
          ordinary(type, [2, 3], 2),
        ]),
        single(`scatter-blocks${suffix}`, { kind: "scatter-nd", reduction }, [
          data,
          indices([3, 1], 4),
          ordinary(type, [3, 3], 2),
        ]),
      ];
    }),
  );
}

function movementCases(): readonly CheckCase[] {
  const widths = ["uint8", "float16", "float32", "int64"] as const;
  return [
    ...widths.map((type) => single("strided-copy", { kind: "transpose", permutation: [2, 0, 1] }, [ordinary(type, [3, 5, 7])])),
    single("strided-copy", { kind: "slice", starts: [4, 1], steps: [-2, 3], sizes: [2, 3] }, [withSpecialRow([5, 11])]),
    single("strided-copy", { kind: "concat", axis: 1 }, [ordinary("float32", [3, 5]), ordinary("float32", [3, 2], 2)]),
    single("strided-copy", { kind: "expand", shape: [3, 2, 5] }, [ordinary("float32", [2, 1])]),
    ...widths.map((type) => single("gather", { kind: "gather", axis: 0 }, [ordinary(type, [6, 5]), indices([2, 3], 6)])),
    single("gather", { kind: "gather", axis: 1 }, [ordinary("float32", [3, 6, 2]), indices([4], 6, "int32")]),
    single("gather-elements", { kind: "gather-elements", axis: 1 }, [ordinary("float32", [3, 6]), indices([3, 4], 6)]),
    single("gather-blocks", { kind: "gather-nd", batchAxes: 0 }, [ordinary("float32", [4, 5, 3]), indices([6, 1], 4)]),
  ];
}

const scale = literalOf("float32", [], [0.037]);
const zeroPoint = literalOf("uint8", [], [117]);

function quantizationCases(): readonly CheckCase[] {
  return [
    single("quantization-range", { kind: "quantization-range" }, [ordinary("float32", [3, 19])], floatTolerance),
    single("quantize", { kind: "quantize" }, [ordinary("float32", [3, 18]), scale, zeroPoint]),
    single("centre", { kind: "centre" }, [ordinary("uint8", [3, 18]), zeroPoint]),
    single("centre", { kind: "centre" }, [ordinary("int8", [3, 18])]),
    { ...integerProduct("byte-matmul", 3), name: "quantize-rows" },
  ];
}

/**
 * A product of quantized activations [rows, 38] and integer weights [38, 21]; with an activation, also their epilogue. Activations that are quantized
 * in the graph are stored as bytes where the machine has an 8-bit dot product, those that are inputs as int16.
 */
function integerProduct(family: "integer-matmul" | "byte-matmul", rows: number, activation?: Activation): CheckCase {
  const builder = new CaseBuilder();
  const quantized = (): Value => {
    const operands = [ordinary("float32", [rows, 38]), scale, zeroPoint].map((each) => builder.input(each));
    return at(builder.node({ kind: "quantize" }, operands), 0);
  };
  const x = family === "byte-matmul" ? quantized() : builder.input(ordinary("int16", [rows, 38]));
  const weights = builder.input({ constant: ordinary("int32", [38, 21], 2) });
  const name = activation === undefined || activation === "none" ? family : `${family} ${activation}`;
  if (activation === undefined) builder.node({ kind: "integer-matmul" }, [x, weights]);
  else {
    const columnScale = {
      constant: literalOf(
        "float32",
        [21],
        Array.from({ length: 21 }, (_, column) => 0.01 + column / 999),
      ),
    };
    const added = [scale, columnScale, ordinary("float32", [21], 3)].map((each) => builder.input(each));
    builder.node({ kind: "integer-linear", bias: true, activation, residual: "none" }, [x, weights, ...added]);
  }
  return { name, nodes: builder.nodes, inputs: builder.inputs, tolerance: activation === undefined ? 0 : floatTolerance };
}

function integerProductCases(): readonly CheckCase[] {
  return (["integer-matmul", "byte-matmul"] as const).flatMap((family) => [
    integerProduct(family, 2),
    integerProduct(family, 13),
    integerProduct(family, 5, "none"),
    ...activations.map((activation) => integerProduct(family, 5, activation)),
  ]);
}

function chainCase(): readonly CheckCase[] {
  const builder = new CaseBuilder();
  const inputs = [ordinary("float32", [3, 1, 7]), ordinary("float32", [5, 1], 2)].map((each) => builder.input(each));
  builder.node(
    {
      kind: "elementwise",
      steps: [
        { operation: { kind: "binary", function: "add" }, operands: [0, 1] },
        { operation: { kind: "binary", function: "mul" }, operands: [2, 0] },
      ],
    },
    inputs,
  );
  return [{ name: "elementwise", nodes: builder.nodes, inputs: builder.inputs, tolerance: floatTolerance }];
}

/** Makes the cases of each kernel family, and of the functions within it. */
const casesOfFamilies: Readonly<Record<string, () => readonly CheckCase[]>> = {
  elementwise: chainCase,
  matmul: linearCases,
  "batched-matmul": batchedMatmulCases,
  conv2d: convolutionCases,
  depthwise: convolutionCases,
  interleave: convolutionCases,
  pool2d: poolingCases,
  softmax: softmaxCases,
  "softmax-columns": softmaxCases,
  norm: normCases,
  reduce: reduceCases,
  "reduce-wide": reduceCases,
  "arg-reduce": scanCases,
  cumulative: scanCases,
  "top-k": scanCases,
  "strided-copy": movementCases,
  gather: movementCases,
  "gather-elements": movementCases,
  "gather-blocks": movementCases,
  "scatter-elements": scatterCases,
  "scatter-blocks": scatterCases,
  "quantization-range": quantizationCases,
  quantize: quantizationCases,
  centre: quantizationCases,
  "quantize-rows": quantizationCases,
  "integer-matmul": integerProductCases,
  "byte-matmul": integerProductCases,
};

/** Names of the kernel families that have cases. */
export const checkedFamilies: readonly string[] = Object.keys(casesOfFamilies);

/** The cases of a kernel family and of the functions within it, except the steps of elementwise chains, which `elementwiseCase` makes. */
export function casesOfFamily(family: string): readonly CheckCase[] {
  return (casesOfFamilies[family]?.() ?? []).filter(({ name }) => name === family || name.startsWith(`${family} `));
}

/** Functions whose results are approximations; those of all others are equal to the interpreter's. */
const exact: ReadonlySet<string> = new Set(
  [
    "abs",
    "neg",
    "sign",
    "floor",
    "ceil",
    "round",
    "not",
    "bitwise-not",
    "is-nan",
    "is-infinite",
    "min",
    "max",
    "and",
    "or",
    "xor",
  ].concat(
    ["equal", "less", "less-or-equal", "greater", "greater-or-equal", "shift-left", "shift-right", "remainder", "mod"],
    ["bitwise-and", "bitwise-or", "bitwise-xor"],
  ),
);

/** The values of an elementwise case: without those for which the operation is undefined, or only approximate. */
function valuesFor(operation: ElementOperation, [from]: readonly ElementType[]): (type: ElementType, shift: number) => Literal {
  if (operation.kind === "cast" && !operation.to.startsWith("float") && operation.to !== "bool") {
    return from?.startsWith("float") === true || operation.saturate ? castable : special;
  }
  const isModerate =
    operation.kind === "gelu" ||
    ((operation.kind === "unary" || operation.kind === "binary") && moderateFunctions.has(operation.function));
  return isModerate ? moderate : special;
}

const moderateFunctions: ReadonlySet<string> = new Set(["sin", "cos", "tan", "mod", "remainder"]);

/** The case of one step of an elementwise chain, on special values. */
export function elementwiseCase(name: string, { operation, types, exponent }: ElementwiseFunction): CheckCase {
  const values = valuesFor(operation, types);
  const inputs = types.map((type, index) =>
    exponent !== undefined && index === 1 ? { constant: literalOf(type, [], [exponent]) } : values(type, index * 5),
  );
  const isExact =
    operation.kind === "select" ||
    operation.kind === "cast" ||
    (operation.kind !== "gelu" && exact.has(operation.function)) ||
    types.every((type) => !type.startsWith("float"));
  return single(
    name,
    { kind: "elementwise", steps: [{ operation, operands: types.map((_, index) => index) }] },
    inputs,
    isExact ? 0 : floatTolerance,
  );
}
