/**
 * Checks of the shapes and attributes that decide which code of a kernel is generated: whole vectors and rests, one row and many, each order of axes,
 * broadcast operands, one and several pieces.
 */
import { answerTable } from "../../../formats/answers/answer-table.ts";
import { decodeBase64 } from "../../../platform/base64.ts";
import { blockFormats, decodeTensor } from "../../../formats/gguf/blocks/index.ts";
import { required } from "../../../contract/checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import { LazyStorage } from "../../ir/lazy-storage.ts";
import { int64Literal, type Literal, toLiteral, literalWithStorage } from "../../ir/literal.ts";
import type { OperationOf } from "../../ir/operations.ts";
import { type CaseInput, type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { indices, ordinary } from "./check-values.ts";

const widths = ["uint8", "float16", "float32", "int64"] as const;
const elementBytes = { uint8: 1, float16: 2, float32: 4, int64: 8 } as const;
const numericTypes = ["float32", "int32", "int64"] as const;

const getTolerance = (type: ElementType): number => (type === "float32" ? floatTolerance : 0);

/** Batched products with three batch axes, with rows enough to copy panels, and with operands that are shared between products. */
export function batchedShapes(): readonly CheckCase[] {
  const fused = (a: readonly number[], b: readonly number[], more: Partial<OperationOf<"fused-matmul">>): CheckCase => {
    const plain = a.map((_, axis) => axis);
    return single(
      "batched-matmul",
      { kind: "fused-matmul", a: plain, b: plain, result: plain, alpha: 1, ...more },
      [ordinary("float32", a), ordinary("float32", b, 2)],
      floatTolerance,
    );
  };
  const matmul = (type: "float32" | "int32", a: readonly number[], b: readonly number[]): CheckCase =>
    single("batched-matmul", { kind: "matmul" }, [ordinary(type, a), ordinary(type, b, 2)], getTolerance(type));
  const swapped = { b: [0, 1, 3, 2] };
  return [
    fused([1, 2, 3, 9], [1, 2, 10, 9], { ...swapped, alpha: 0.25 }),
    fused([2, 2, 19, 6], [2, 2, 21, 6], { ...swapped, result: [0, 2, 1, 3] }),
    fused([2, 3, 4, 8], [2, 3, 8, 8], { ...swapped }),
    fused([2, 5, 3, 7], [2, 6, 3, 7], { a: [0, 2, 1, 3], b: [0, 2, 3, 1], alpha: 0.5 }),
    fused([2, 3, 4, 5], [5, 11, 2, 3], { b: [2, 3, 0, 1] }), // neither rows nor columns of B are contiguous
    matmul("float32", [2, 0], [0, 3]),
    matmul("float32", [2, 1, 18, 5], [1, 3, 5, 17]),
    matmul("float32", [2, 2, 1, 9], [2, 2, 9, 45]),
    matmul("float32", [3, 2, 6], [3, 6, 37]),
    matmul("float32", [2, 4, 3], [2, 3, 16]),
    matmul("float32", [2, 5, 1], [2, 1, 3]),
    matmul("int32", [2, 17, 6], [1, 6, 5]),
    matmul("int32", [2, 1, 6], [2, 6, 35]),
  ];
}

/** Windows with different strides, dilations and pads of each axis and side, planes narrower than a vector, and windows too large to unroll. */
export function convolutionShapes(): readonly CheckCase[] {
  const convolution = (
    name: string,
    x: readonly number[],
    w: readonly number[],
    more: Partial<OperationOf<"convolution">> = {},
    { type = "float32", bias = false }: { readonly type?: ElementType; readonly bias?: boolean } = {},
  ): CheckCase => {
    const rank = x.length - 2;
    const [ones, none] = [Array<number>(rank).fill(1), Array<number>(2 * rank).fill(0)];
    const operation = { kind: "convolution", groups: 1, strides: ones, dilations: ones, pads: none, ...more } as const;
    const added = bias ? [ordinary(type, w.slice(0, 1), 3)] : [];
    return single(name, operation, [ordinary(type, x), ordinary(type, w, 2), ...added], getTolerance(type));
  };
  const transposed = (
    x: readonly number[],
    w: readonly number[],
    more: Partial<OperationOf<"convolution-transpose">>,
    bias = false,
  ): CheckCase => {
    const rank = x.length - 2;
    const [ones, none] = [Array<number>(rank).fill(1), Array<number>(rank).fill(0)];
    return single(
      "interleave",
      {
        kind: "convolution-transpose",
        groups: 1,
        outputPads: none,
        strides: ones,
        dilations: ones,
        pads: [...none, ...none],
        ...more,
      },
      [ordinary("float32", x), ordinary("float32", w, 2), ...(bias ? [ordinary("float32", [4], 3)] : [])],
      floatTolerance,
    );
  };
  return [
    convolution("conv2d", [2, 4, 7, 12], [6, 2, 2, 3], { groups: 2, pads: [1, 0, 2, 3] }, { bias: true }),
    convolution("conv2d", [1, 3, 9, 19], [5, 3, 3, 2], { strides: [1, 2], dilations: [2, 1], pads: [0, 1, 1, 0] }),
    convolution("conv2d", [2, 3, 6, 3], [2, 3, 2, 2], { pads: [0, 1, 1, 1] }),
    convolution("conv2d", [1, 2, 8, 10], [2, 2, 9, 8], { pads: [2, 1, 1, 2] }),
    convolution("conv2d", [1, 2, 13, 29], [3, 2, 2, 3], { strides: [2, 3], pads: [1, 1, 0, 0] }),
    convolution("conv2d", [2, 4, 3, 6], [8, 2, 1, 1], { groups: 2, strides: [1, 2] }),
    convolution("conv2d", [1, 3, 5, 17], [4, 3, 1, 5], { dilations: [1, 3], pads: [0, 6, 0, 6] }),
    convolution("conv2d", [1, 5, 4, 5], [3, 5, 1, 1]),
    convolution("conv2d", [2, 2, 7, 5, 6], [3, 2, 2, 3, 3], {
      strides: [2, 1, 1],
      dilations: [2, 1, 1],
      pads: [1, 1, 0, 2, 1, 1],
    }),
    convolution("conv2d", [1, 4, 5, 4, 9], [4, 2, 3, 1, 2], { groups: 2, strides: [1, 2, 1] }, { bias: true }),
    convolution("conv2d", [2, 4, 5, 11], [4, 2, 2, 2], { groups: 2, strides: [2, 1] }, { type: "int32" }),
    convolution("depthwise", [2, 3, 7, 21], [3, 1, 3, 3], { groups: 3, pads: [0, 2, 1, 0] }),
    convolution("depthwise", [1, 3, 12, 9], [3, 1, 2, 3], { groups: 3, dilations: [3, 2], strides: [1, 2], pads: [1, 1, 2, 2] }),
    convolution("depthwise", [1, 2, 6, 3], [2, 1, 2, 2], { groups: 2 }),
    convolution("depthwise", [1, 2, 8, 10], [2, 1, 9, 8], { groups: 2, pads: [2, 1, 1, 2] }),
    convolution("depthwise", [2, 3, 23], [3, 1, 4], { groups: 3, pads: [3, 0] }),
    convolution("depthwise", [1, 3, 5, 9], [3, 1, 3, 3], { groups: 3, pads: [1, 1, 1, 1] }, { type: "int32" }),
    transposed([2, 4, 3, 5], [4, 2, 3, 4], { groups: 2, strides: [2, 3], pads: [1, 0, 0, 2], outputPads: [1, 2] }, true),
    transposed([1, 2, 7], [2, 4, 5], { strides: [3], pads: [1, 2] }, true),
    transposed([1, 3, 5, 4], [3, 2, 2, 2], { strides: [2, 2], dilations: [1, 1] }),
    transposed([1, 2, 3, 4, 5], [2, 2, 2, 3, 2], { strides: [2, 1, 2], pads: [0, 1, 0, 1, 1, 1] }),
    transposed([1, 2, 5, 9], [2, 3, 3, 1], { strides: [2, 1] }),
    ...[2, 3, 4].map((stride) => transposed([1, 2, 3, 21], [2, 2, 2, 4], { strides: [1, stride], pads: [0, 1, 0, 0] })),
  ];
}

/** Pools with each stride and dilation, of one and three axes, with windows that end outside. */
export function poolingShapes(): readonly CheckCase[] {
  const pool = (
    x: readonly number[],
    window: Partial<OperationOf<"max-pool">> & { readonly kernel: readonly number[] },
  ): CheckCase[] => {
    const rank = window.kernel.length;
    const [ones, none] = [Array<number>(rank).fill(1), Array<number>(2 * rank).fill(0)];
    const all = { strides: ones, dilations: ones, pads: none, ceil: false, ...window };
    return [
      single("pool2d max", { ...all, kind: "max-pool", columnMajor: false }, [ordinary("float32", x)]),
      single("pool2d average", { ...all, kind: "average-pool", countPadding: false }, [ordinary("float32", x)], floatTolerance),
    ];
  };
  return [
    ...pool([2, 2, 5, 23], { kernel: [2, 3] }),
    ...pool([1, 2, 9, 13], { kernel: [3, 2], strides: [1, 2], dilations: [2, 3], pads: [1, 0, 2, 1] }),
    ...pool([1, 3, 6, 7], { kernel: [3, 3], strides: [2, 2], ceil: true, pads: [0, 1, 0, 1] }),
    ...pool([2, 3, 17], { kernel: [4], strides: [3], pads: [2, 1] }),
    ...pool([1, 2, 3, 4], { kernel: [3, 4] }),
  ];
}

/** Rows of each length, masks that broadcast along each axis, and axes with elements behind them. */
export function softmaxShapes(): readonly CheckCase[] {
  const softmax = (
    shape: readonly number[],
    { axis = shape.length - 1, logarithm = false, mask }: { axis?: number; logarithm?: boolean; mask?: readonly number[] } = {},
  ): CheckCase => {
    const isInner = shape.slice(axis + 1).some((size) => size > 1);
    const name = `${isInner ? "softmax-columns" : "softmax"}${logarithm ? " logarithm" : ""}`;
    const inputs = [ordinary("float32", shape), ...(mask === undefined ? [] : [ordinary("float32", mask, 5)])];
    return single(name, { kind: "softmax", axis, logarithm }, inputs, floatTolerance);
  };
  return [
    ...[1, 2, 3, 8, 69].map((columns) => softmax([3, columns])),
    softmax([2, 16], { logarithm: true }),
    softmax([2, 3, 5, 9], { mask: [2, 1, 1, 9] }),
    softmax([2, 3, 5, 9], { mask: [1, 3, 5, 9] }),
    softmax([2, 3, 5, 8], { mask: [3, 1, 1] }),
    softmax([2, 3, 6], { mask: [3, 6], logarithm: true }),
    softmax([3, 5, 1], { axis: 1 }),
    softmax([2, 5, 21], { axis: 1 }),
    softmax([3, 4, 2, 2], { axis: 1 }),
    softmax([2, 3, 18], { axis: 1, logarithm: true }),
  ];
}

/** Normalization of rows of each length, over one axis and two, with and without scale and shift. */
export function normShapes(): readonly CheckCase[] {
  const norm = (shape: readonly number[], axis: number, parameters: number): CheckCase =>
    single(
      "norm",
      { kind: "layer-norm", axis, epsilon: 1e-3 },
      [ordinary("float32", shape), ...[2, 3].slice(0, parameters).map((seed) => ordinary("float32", shape.slice(axis), seed))],
      floatTolerance,
    );
  return [norm([3, 64], 1, 2), norm([2, 3], 1, 0), norm([2, 3, 6], 1, 2), norm([4, 1], 1, 1), norm([1, 33], 1, 2)];
}

/** Reductions of the middle and of several axes. */
export function reduceShapes(): readonly CheckCase[] {
  return (["sum", "product", "min", "max", "mean"] as const).flatMap((name) =>
    numericTypes.flatMap((type) => {
      if (name === "mean" && type !== "float32") return [];
      const reduce = (shape: readonly number[], axes: readonly number[]): CheckCase =>
        single(
          `${type === "int64" ? "reduce-wide" : "reduce"} ${name} ${type}`,
          { kind: "reduce", function: name, axes, keep: false },
          [ordinary(type, shape)],
          getTolerance(type),
        );
      return [reduce([2, 5, 21], [1]), reduce([4, 3, 5], [0, 2]), reduce([3, 2, 18], [1, 2])];
    }),
  );
}

/** Arg-max with equal elements, cumulative operations in each direction, and top-k of each axis. */
export function scanShapes(): readonly CheckCase[] {
  const equal = toLiteral(
    "float32",
    [2, 5, 3],
    Array.from({ length: 30 }, (_, index) => (index * 7) % 4),
  );
  const arg = (["max", "min"] as const).flatMap((name) =>
    [false, true].flatMap((last) => [
      single(`arg-reduce ${name} float32`, { kind: "arg", function: name, axis: 1, last }, [equal]),
      single(`arg-reduce ${name} float32`, { kind: "arg", function: name, axis: 2, last }, [equal]),
    ]),
  );
  const scans = numericTypes.flatMap((type) =>
    (["sum", "product"] as const).flatMap((name) => {
      const cumulative = (shape: readonly number[], exclusive: boolean, reverse: boolean): CheckCase =>
        single(
          `cumulative ${name} ${type}`,
          { kind: "cumulative", function: name, axis: 1, exclusive, reverse },
          [ordinary(type, shape)],
          getTolerance(type),
        );
      return [cumulative([3, 9], false, false), cumulative([2, 5, 19], true, false), cumulative([2, 4, 3], false, true)];
    }),
  );
  const tops = numericTypes.flatMap((type) => {
    const top = (shape: readonly number[], axis: number, count: number, largest: boolean): CheckCase =>
      single(`top-k ${type}`, { kind: "top-k", axis, count, largest }, [ordinary(type, shape)]);
    return [top([2, 7, 3], 1, 3, false), top([2, 21], 1, 21, true), top([3, 8], 1, 1, false), top([5, 4], 0, 2, true)];
  });
  const ties = toLiteral(
    "float32",
    [2, 23],
    Array.from({ length: 46 }, (_, index) => (index * 5) % 6),
  );
  return [
    ...arg,
    ...scans,
    ...tops,
    ...[true, false].map((largest) =>
      single("top-k float32", { kind: "top-k", axis: 1, count: 5, largest }, [
        toLiteral("float32", [2, 7], [0, -0, 1, -0, 0, -1e-45, -0, -0, 0, -1, 1e-45, -0, 0, NaN]),
      ]),
    ),
    single("top-k float32", { kind: "top-k", axis: 1, count: 9, largest: true }, [ties]),
    single("top-k float32", { kind: "top-k", axis: 1, count: 9, largest: false }, [ties]),
  ];
}

/** Scatters along the last axis, into three axes, with coordinates of two numbers, and of each width. */
export function scatterShapes(): readonly CheckCase[] {
  const scatter = (type: ElementType, reduction: "none" | "add" | "mul" | "min" | "max"): CheckCase[] => {
    const suffix = reduction === "none" ? "" : ` ${reduction} ${type}`;
    return [
      single(`scatter-elements${suffix}`, { kind: "scatter-elements", axis: 1, reduction }, [
        ordinary(type, [3, 5, 2]),
        toLiteral("int32", [2, 3, 2], [4, 0, 1, -1, 2, 3, 0, 1, -4, 4, 3, 2]),
        ordinary(type, [2, 3, 2], 2),
      ]),
      single(`scatter-blocks${suffix}`, { kind: "scatter-nd", reduction }, [
        ordinary(type, [4, 3, 5]),
        pairs,
        ordinary(type, [4, 5], 2),
      ]),
    ];
  };
  const long = ordinary("float32", [3, 300]);
  return [
    single("scatter-elements", { kind: "scatter-elements", axis: 0, reduction: "none" }, [
      long,
      indices([2, 290], 3),
      ordinary("float32", [2, 290], 2),
    ]),
    single("scatter-blocks", { kind: "scatter-nd", reduction: "none" }, [
      long,
      indices([2, 1], 3),
      ordinary("float32", [2, 300], 2),
    ]),
    ...widths.flatMap((type) => scatter(type, "none")),
    ...(["add", "mul", "min", "max"] as const).flatMap((reduction) => numericTypes.flatMap((type) => scatter(type, reduction))),
  ];
}

/** Coordinates of two axes of sizes 4 and 3. */
const pairs: Literal = { ...int64Literal([1, 2, 3, 0, -1, 1, 0, -2]), shape: [4, 2] };

/** Copies of runs of each length, transposes with each rest, fills, and gathers of each width. */
export function movementShapes(): readonly CheckCase[] {
  const copy = (type: ElementType, shape: readonly number[], sizes: readonly number[], steps?: readonly number[]): CheckCase =>
    single(
      "strided-copy",
      { kind: "slice", starts: sizes.map((_, axis) => (axis === 0 ? 0 : 1)), steps: steps ?? sizes.map(() => 1), sizes },
      [ordinary(type, shape)],
    );
  const transpose = (type: ElementType, shape: readonly number[], permutation: readonly number[]): CheckCase =>
    single("strided-copy", { kind: "transpose", permutation }, [ordinary(type, shape)]);
  const expand = (type: ElementType, from: readonly number[], shape: readonly number[]): CheckCase =>
    single("strided-copy", { kind: "expand", shape }, [ordinary(type, from)]);
  const gather = (type: ElementType, shape: readonly number[], axis: number, which: Literal): CheckCase =>
    single("gather", { kind: "gather", axis }, [ordinary(type, shape), which]);
  const elements = (type: ElementType, shape: readonly number[], axis: number, which: Literal): CheckCase =>
    single("gather-elements", { kind: "gather-elements", axis }, [ordinary(type, shape), which]);
  const blocks = (type: ElementType, shape: readonly number[], batchAxes: number, which: CaseInput): CheckCase =>
    single("gather-blocks", { kind: "gather-nd", batchAxes }, [ordinary(type, shape), which]);
  return [
    ...[1, 2, 3, 5, 7, 13, 22, 31, 47].map((length) => copy("uint8", [3, length + 2], [3, length])),
    ...widths.map((type) => copy(type, [3, 13], [2, 4], [1, 3])),
    copy("float32", [9001], [9000]),
    transpose("float32", [5, 7], [1, 0]),
    transpose("float32", [8, 12], [1, 0]),
    transpose("float32", [2, 6, 3, 9], [0, 3, 1, 2]),
    transpose("float32", [3, 9, 2, 4], [2, 1, 3, 0]),
    transpose("float32", [2, 3, 4, 5], [0, 2, 1, 3]),
    ...widths.flatMap((type) => [
      expand(type, [3, 1], [3, 13]),
      expand(type, [3, 1], [3, 31]),
      expand(type, [2, 1, 3], [2, 4, 3]),
      expand(type, [1], [Math.ceil(20_001 / elementBytes[type])]),
    ]),
    ...widths.map((type) => gather(type, [4, 7, 3], 1, indices([2, 2], 7, "int32"))),
    gather("uint8", [5, 35], 0, indices([3], 5)),
    gather("float32", [3, 9], 1, indices([5], 9)),
    ...widths.map((type) => elements(type, [4, 5, 3], 0, indices([3, 4, 2], 4, "int32"))),
    elements("float32", [2, 7, 4], 1, indices([2, 3, 4], 7)),
    elements("float32", [7], 0, indices([2051], 7)),
    elements("uint8", [5], 0, indices([3], 5, "int32")),
    ...widths.map((type) => blocks(type, [4, 3, 5], 0, pairs)),
    blocks("float32", [2, 4, 3], 1, indices([2, 3, 1], 4, "int32")),
  ];
}

/** Rows of tables in each format, from their known answers. */
export function blockGatherShapes(): readonly CheckCase[] {
  return Object.entries(answerTable.blocks).map(([type, { blocks: base64 }]) => {
    const [rows, columns] = [2, answerTable.elements / 2];
    const bytes = decodeBase64(base64);
    const blocks = { type, format: required(blockFormats[type], type), rows, columns, read: () => bytes };
    const values = decodeTensor(type, bytes, answerTable.elements);
    const swapped = Float32Array.from(values, (_, index) => values[(index % rows) * columns + Math.floor(index / rows)] ?? 0);
    const matrix = literalWithStorage(new LazyStorage(undefined, { materialize: () => swapped }, blocks), "float32", [
      columns,
      rows,
    ]);
    const storage = new LazyStorage(undefined, { materialize: () => values }, { ...blocks, transposed: matrix });
    const table = literalWithStorage(storage, "float32", [rows, columns]);
    return single("gather-rows", { kind: "gather", axis: 0 }, [{ constant: table }, int64Literal([1, 0, -1])], floatTolerance);
  });
}
