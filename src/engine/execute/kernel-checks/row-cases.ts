/** Checks of kernels that work along axes or in windows, or move elements. */
import type { ElementType } from "../../ir/element-types.ts";
import { type Literal, toLiteral } from "../../ir/literal.ts";
import { type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { indices, ordinary, withSpecialRow } from "./check-values.ts";

/** Max and average pooling. */
export function poolingCases(): readonly CheckCase[] {
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

/** Softmax over the last axis and over an inner one. */
export function softmaxCases(): readonly CheckCase[] {
  const masked = toLiteral("float32", [3, 7], [...Array<number>(8).fill(0.5), ...Array<number>(13).fill(-Infinity)]);
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

/** Layer normalization. */
export function normCases(): readonly CheckCase[] {
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

function getTolerance(type: ElementType): number {
  return type === "float32" ? floatTolerance : 0;
}

/** Reductions of each function and type. */
export function reduceCases(): readonly CheckCase[] {
  return (["sum", "product", "min", "max", "mean"] as const).flatMap((name) =>
    numericTypes.flatMap((type) => {
      if (name === "mean" && type !== "float32") return [];
      const family = type === "int64" ? "reduce-wide" : "reduce";
      const reduce = (axis: number): CheckCase =>
        single(
          `${family} ${name} ${type}`,
          { kind: "reduce", function: name, axes: [axis], keep: false },
          [numbers(type, [5, 9])],
          getTolerance(type),
        );
      return [reduce(0), reduce(1)];
    }),
  );
}

/** Arg-max, cumulative operations and top-k. */
export function scanCases(): readonly CheckCase[] {
  const argReduce = (name: "max" | "min"): CheckCase =>
    single(`arg-reduce ${name} float32`, { kind: "arg", function: name, axis: 1, last: false }, [withSpecialRow([3, 9])]);
  const scans = numericTypes.flatMap((type) => [
    ...(["sum", "product"] as const).map((name) =>
      single(
        `cumulative ${name} ${type}`,
        { kind: "cumulative", function: name, axis: 1, exclusive: true, reverse: true },
        [numbers(type, [3, 9])],
        getTolerance(type),
      ),
    ),
    single(`top-k ${type}`, { kind: "top-k", axis: 1, count: 4, largest: true }, [ordinary(type, [3, 9])]),
  ]);
  return [argReduce("max"), argReduce("min"), ...scans];
}

/** Scatters with each reduction and type. */
export function scatterCases(): readonly CheckCase[] {
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

/** Copies with strides, and gathers. */
export function movementCases(): readonly CheckCase[] {
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
