/** Checks of matrix products, convolutions and quantized layers. */
import { at, required } from "../../../contract/checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import type { Value } from "../../ir/graph.ts";
import { type Literal, toLiteral, toNumbers } from "../../ir/literal.ts";
import type { Activation, Operation } from "../../ir/operations.ts";
import { CaseBuilder, type CaseInput, type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { ordinary, withSpecialRow } from "./check-values.ts";

const epilogue = { bias: false, activation: "none", residual: "none" } as const;
const activations: readonly Exclude<Activation, "none">[] = ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"];

/** Linear layers of one row, which has code of its own, and of several, with each number of panels of columns, activation and residual. */
export function linearCases(): readonly CheckCase[] {
  const linear = (
    name: string,
    [rows, depth, columns]: readonly [rows: number, depth: number, columns: number],
    more: Partial<Extract<Operation, { readonly kind: "linear" }>> = {},
  ): CheckCase =>
    single(
      name,
      { kind: "linear", ...epilogue, ...more },
      [
        rows === 1 ? ordinary("float32", [1, depth]) : withSpecialRow([rows, depth]),
        { constant: ordinary("float32", [depth, columns], 2) },
        ...(more.bias === true ? [ordinary("float32", [columns], 3)] : []),
        ...(more.residual === undefined || more.residual === "none" ? [] : [ordinary("float32", [rows, columns], 5)]),
      ],
      floatTolerance,
    );
  return [
    ...[5, 21, 24, 29, 32].map((columns) => linear("matmul", [1, 37, columns])),
    linear("matmul", [1, 64, 45], { bias: true, residual: "before-activation" }),
    ...[2, 13].flatMap((rows) => [21, 41].map((columns) => linear("matmul", [rows, 37, columns]))),
    linear("matmul", [2100, 64, 1]), // more rows than one block of the cache
    linear("matmul", [8, 1, 40]),
    linear("matmul", [6, 64, 16]),
    linear("matmul", [18, 5, 7], { bias: true }),
    linear("matmul", [1, 3, 77], { bias: true, residual: "after-activation" }),
    linear("matmul", [3, 37, 21], { bias: true, residual: "before-activation" }),
    linear("matmul", [5, 37, 21], { bias: true, residual: "after-activation" }),
    ...activations.flatMap((activation) =>
      [1, 5].map((rows) => linear(`matmul ${activation}`, [rows, 37, 21], { bias: true, activation })),
    ),
  ];
}

/** Products of two computed matrices, permuted and broadcast. */
export function batchedMatmulCases(): readonly CheckCase[] {
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
    ...[1, 2].flatMap((rows) =>
      [4, 11].flatMap((depth) => [
        // Few rows with columns that are contiguous, and with columns that are not: the scores and the values of one query.
        single(
          "batched-matmul",
          { kind: "fused-matmul", a: plain, b: swapped, result: plain, alpha: 0.5 },
          [ordinary("float32", [1, 2, rows, depth]), ordinary("float32", [1, 2, 7, depth], 2)],
          floatTolerance,
        ),
        single(
          "batched-matmul",
          { kind: "matmul" },
          [ordinary("float32", [1, 2, rows, depth]), ordinary("float32", [1, 2, depth, 21], 2)],
          floatTolerance,
        ),
      ]),
    ),
  ];
}

/** Convolutions of one to three axes, depthwise and transposed ones. */
export function convolutionCases(): readonly CheckCase[] {
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

const scale = toLiteral("float32", [], [0.037]);
const zeroPoint = toLiteral("uint8", [], [117]);

/** Dynamic quantization of activations: rows of each length, values that are clamped, and ranges on one side of 0. */
export function quantizationCases(): readonly CheckCase[] {
  const range = (values: Literal): CheckCase =>
    single("quantization-range", { kind: "quantization-range" }, [values], floatTolerance);
  const quantize = (shape: readonly number[], by: Literal, zero: Literal): CheckCase =>
    single("quantize", { kind: "quantize" }, [ordinary("float32", shape), by, zero]);
  const integers = (type: "uint8" | "int8", shape: readonly number[], ...zero: readonly Literal[]): CheckCase =>
    single("subtract-zero-point", { kind: "subtract-zero-point" }, [ordinary(type, shape), ...zero]);
  return [
    ...[19, 17, 16, 18, 2].map((columns) => range(ordinary("float32", [3, columns]))),
    range(toLiteral("float32", [6], [3, 2.5, 7, 9.25, 4, 5])),
    range(toLiteral("float32", [5], [-3, -2.5, -7, -9.25, -4])),
    range(toLiteral("float32", [9], Array<number>(9).fill(0))),
    range(withSpecialRow([2, 9])),
    quantize([2, 3, 6], scale, zeroPoint),
    quantize([3, 18], scale, zeroPoint),
    quantize([2, 20], toLiteral("float32", [], [0.004]), toLiteral("uint8", [], [200])),
    quantize([3, 2], toLiteral("float32", [], [0.3]), toLiteral("uint8", [], [0])),
    integers("uint8", [3, 18], zeroPoint),
    integers("uint8", [2, 16]),
    integers("int8", [2, 3, 4]),
    integers("int8", [3, 18]),
    integers("int8", [2, 22], toLiteral("int8", [], [-5])),
    ...[3, 4, 1].map((rows) => ({
      ...integerProduct("byte-matmul", rows, undefined, { depth: 34 + 4 * rows }),
      name: "quantize-rows",
    })),
  ];
}

interface IntegerProductOptions {
  readonly depth?: number;
  readonly largestWeight?: number;
  /** Whether the activations are quantized in the graph. Default: they are for byte-matmul alone. */
  readonly isQuantized?: boolean;
  /** Added to the weights. Default: 0. */
  readonly weightShift?: number;
  readonly columns?: number;
  readonly bias?: boolean;
  readonly residual?: Extract<Operation, { readonly kind: "integer-linear" }>["residual"];
  /** Scales of the columns: one for each, or one. */
  readonly scales?: number;
  /** Makes all activations, without their zero point, and all weights equal; those of all rows but `row` 0. Default: they differ. */
  readonly equal?: { readonly activation: number; readonly weight: number; readonly row?: number };
}

/**
 * A product of quantized activations [rows, 38] and integer weights [38, 21]; with an activation, also their epilogue. Activations that are quantized
 * in the graph are stored as bytes where the machine has an 8-bit dot product, those that are inputs as int16.
 */
function integerProduct(
  family: "integer-matmul" | "byte-matmul",
  rows: number,
  activation?: Activation,
  {
    depth = 38,
    largestWeight = 20,
    isQuantized = family === "byte-matmul",
    weightShift = 0,
    columns = 21,
    bias = true,
    residual = "none",
    scales = columns,
    equal,
  }: IntegerProductOptions = {},
): CheckCase {
  const builder = new CaseBuilder();
  const quantized = (): Value => {
    const factor = largestWeight < 60 ? 1 : 2.6;
    const values = Array.from(toNumbers(ordinary("float32", [rows, depth])), (value, index) => {
      if (equal === undefined) return value * factor;
      const isQuiet = equal.row !== undefined && equal.row !== Math.floor(index / depth);
      return isQuiet ? 0 : equal.activation * 0.037;
    });
    const operands = [toLiteral("float32", [rows, depth], values), scale, zeroPoint].map((each) => builder.input(each));
    return at(builder.node({ kind: "quantize" }, operands), 0);
  };
  const x = isQuantized ? quantized() : builder.input(ordinary("int16", [rows, depth]));
  const integers = Array.from(
    toNumbers(ordinary("int32", [depth, columns], 2)),
    (value) => equal?.weight ?? Math.trunc((value * largestWeight) / 20 + weightShift),
  );
  const weights = builder.input({ constant: toLiteral("int32", [depth, columns], integers) });
  const name = activation === undefined || activation === "none" ? family : `${family} ${activation}`;
  if (activation === undefined) builder.node({ kind: "integer-matmul" }, [x, weights]);
  else {
    const columnScale = {
      constant: toLiteral(
        "float32",
        [scales],
        Array.from({ length: scales }, (_, column) => 0.01 + column / 999),
      ),
    };
    const added = [
      scale,
      columnScale,
      ...(bias ? [ordinary("float32", [columns], 3)] : []),
      ...(residual === "none" ? [] : [ordinary("float32", [rows, columns], 5)]),
    ].map((each) => builder.input(each));
    builder.node({ kind: "integer-linear", bias, activation, residual }, [x, weights, ...added]);
  }
  return { name, nodes: builder.nodes, inputs: builder.inputs, tolerance: activation === undefined ? 0 : floatTolerance };
}

/** Products of quantized activations and weights that do not fit the byte dot product: sums of neighbours overflow, or they span another range than int8. */
function wideWeightCases(): readonly CheckCase[] {
  const wide = (rows: number, more: IntegerProductOptions): CheckCase =>
    integerProduct("integer-matmul", rows, undefined, { isQuantized: true, ...more });
  return [
    wide(6, { depth: 66, columns: 24, largestWeight: 127 }),
    wide(5, { largestWeight: 60, weightShift: 100 }),
    wide(2, { largestWeight: 60, weightShift: -120, columns: 8 }),
    oneWidePair(),
  ];
}

/** A product in which the products of rows 2 and 3 of the weights overflow 16 bits when they are added, and no others. */
function oneWidePair(): CheckCase {
  const [depth, columns] = [8, 9];
  const builder = new CaseBuilder();
  const x = Array.from({ length: 2 * depth }, (_, index) => (index % depth === 2 || index % depth === 3 ? 5.1 : 0.4));
  const operands = [toLiteral("float32", [2, depth], x), scale, zeroPoint].map((each) => builder.input(each));
  const weights = Array.from({ length: depth * columns }, (_, index) => {
    const row = Math.floor(index / columns);
    return row === 2 || row === 3 ? 90 : 1;
  });
  const [quantized] = builder.node({ kind: "quantize" }, operands);
  builder.node({ kind: "integer-matmul" }, [
    required(quantized, "the quantized activations"),
    builder.input({ constant: toLiteral("int32", [depth, columns], weights) }),
  ]);
  return { name: "integer-matmul", nodes: builder.nodes, inputs: builder.inputs, tolerance: 0 };
}

/** Quantized activations that something else than a product with weights that fit bytes reads too: another product, or what casts them. */
function sharedActivationCases(): readonly CheckCase[] {
  const product = { kind: "integer-matmul" } as const;
  const shared = (name: string, shape: readonly number[], read: (builder: CaseBuilder, x: Value) => void): CheckCase => {
    const builder = new CaseBuilder();
    const operands = [ordinary("float32", shape), scale, zeroPoint].map((each) => builder.input(each));
    const x = at(builder.node({ kind: "quantize" }, operands), 0);
    read(builder, x);
    return { name, nodes: builder.nodes, inputs: builder.inputs, tolerance: 0 };
  };
  const weights = (scaledBy: number): CaseInput => ({
    constant: toLiteral(
      "int32",
      [40, 5],
      Array.from({ length: 200 }, (_, index) => ((index % 7) - 3) * scaledBy),
    ),
  });
  const cast = {
    kind: "elementwise",
    steps: [{ operation: { kind: "cast", to: "float32", saturate: false }, operands: [0] }],
  } as const;
  const small = { constant: toLiteral("int32", [2, 3], [1, -2, 3, 4, -5, 6]) };
  return [
    ...[1, 42].map((other) =>
      shared(other === 1 ? "byte-matmul" : "integer-matmul", [2, 3, 40], (builder, x) => {
        builder.node(product, [x, builder.input(weights(1))]);
        builder.node(product, [x, builder.input(weights(other))]);
      }),
    ),
    shared("integer-matmul", [3, 40], (builder, x) => {
      builder.node(product, [x, builder.input(weights(1))]);
      builder.node(cast, [x]);
    }),
    shared("integer-matmul", [40, 2], (builder, x) => void builder.node(product, [x, builder.input(small)])),
  ];
}

/** Products of quantized activations and integer weights. */
export function integerProductCases(): readonly CheckCase[] {
  const common = (["integer-matmul", "byte-matmul"] as const).flatMap((family) => [
    integerProduct(family, 2),
    integerProduct(family, 13),
    integerProduct(family, 5, "none"),
    integerProduct(family, 1, "none", { columns: 16, scales: 1, bias: false }),
    integerProduct(family, 9, "none", { columns: 41, residual: "after-activation" }),
    integerProduct(family, 4, "relu", { columns: 3, scales: 1, residual: "before-activation" }),
    integerProduct(family, 3, undefined, { columns: 30, depth: family === "byte-matmul" ? 44 : 2 }),
    // Weights so large that sums do not fit 16 bits, in runs with a rest.
    ...[1, 6].flatMap((rows) => [40, 202].map((depth) => integerProduct(family, rows, undefined, { depth, largestWeight: 60 }))),
    ...activations.map((activation) => integerProduct(family, 5, activation)),
  ]);
  // Sums of 32,800 in either lane, one step above the largest int16. The norms of a row and of a panel are 282.8 and 116, rounded up.
  const atLimit = [1, 3, 6].map((rows) =>
    integerProduct("byte-matmul", rows, undefined, { depth: 16, equal: { activation: 100, weight: 41 } }),
  );
  // The same in one row of a tile alone, whose norm must decide.
  const atLimitInOne = [0, 1, 2, 3, 5].map((row) =>
    integerProduct("byte-matmul", 6, undefined, { depth: 16, columns: 8, equal: { activation: 100, weight: 41, row } }),
  );
  return [...common, ...atLimit, ...atLimitInOne, ...wideWeightCases(), ...sharedActivationCases()];
}
