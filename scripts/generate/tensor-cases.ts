/** Products, windows, gathers, scatters and copies, with shapes that the conformance cases of ONNX have few of. */
import { ordinary } from "../../src/engine/execute/kernel-checks/check-values.ts";
import { int64Literal, type Literal, toLiteral } from "../../src/engine/ir/literal.ts";
import type { ScatterReduction } from "../../src/engine/ir/operations.ts";
import { bigints, floats, type InterpreterCase, operate, refuse, strings, variedNumbers } from "./case-builder.ts";

const large = 2n ** 62n + 12345678901n;

function productCases(): readonly InterpreterCase[] {
  const plain = { bias: false, activation: "none", residual: "none" } as const;
  const [x, weights, bias, residual] = [[2, 3], [3, 4], [4], [2, 4]].map((shape, index) =>
    ordinary("float32", shape, index + 1),
  ) as [Literal, Literal, Literal, Literal];
  const [rows, integers] = [ordinary("int16", [2, 3]), ordinary("int32", [3, 4], 2)];
  const scales = [floats([], 0.037), floats([4], 0.01, 0.02, 0.5, 1)];
  const activations = ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"] as const;
  return [
    ...(["float32", "float64", "float16", "int32", "int64", "uint32", "uint64"] as const).flatMap((type) => [
      operate({ kind: "matmul" }, variedNumbers(type, [2, 3]), variedNumbers(type, [3, 4])),
      operate({ kind: "matmul" }, variedNumbers(type, [2, 1, 2, 3]), variedNumbers(type, [3, 3, 2])),
    ]),
    operate({ kind: "linear", ...plain }, x, weights),
    operate(
      { kind: "linear", ...plain, bias: true, residual: "before-activation", activation: "tanh" },
      x,
      weights,
      bias,
      residual,
    ),
    operate(
      { kind: "linear", ...plain, bias: true, residual: "after-activation", activation: "tanh" },
      x,
      weights,
      bias,
      residual,
    ),
    operate({ kind: "linear", ...plain, residual: "after-activation", activation: "relu" }, x, weights, residual),
    ...activations.map((activation) => operate({ kind: "linear", ...plain, activation }, x, weights)),
    operate({ kind: "integer-matmul" }, rows, integers),
    operate({ kind: "integer-linear", ...plain, bias: true, activation: "gelu" }, rows, integers, ...scales, bias),
    operate({ kind: "integer-linear", ...plain, residual: "before-activation" }, rows, integers, ...scales, residual),
    operate(
      { kind: "fused-matmul", a: [0, 1, 2], b: [0, 2, 1], result: [1, 0, 2], alpha: 0.25 },
      ordinary("float32", [2, 2, 3]),
      ordinary("float32", [2, 4, 3], 2),
    ),
    operate(
      { kind: "fused-matmul", a: [1, 0], b: [0, 1], result: [0, 1], alpha: 1 },
      ordinary("float32", [3, 2]),
      ordinary("float32", [3, 2], 2),
    ),
    operate(
      { kind: "fused-matmul", a: [0, 1], b: [0, 1], result: [1, 0], alpha: 2 },
      ordinary("float32", [2, 3]),
      ordinary("float32", [3, 2], 2),
    ),
    ...[
      [0.5, -1.25, 3],
      [1, 2, 0.25],
      [-1, -2, -7.5],
      [0, 0, 0],
    ].map((values) => operate({ kind: "quantization-range" }, floats([3], ...values))),
    operate(
      { kind: "quantize" },
      floats([9], -20, -1.5, -0.018, 0.0185, 0.0555, 1, 3, 5.1, 20),
      floats([], 0.037),
      toLiteral("uint8", [], [117]),
    ),
    operate({ kind: "subtract-zero-point" }, toLiteral("uint8", [3], [0, 117, 255]), toLiteral("uint8", [], [117])),
    operate({ kind: "subtract-zero-point" }, toLiteral("int8", [3], [-128, 0, 127])),
  ];
}

function windowCases(): readonly InterpreterCase[] {
  const line = { strides: [2], dilations: [1], pads: [1, 2] };
  const plane = { strides: [2, 1], dilations: [1, 2], pads: [1, 0, 0, 2] };
  const space = { strides: [1, 2, 1], dilations: [1, 1, 1], pads: [0, 1, 0, 1, 0, 0] };
  const convolve = (
    window: typeof line,
    x: readonly number[],
    w: readonly number[],
    { groups = 1, bias = true, activation }: { groups?: number; bias?: boolean; activation?: "relu" | "silu" } = {},
  ): InterpreterCase =>
    operate(
      { kind: "convolution", groups, ...window, ...(activation === undefined ? {} : { activation }) },
      ordinary("float32", x),
      ordinary("float32", w, 2),
      ...(bias ? [ordinary("float32", w.slice(0, 1), 3)] : []),
    );
  const transposed = (
    window: typeof line,
    outputPads: readonly number[],
    x: readonly number[],
    w: readonly number[],
    groups: number,
  ): InterpreterCase =>
    operate(
      { kind: "convolution-transpose", groups, outputPads, ...window },
      ordinary("float32", x),
      ordinary("float32", w, 2),
      ordinary("float32", [(w[1] ?? 1) * groups], 3),
    );
  const pooled = [
    { x: [1, 2, 7], window: { ...line, kernel: [3] } },
    { x: [2, 1, 5, 4], window: { ...plane, kernel: [2, 2] } },
    { x: [1, 2, 2, 4, 3], window: { ...space, kernel: [2, 2, 2] } },
    { x: [1, 1, 5, 5], window: { strides: [3, 3], dilations: [1, 1], pads: [0, 0, 0, 0], kernel: [2, 3] } },
    { x: [1, 1, 4, 4], window: { strides: [2, 2], dilations: [1, 1], pads: [1, 1, 1, 1], kernel: [3, 3] } },
  ] as const;
  return [
    convolve(line, [2, 2, 7], [3, 2, 3]),
    convolve(plane, [1, 4, 5, 6], [4, 2, 2, 3], { groups: 2, activation: "relu" }),
    convolve(plane, [2, 2, 4, 5], [2, 1, 3, 2], { groups: 2, bias: false, activation: "silu" }),
    convolve(space, [1, 2, 3, 4, 3], [2, 2, 2, 2, 2]),
    transposed(line, [1], [2, 2, 4], [2, 3, 3], 1),
    transposed(plane, [1, 0], [2, 4, 2, 3], [4, 2, 3, 2], 2),
    transposed(space, [0, 1, 0], [1, 2, 2, 2, 2], [2, 1, 2, 3, 2], 1),
    ...pooled.flatMap(({ x, window }) =>
      [true, false].flatMap((flag) => [
        operate({ kind: "max-pool", ...window, ceil: flag, columnMajor: false }, ordinary("float32", x)),
        operate({ kind: "max-pool", ...window, ceil: false, columnMajor: flag }, ordinary("int8", x)),
        operate({ kind: "average-pool", ...window, ceil: flag, countPadding: true }, ordinary("float32", x)),
        operate({ kind: "average-pool", ...window, ceil: flag, countPadding: false }, ordinary("float32", x)),
      ]),
    ),
    refuse({ kind: "max-pool", ...line, kernel: [3], ceil: false, columnMajor: false }, ordinary("float32", [1, 1, 0])),
  ];
}

function indexCases(): readonly InterpreterCase[] {
  const gather = (axis: number, x: Literal, indices: Literal): InterpreterCase => operate({ kind: "gather", axis }, x, indices);
  const data = ordinary("float32", [2, 3, 4]);
  const words = strings([2, 3], "a", "b", "c", "d", "e", "f");
  const reductions: readonly ScatterReduction[] = ["none", "add", "mul", "min", "max"];
  const int32 = (shape: readonly number[], ...values: readonly number[]): Literal => toLiteral("int32", shape, values);
  const [rowIndices, places] = [int64Literal([1, 0, -1, 1, 2, 0], [2, 3]), int64Literal([0, 1, 1, 2, 0, -2], [3, 2])];
  return [
    gather(0, data, int64Literal([1, -2], [2])),
    gather(1, data, int64Literal([2, 0, -3, -1], [2, 2])),
    gather(2, data, int32([3], 3, -4, 1)),
    gather(1, words, int64Literal([2], [])),
    ...[2, -3, 7].map((index) => refuse({ kind: "gather", axis: 0 }, data, int64Literal([index]))),
    operate({ kind: "gather-elements", axis: 1 }, ordinary("float32", [3, 4]), rowIndices),
    operate({ kind: "gather-elements", axis: 0 }, words, int64Literal([1, 0, -1], [1, 3])),
    operate({ kind: "gather-elements", axis: 2 }, data, int64Literal([3, 0, -4, 1, 2, 2], [2, 3, 1])),
    refuse({ kind: "gather-elements", axis: 1 }, ordinary("float32", [1, 4]), rowIndices),
    refuse({ kind: "gather-elements", axis: 0 }, ordinary("float32", [2, 3]), int64Literal([2, 0, 1], [1, 3])),
    operate({ kind: "gather-nd", batchAxes: 0 }, data, int64Literal([1, 2, 0, -3], [2, 2])),
    operate({ kind: "gather-nd", batchAxes: 0 }, data, int64Literal([1, 2, 3, 0, -1, -4], [2, 3])),
    operate({ kind: "gather-nd", batchAxes: 1 }, data, int64Literal([2, 0, 1, -1], [2, 2, 1])),
    operate({ kind: "gather-nd", batchAxes: 2 }, data, int64Literal([3, 2, 1, 0, -1, -2], [2, 3, 1])),
    operate({ kind: "gather-nd", batchAxes: 0 }, words, int64Literal([1, 2, 0, 0], [2, 2])),
    refuse({ kind: "gather-nd", batchAxes: 0 }, data, int64Literal([1, 3], [1, 2])),
    ...reductions.flatMap((reduction) =>
      (["float32", "int64", "int32"] as const).flatMap((type) => [
        operate(
          { kind: "scatter-elements", axis: 1, reduction },
          variedNumbers(type, [2, 3]),
          int64Literal([1, 1, -1, 0], [2, 2]),
          ordinary(type, [2, 2], 3),
        ),
        operate(
          { kind: "scatter-elements", axis: 0, reduction },
          variedNumbers(type, [3, 2]),
          int64Literal([2, 0, 2, -3], [2, 2]),
          ordinary(type, [2, 2], 2),
        ),
        operate(
          { kind: "scatter-nd", reduction },
          variedNumbers(type, [3, 2]),
          int64Literal([2, 0, -1], [3, 1]),
          ordinary(type, [3, 2], 2),
        ),
        operate({ kind: "scatter-nd", reduction }, variedNumbers(type, [2, 3]), places, ordinary(type, [3], 2)),
      ]),
    ),
    operate(
      { kind: "scatter-elements", axis: 1, reduction: "none" },
      words,
      int64Literal([2, 0], [2, 1]),
      strings([2, 1], "x", "y"),
    ),
    refuse(
      { kind: "scatter-elements", axis: 1, reduction: "add" },
      words,
      int64Literal([2, 0], [2, 1]),
      strings([2, 1], "x", "y"),
    ),
    refuse({ kind: "scatter-nd", reduction: "none" }, floats([3], 1, 2, 3), int64Literal([0, 1], [2, 1]), floats([1], 1)),
  ];
}

function movementCases(): readonly InterpreterCase[] {
  const x = ordinary("float32", [2, 3, 4]);
  const words = strings([2, 2], "a", "b", "c", "d");
  const modes = ["constant", "reflect", "edge", "wrap"] as const;
  return [
    operate({ kind: "slice", starts: [1, 2, 0], steps: [-1, -2, 3], sizes: [2, 2, 2] }, x),
    operate({ kind: "slice", starts: [1, 0], steps: [1, 1], sizes: [1, 2] }, words),
    ...modes.flatMap((mode) => {
      const value = mode === "constant" ? [floats([], 9)] : [];
      return [
        operate({ kind: "pad", mode, before: [1, 2], after: [0, 1] }, ordinary("float32", [2, 3]), ...value),
        operate({ kind: "pad", mode, before: [0, 1, 3], after: [1, 1, 2] }, x, ...value),
        operate({ kind: "pad", mode, before: [5], after: [7] }, ordinary("float32", [4]), ...value),
      ];
    }),
    operate({ kind: "pad", mode: "constant", before: [1, 0], after: [0, 1] }, words, strings([], "-")),
    operate(
      { kind: "pad", mode: "constant", before: [1], after: [2] },
      bigints("int64", [2], 1, large),
      bigints("int64", [], -5),
    ),
    ...[0, 1, 2].map((axis) =>
      operate(
        { kind: "concat", axis },
        x,
        ordinary("float32", x.shape.with(axis, 1), 2),
        ordinary("float32", x.shape.with(axis, 2), 3),
      ),
    ),
    operate({ kind: "concat", axis: 1 }, words, strings([2, 1], "x", "y")),
    operate({ kind: "concat", axis: 0 }, words, strings([1, 2], "x", "y")),
    ...[
      [2, 0, 1],
      [1, 0, 2],
      [2, 1, 0],
    ].map((permutation) => operate({ kind: "transpose", permutation }, x)),
    operate({ kind: "transpose", permutation: [1, 0] }, words),
    operate({ kind: "reshape", shape: [4, 6] }, x),
    operate({ kind: "expand", shape: [2, 2, 3] }, ordinary("int64", [2, 1])),
    operate({ kind: "expand", shape: [2, 2, 2] }, words),
  ];
}

/** All cases. */
export function tensorCases(): readonly InterpreterCase[] {
  return [...productCases(), ...windowCases(), ...indexCases(), ...movementCases()];
}
