/** Checks of how operations are lowered: ranks, axes, offsets, groups and temporaries, each in the shapes that take another path to the same kernels. */
import type { ElementType } from "../../ir/element-types.ts";
import { type Literal, toLiteral } from "../../ir/literal.ts";
import type { Activation, Operation, Window } from "../../ir/operations.ts";
import { type CaseInput, type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { chainCases, declinedCases, refusedCases } from "./declined-cases.ts";
import { indices, ordinary } from "./check-values.ts";
import { blockLoweringCases } from "./block-cases.ts";
import { stateCases } from "./state-cases.ts";

function padCases(): readonly CheckCase[] {
  const pad = (
    mode: Extract<Operation, { readonly kind: "pad" }>["mode"],
    [before, after]: readonly [readonly number[], readonly number[]],
    x: Literal,
  ): CheckCase => {
    const value = mode === "constant" ? [toLiteral(x.dataType, [], [7])] : [];
    return single("strided-copy", { kind: "pad", mode, before, after }, [x, ...value]);
  };
  const x = ordinary("float32", [3, 4, 5]);
  return [
    ...(["constant", "reflect", "edge", "wrap"] as const).flatMap((mode) => [
      pad(
        mode,
        [
          [2, 0, 1],
          [1, 3, 0],
        ],
        x,
      ),
      pad(
        mode,
        [
          [1, 2],
          [0, 2],
        ],
        ordinary("uint8", [3, 4]),
      ),
      pad(mode, [[2], [2]], ordinary("float32", [3])),
    ]),
    pad(
      "edge",
      [
        [5, 0],
        [0, 6],
      ],
      ordinary("float32", [2, 3]),
    ),
    pad(
      "constant",
      [
        [0, 2],
        [3, 0],
      ],
      ordinary("float32", [0, 3]),
    ),
  ];
}

function copyCases(): readonly CheckCase[] {
  const copy = (operation: Operation, ...inputs: readonly Literal[]): CheckCase => single("strided-copy", operation, inputs);
  const x = ordinary("float32", [2, 3, 4]);
  return [
    ...[0, 1, 2].map((axis) =>
      copy(
        { kind: "concat", axis },
        x,
        ordinary("float32", x.shape.with(axis, 0)),
        ordinary("float32", x.shape.with(axis, 2), 3),
      ),
    ),
    copy({ kind: "concat", axis: 0 }, ordinary("int64", [2, 3]), ordinary("int64", [1, 3], 2), ordinary("int64", [3, 3], 3)),
    copy({ kind: "concat", axis: 0 }, ordinary("float32", [1]), ordinary("float32", [3], 2), ordinary("float32", [1], 3)),
    copy({ kind: "slice", starts: [1, 2, 0], steps: [-1, -2, 3], sizes: [2, 2, 2] }, x),
    copy({ kind: "slice", starts: [1, 1, 2], steps: [1, 1, 1], sizes: [1, 2, 2] }, x),
    copy({ kind: "transpose", permutation: [2, 1, 0] }, x),
    copy({ kind: "transpose", permutation: [0, 2, 1, 3] }, ordinary("float16", [2, 3, 4, 5])),
    copy({ kind: "expand", shape: [2, 3, 2, 4] }, ordinary("float32", [3, 1, 4])),
  ];
}

function axisCases(): readonly CheckCase[] {
  const shape = [3, 4, 5];
  const tolerances = { float32: floatTolerance, int32: 0, int64: 0 } as const;
  const types = ["float32", "int32", "int64"] as const;
  const reduce = (type: (typeof types)[number], axes: readonly number[], keep: boolean): CheckCase =>
    single(
      `${type === "int64" ? "reduce-wide" : "reduce"} sum ${type}`,
      { kind: "reduce", function: "sum", axes, keep },
      [ordinary(type, [2, 3, 4, 5])],
      tolerances[type],
    );
  return [
    ...types.flatMap((type) => [
      reduce(type, [1], true),
      reduce(type, [1, 2], false),
      reduce(type, [0, 2], false),
      reduce(type, [3, 1], true),
    ]),
    reduce("float32", [0, 1, 2, 3], false),
    single("reduce sum float32", { kind: "reduce", function: "sum", axes: [1], keep: false }, [ordinary("float32", [3, 1])]),
    ...[0, 1, 2].flatMap((axis) => [
      ...[true, false].map((last) =>
        single(`arg-reduce max float32`, { kind: "arg", function: "max", axis, last }, [repeated(shape)]),
      ),
      single(`arg-reduce min float32`, { kind: "arg", function: "min", axis, last: true }, [repeated(shape)]),
      ...types.flatMap((type) => [
        single(`top-k ${type}`, { kind: "top-k", axis, count: 2, largest: false }, [ordinary(type, shape)]),
        single(
          `cumulative sum ${type}`,
          { kind: "cumulative", function: "sum", axis, exclusive: axis === 1, reverse: axis === 2 },
          [ordinary(type, shape)],
          tolerances[type],
        ),
      ]),
    ]),
    single("softmax-columns", { kind: "softmax", axis: 1, logarithm: false }, [ordinary("float32", shape)], floatTolerance),
    single("softmax-columns", { kind: "softmax", axis: 1, logarithm: false }, [ordinary("float32", [3, 4, 2])], floatTolerance),
    single("softmax", { kind: "softmax", axis: 1, logarithm: false }, [ordinary("float32", [3, 4, 1])], floatTolerance),
    single(
      "softmax",
      { kind: "softmax", axis: 2, logarithm: false },
      [ordinary("float32", shape), ordinary("float32", [4, 1], 2)],
      floatTolerance,
    ),
    ...[1, 2].map((axis) => {
      const columns = shape.slice(axis);
      const inputs = [ordinary("float32", shape), ordinary("float32", columns, 2), ordinary("float32", columns, 3)];
      return single("norm", { kind: "layer-norm", axis, epsilon: 0.01 }, inputs, floatTolerance);
    }),
    single("norm", { kind: "layer-norm", axis: 1, epsilon: 1e-5 }, [ordinary("float32", [2, 7])], floatTolerance),
  ];
}

/** Numbers of which several are equal. */
function repeated(shape: readonly number[]): Literal {
  return toLiteral(
    "float32",
    shape,
    Array.from(ordinary("int8", shape).data as Int8Array, (value) => value % 4),
  );
}

function poolingCases(): readonly CheckCase[] {
  const line = { kernel: [3], strides: [2], dilations: [1], pads: [1, 2] };
  const plane = { kernel: [2, 3], strides: [2, 1], dilations: [1, 2], pads: [1, 0, 0, 2] };
  const wide = { kernel: [3, 3], strides: [2, 2], dilations: [1, 1], pads: [0, 0, 0, 0] };
  const space = { kernel: [2, 3, 2], strides: [1, 2, 1], dilations: [2, 1, 1], pads: [1, 1, 0, 1, 0, 1] };
  const each = [
    { shape: [2, 3, 10], window: line },
    { shape: [1, 2, 5, 6], window: plane },
    { shape: [1, 2, 6, 4], window: wide },
    { shape: [2, 2, 4, 5, 3], window: space },
  ];
  return each.flatMap(({ shape, window }) =>
    [true, false].flatMap((flag) => [
      ...(["float32", "uint8", "int8"] as const).map((type) =>
        single("pool2d max", { kind: "max-pool", ...window, ceil: flag, columnMajor: false }, [ordinary(type, shape)]),
      ),
      ...[true, false].map((ceil) =>
        single(
          "pool2d average",
          { kind: "average-pool", ...window, ceil, countPadding: flag },
          [ordinary("float32", shape)],
          floatTolerance,
        ),
      ),
    ]),
  );
}

function convolutionCases(): readonly CheckCase[] {
  const convolution = (
    window: Window,
    x: readonly number[],
    w: readonly number[],
    groups: number,
    type: ElementType = "float32",
  ): CheckCase =>
    single(
      "conv2d",
      { kind: "convolution", groups, ...window },
      [ordinary(type, x), ordinary(type, w, 2), ...(groups === 1 ? [ordinary(type, w.slice(0, 1), 3)] : [])],
      type === "float32" ? floatTolerance : 0,
    );
  const line = { strides: [2], dilations: [3], pads: [1, 2] };
  const plane = { strides: [1, 2], dilations: [2, 1], pads: [2, 0, 1, 3] };
  const space = { strides: [2, 1, 2], dilations: [1, 2, 1], pads: [1, 0, 2, 0, 1, 1] };
  return [
    convolution(line, [2, 4, 11], [6, 2, 3], 2),
    convolution(plane, [2, 3, 6, 7], [4, 3, 2, 3], 1),
    convolution(plane, [1, 4, 6, 7], [2, 2, 3, 2], 2, "int32"),
    convolution(space, [2, 2, 4, 5, 6], [4, 1, 2, 2, 3], 2),
    convolution(space, [1, 2, 3, 5, 4], [3, 2, 2, 1, 2], 1),
  ];
}

interface Transposed {
  readonly window: Window;
  readonly outputPads: readonly number[];
  readonly x: readonly number[];
  readonly w: readonly number[];
  readonly groups: number;
  readonly activation?: Activation;
  /** Whether only constant weights are tried, and for one family. Default: computed ones too. */
  readonly isBrief?: boolean;
}

function transposedCases(): readonly CheckCase[] {
  const line = { strides: [3], dilations: [1], pads: [2, 1] };
  const plane = { strides: [2, 3], dilations: [2, 1], pads: [1, 0, 2, 1] };
  const unphased = { strides: [1, 1], dilations: [1, 2], pads: [1, 0, 0, 2] };
  const space = { strides: [2, 1, 2], dilations: [1, 2, 1], pads: [0, 1, 1, 1, 0, 0] };
  const cropped = { strides: [2, 1], dilations: [1, 1], pads: [4, 3, 3, 4] };
  const all: readonly Transposed[] = [
    { window: line, outputPads: [2], x: [2, 2, 5], w: [2, 3, 4], groups: 1 },
    {
      window: { strides: [2], dilations: [1], pads: [0, 0] },
      outputPads: [0],
      x: [2, 2, 1],
      w: [2, 3, 1],
      groups: 1,
      isBrief: true,
    },
    { window: line, outputPads: [0], x: [1, 4, 4], w: [4, 2, 2], groups: 2 },
    { window: plane, outputPads: [1, 0], x: [1, 4, 3, 4], w: [4, 3, 3, 4], groups: 2 },
    { window: plane, outputPads: [0, 2], x: [2, 2, 4, 3], w: [2, 2, 2, 5], groups: 1, activation: "relu" },
    { window: unphased, outputPads: [0, 0], x: [2, 3, 4, 5], w: [3, 2, 3, 2], groups: 1 },
    { window: space, outputPads: [1, 0, 0], x: [1, 2, 2, 3, 2], w: [2, 2, 3, 2, 3], groups: 1 },
    { window: space, outputPads: [0, 0, 1], x: [2, 4, 2, 3, 3], w: [4, 1, 2, 2, 2], groups: 2 },
    { window: cropped, outputPads: [0, 0], x: [1, 2, 7, 8], w: [2, 2, 3, 3], groups: 1 },
    { window: { ...cropped, strides: [1, 1] }, outputPads: [0, 0], x: [1, 2, 9, 8], w: [2, 2, 3, 2], groups: 1, isBrief: true },
  ];
  return all.flatMap(({ window, outputPads, x, w, groups, activation = "none", isBrief = false }) =>
    (isBrief ? [true] : [true, false]).flatMap((isConstant) => {
      const operation: Operation = { kind: "convolution-transpose", groups, outputPads, ...window, activation };
      const given = (literal: Literal): CaseInput => (isConstant ? { constant: literal } : literal);
      const bias = ordinary("float32", [(w[1] ?? 1) * groups], 3);
      const inputs = [
        ordinary("float32", x),
        given(ordinary("float32", w, 2)),
        ...(isConstant || groups > 1 ? [given(bias)] : []),
      ];
      const isUnphased = window === unphased;
      const families = isUnphased ? ["conv2d"] : activation === "none" ? ["interleave", "conv2d"] : [`conv2d ${activation}`];
      return families.slice(0, isBrief ? 1 : 2).map((name) => single(name, operation, inputs, floatTolerance));
    }),
  );
}

function indexCases(): readonly CheckCase[] {
  const data = ordinary("float32", [3, 4, 5]);
  return [
    ...[0, 1, 2].flatMap((axis) => [
      single("gather", { kind: "gather", axis }, [data, indices([2, 2], 3)]),
      single("gather-elements", { kind: "gather-elements", axis }, [data, indices([2, 3, 2], 3)]),
      single("scatter-elements", { kind: "scatter-elements", axis, reduction: "none" }, [
        data,
        toLiteral("int64", [1, 1, 1].with(axis, 2), [2, 0]),
        ordinary("float32", [1, 1, 1].with(axis, 2), 2),
      ]),
    ]),
    ...[0, 1].map((count) =>
      single(count === 0 ? "strided-copy" : "scatter-elements", { kind: "scatter-elements", axis: 0, reduction: "none" }, [
        ordinary("float32", [4]),
        indices([count], 4),
        ordinary("float32", [count], 2),
      ]),
    ),
    ...[0, 1].map((count) =>
      single(count === 0 ? "strided-copy" : "scatter-blocks", { kind: "scatter-nd", reduction: "none" }, [
        ordinary("float32", [4]),
        indices([count, 1], 4),
        ordinary("float32", [count], 2),
      ]),
    ),
    single("gather-blocks", { kind: "gather-nd", batchAxes: 0 }, [data, indices([2, 2, 2], 3)]),
    single("gather-blocks", { kind: "gather-nd", batchAxes: 1 }, [data, indices([3, 2, 1], 4)]),
    single("gather-blocks", { kind: "gather-nd", batchAxes: 2 }, [data, indices([3, 4, 1], 5)]),
    single("gather-blocks", { kind: "gather-nd", batchAxes: 0 }, [ordinary("uint8", [3, 4]), indices([5, 2], 3, "int64")]),
    single("scatter-blocks", { kind: "scatter-nd", reduction: "none" }, [
      data,
      toLiteral("int64", [3, 2], [0, 1, 2, -1, 1, 3]),
      ordinary("float32", [3, 5], 2),
    ]),
    single("scatter-blocks", { kind: "scatter-nd", reduction: "none" }, [
      ordinary("int64", [4, 2]),
      toLiteral("int64", [2, 1], [3, 1]),
      ordinary("int64", [2, 2], 2),
    ]),
  ];
}

function productCases(): readonly CheckCase[] {
  const product = (a: readonly number[], b: readonly number[], type: ElementType = "float32"): CheckCase =>
    single(
      "batched-matmul",
      { kind: "matmul" },
      [ordinary(type, a), ordinary(type, b, 2)],
      type === "float32" ? floatTolerance : 0,
    );
  const permuted = (a: readonly number[], b: readonly number[], order: readonly number[]): CheckCase =>
    single(
      "batched-matmul",
      { kind: "fused-matmul", a: [1, 0, 2, 3], b: [0, 1, 3, 2], result: order, alpha: 1 },
      [ordinary("float32", a), ordinary("float32", b, 2)],
      floatTolerance,
    );
  return [
    product([2, 3, 4, 5], [5, 6]),
    product([4, 5], [2, 3, 5, 6]),
    product([3, 1, 4, 5], [2, 5, 6]),
    product([2, 3, 5], [2, 5, 1], "int32"),
    permuted([3, 2, 4, 5], [2, 3, 6, 5], [0, 1, 2, 3]),
    permuted([3, 2, 4, 5], [1, 3, 6, 5], [0, 2, 1, 3]),
    permuted([3, 2, 4, 5], [2, 3, 1, 5], [0, 1, 3, 2]),
    single(
      "matmul",
      { kind: "linear", bias: true, activation: "none", residual: "after-activation" },
      [
        ordinary("float32", [2, 3, 11]),
        { constant: ordinary("float32", [11, 10], 2) },
        ordinary("float32", [10], 3),
        ordinary("float32", [2, 3, 10], 5),
      ],
      floatTolerance,
    ),
  ];
}

/** All cases. */
export function loweringCases(): readonly CheckCase[] {
  return [
    ...declinedCases(),
    ...refusedCases(),
    ...chainCases(),
    ...padCases(),
    ...copyCases(),
    ...axisCases(),
    ...poolingCases(),
    ...convolutionCases(),
    ...transposedCases(),
    ...indexCases(),
    ...productCases(),
    ...stateCases(),
    ...blockLoweringCases(),
  ];
}
