/** Checks of the conditions of lowering: what a kernel must compute, and what it must leave to the interpreter. */
import { required } from "../../../contract/checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import { int64Literal, type Literal, toLiteral, literalOfBigints } from "../../ir/literal.ts";
import type { ElementOperation, Operation } from "../../ir/operations.ts";
import { CaseBuilder, type CaseInput, type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { ordinary } from "./check-values.ts";

/** Steps of chains that lowering translates to several steps of a kernel, or tells apart by type: a kernel must compute each. */
export function chainCases(): readonly CheckCase[] {
  const chain = (operations: readonly ElementOperation[], inputs: readonly Literal[]): CheckCase => {
    const steps = operations.map((operation, index) => ({
      operation,
      operands: index === 0 ? inputs.map((_, operand) => operand) : [inputs.length + index - 1],
    }));
    return single("elementwise", { kind: "elementwise", steps }, inputs, floatTolerance);
  };
  const cast = (to: ElementType, saturate: boolean): ElementOperation => ({ kind: "cast", to, saturate });
  const x = toLiteral("float32", [7], [-300, -1.5, 0, 0.25, 3, 200, 70000]);
  const whole = toLiteral("int32", [7], [-70000, -129, -1, 0, 1, 255, 65536]);
  const half: ElementOperation = { kind: "binary", function: "mul" };
  return [
    ...(["int8", "uint8", "int16", "uint16"] as const).flatMap((to) => [x, whole].map((each) => chain([cast(to, true)], [each]))),
    chain([half, cast("float16", false)], [x, toLiteral("float32", [1], [0.5])]),
    chain([cast("float32", false), { kind: "unary", function: "softplus" }], [toLiteral("float16", [3], [-2, 0.5, 3])]),
    chain([{ kind: "binary", function: "bitwise-and" }], [whole, toLiteral("int32", [], [12])]),
    single("elementwise", { kind: "elementwise", steps: [{ operation: half, operands: [0, 1] }] }, [
      x,
      { constant: toLiteral("float32", [1], [0.5]) },
    ]),
    single("elementwise", { kind: "elementwise", steps: [{ operation: half, operands: [0, 1] }] }, [
      toLiteral("float32", [2, 2], [1, 2, 3, 4]),
      { constant: toLiteral("float32", [2], [5, -7]) },
    ]),
    ...(["int8", "uint8", "int16", "uint16"] as const).map((type) => {
      const steps = [{ operation: half, operands: [0, 1] }];
      const inputs = [toLiteral(type, [3], [1, 2, 100]), { constant: toLiteral(type, [], [3]) }];
      return single("elementwise", { kind: "elementwise", steps }, inputs);
    }),
    chain([{ kind: "unary", function: "is-infinite" }], [toLiteral("float32", [3], [Infinity, -Infinity, 1])]),
    chain(
      [
        { kind: "unary", function: "is-nan" },
        { kind: "unary", function: "not" },
      ],
      [toLiteral("float32", [2], [NaN, 1])],
    ),
    single("elementwise", { kind: "elementwise", steps: [{ operation: half, operands: [0, 1] }] }, [
      int64Literal([1, -2, 3]),
      { constant: literalOfBigints("int64", [], [2n ** 53n + 1n]) },
    ]),
    { ...chain([cast("float16", false), cast("float32", false)], [x]), isDeclined: true },
    ...[
      chain([cast("uint64", false), cast("int32", false)], [whole]),
      chain([cast("int32", true)], [int64Literal([1, 2])]),
      chain([cast("uint32", true)], [whole]),
      chain([cast("uint8", true)], [toLiteral("uint32", [2], [1, 300])]),
      chain([cast("int8", true)], [toLiteral("bool", [2], [1, 0])]),
    ].map((each) => ({ ...each, isDeclined: true })),
    { ...chain([half], [toLiteral("float16", [2], [1, 2]), toLiteral("float16", [2], [3, 4])]), isDeclined: true },
  ];
}

/** Types and shapes without a kernel: the interpreter computes them, and kernels of the family must not. */
export function declinedCases(): readonly CheckCase[] {
  const declined = (name: string, operation: Operation, ...inputs: readonly CaseInput[]): CheckCase => ({
    ...single(name, operation, inputs),
    isDeclined: true,
  });
  const plane = { strides: [1, 1], dilations: [1, 1], pads: [0, 1, 1, 0] };
  const pool = { ...plane, kernel: [2, 2], ceil: false };
  const epilogue = { bias: false, activation: "none", residual: "none" } as const;
  const x = ordinary("float64", [2, 3, 4]);
  const image = ordinary("float64", [1, 2, 4, 5]);
  const weights = ordinary("float64", [2, 2, 2, 3], 2);
  const at = int64Literal([1, 0, 1, 1], [2, 2]);
  return [
    declined("matmul", { kind: "linear", ...epilogue }, x, { constant: ordinary("float64", [4, 5], 2) }),
    declined("matmul", { kind: "linear", ...epilogue }, ordinary("float32", [2, 3]), ordinary("float32", [3, 4], 2)),
    declined("batched-matmul", { kind: "matmul" }, x, ordinary("float64", [2, 4, 3], 2)),
    declined(
      "batched-matmul",
      { kind: "fused-matmul", a: [0, 1], b: [0, 1], result: [0, 1], alpha: 3 },
      ordinary("int32", [3, 4]),
      ordinary("int32", [4, 2]),
    ),
    declined(
      "batched-matmul",
      { kind: "fused-matmul", a: [0, 1], b: [0, 1], result: [1, 0], alpha: 1 },
      ordinary("float32", [3, 4]),
      ordinary("float32", [4, 2]),
    ),
    ...["softmax", "softmax-columns"].map((name, index) =>
      declined(name, { kind: "softmax", axis: 2 - index, logarithm: false }, x),
    ),
    declined(
      "softmax",
      { kind: "softmax", axis: 1, logarithm: false },
      ordinary("float32", [2, 3, 1]),
      ordinary("float32", [3, 1], 2),
    ),
    declined(
      "softmax-columns",
      { kind: "softmax", axis: 1, logarithm: false },
      ordinary("float32", [2, 3, 4]),
      ordinary("float32", [3, 4], 2),
    ),
    declined("norm", { kind: "layer-norm", axis: 2, epsilon: 0.01 }, x, ordinary("float64", [4], 2)),
    declined(
      "norm",
      { kind: "layer-norm", axis: 2, epsilon: 0.01 },
      ordinary("float32", [2, 3, 4]),
      ordinary("float32", [3, 1], 2),
    ),
    declined("reduce sum float32", { kind: "reduce", function: "sum", axes: [1], keep: false }, x),
    declined("reduce sum float32", { kind: "reduce", function: "sum", axes: [1], keep: false }, ordinary("float32", [2, 0])),
    declined("reduce sum float32", { kind: "reduce", function: "sum", axes: [], keep: false }, ordinary("float32", [2, 3])),
    declined("reduce mean float32", { kind: "reduce", function: "mean", axes: [1], keep: false }, ordinary("int32", [2, 4])),
    declined("reduce-wide sum int64", { kind: "reduce", function: "mean", axes: [1], keep: false }, ordinary("int64", [2, 4])),
    declined("arg-reduce max float32", { kind: "arg", function: "max", axis: 1, last: false }, x),
    declined("cumulative sum float32", { kind: "cumulative", function: "sum", axis: 1, exclusive: false, reverse: false }, x),
    declined("top-k float32", { kind: "top-k", axis: 2, count: 2, largest: true }, x),
    declined("pool2d max", { kind: "max-pool", ...pool, columnMajor: false }, image),
    positionsOfPool(),
    declined("pool2d average", { kind: "average-pool", ...pool, countPadding: true }, image),
    declined("conv2d", { kind: "convolution", groups: 1, ...plane }, image, weights),
    declined(
      "conv2d",
      { kind: "convolution", groups: 1, ...plane, activation: "relu" },
      ordinary("int32", [1, 2, 4, 5]),
      ordinary("int32", [2, 2, 2, 3], 2),
    ),
    declined("interleave", { kind: "convolution-transpose", groups: 1, outputPads: [0, 0], ...plane }, image, weights),
    declined("strided-copy", { kind: "concat", axis: 0 }, strings("a", "b"), strings("c")),
    declined("strided-copy", { kind: "slice", starts: [1], steps: [1], sizes: [1] }, strings("a", "b")),
    declined("strided-copy", { kind: "pad", mode: "reflect", before: [3], after: [0] }, ordinary("float32", [3])),
    declined("strided-copy", { kind: "pad", mode: "wrap", before: [0], after: [4] }, ordinary("float32", [3])),
    declined("gather", { kind: "gather", axis: 0 }, strings("a", "b"), int64Literal([1, 0])),
    declined("gather-elements", { kind: "gather-elements", axis: 0 }, strings("a", "b"), int64Literal([1])),
    declined("gather-blocks", { kind: "gather-nd", batchAxes: 0 }, strings("a", "b"), int64Literal([1], [1, 1])),
    declined(
      "scatter-elements",
      { kind: "scatter-elements", axis: 0, reduction: "none" },
      strings("a", "b"),
      int64Literal([1]),
      strings("c"),
    ),
    declined(
      "scatter-elements add float32",
      { kind: "scatter-elements", axis: 0, reduction: "add" },
      ordinary("float64", [2, 2]),
      at,
      ordinary("float64", [2, 2], 2),
    ),
    declined(
      "scatter-blocks",
      { kind: "scatter-nd", reduction: "none" },
      strings("a", "b"),
      int64Literal([1], [1, 1]),
      strings("c"),
    ),
    declined(
      "scatter-blocks add float32",
      { kind: "scatter-nd", reduction: "add" },
      ordinary("float64", [2, 2]),
      at,
      ordinary("float64", [2], 2),
    ),
    declined("subtract-zero-point", { kind: "subtract-zero-point" }, ordinary("uint8", [3, 5]), toLiteral("uint8", [], [7])),
    declined(
      "quantize",
      { kind: "quantize" },
      ordinary("float32", [3, 5]),
      toLiteral("float32", [], [0.05]),
      toLiteral("uint8", [], [7]),
    ),
    declined("quantization-range", { kind: "quantization-range" }, ordinary("float64", [3, 5])),
    declined("integer-matmul", { kind: "integer-matmul" }, ordinary("int16", [3, 4]), ordinary("int32", [4, 5])),
    declined("integer-matmul", { kind: "integer-matmul" }, ordinary("int16", [3, 5]), { constant: ordinary("int32", [5, 4]) }),
    declined("integer-matmul", { kind: "integer-matmul" }, ordinary("int16", [3, 2]), {
      constant: toLiteral("int32", [2, 2], [-200, 1, 2, 200]),
    }),
    declined("integer-matmul", { kind: "integer-matmul" }, ordinary("int16", [3, 2]), {
      constant: toLiteral("int32", [2, 2], [-300, 0, -256, -60]),
    }),
    declined("integer-matmul", { kind: "integer-matmul" }, ordinary("int16", [3, 2]), {
      constant: toLiteral("int32", [2, 2], [-100, 0, 156, -60]),
    }),
    single("integer-matmul", { kind: "integer-matmul" }, [
      ordinary("int16", [3, 2]),
      { constant: toLiteral("int32", [2, 2], [-255, 0, -3, -60]) },
    ]),
  ];
}

/** Indices and updates whose shapes do not match, which inference does not refuse: kernels would read and write elements that are not there. */
export function refusedCases(): readonly CheckCase[] {
  const x = ordinary("float32", [3, 4]);
  const refused = (name: string, operation: Operation, ...inputs: readonly Literal[]): CheckCase => ({
    ...single(name, operation, inputs),
    isDeclined: true,
    isRefused: true,
  });
  const scatter = { kind: "scatter-elements", axis: 0, reduction: "none" } as const;
  return [
    refused("scatter-elements", scatter, x, int64Literal([1, 0]), toLiteral("float32", [2], [1, 2])),
    refused("scatter-elements", scatter, toLiteral("float32", [], [1]), int64Literal([0], []), toLiteral("float32", [], [2])),
    refused("scatter-elements", scatter, x, int64Literal([1, 0], [2, 1]), toLiteral("float32", [1, 2], [1, 2])),
    refused("scatter-elements", scatter, x, int64Literal([1, 0, 1, 2, 1], [1, 5]), ordinary("float32", [1, 5])),
    refused("gather-elements", { kind: "gather-elements", axis: 0 }, x, int64Literal([1, 0, 1, 2, 1], [1, 5])),
    refused(
      "scatter-blocks",
      { kind: "scatter-nd", reduction: "none" },
      x,
      int64Literal([1, 0], [2, 1]),
      ordinary("float32", [1, 4]),
    ),
  ];
}

/** A max-pool whose positions are read, which no kernel computes. */
function positionsOfPool(): CheckCase {
  const builder = new CaseBuilder();
  const window = { kernel: [2, 2], strides: [1, 1], dilations: [1, 1], pads: [0, 0, 0, 0], ceil: false, columnMajor: false };
  const [, positions] = builder.node({ kind: "max-pool", ...window }, [builder.input(ordinary("float32", [1, 2, 4, 5]))]);
  builder.node({ kind: "arg", function: "max", axis: 3, last: false }, [required(positions, "the positions")]);
  return { name: "pool2d max", nodes: builder.nodes, inputs: builder.inputs, tolerance: 0, isDeclined: true };
}

function strings(...data: readonly string[]): Literal {
  return { dataType: "string", shape: [data.length], data };
}
