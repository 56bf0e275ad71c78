/** Checks of products of quantized activations and integer weights. */
import { at, required } from "../../../contract/checked.ts";
import type { Value } from "../../ir/graph.ts";
import { toLiteral, toNumbers } from "../../ir/literal.ts";
import type { Activation, Operation } from "../../ir/operations.ts";
import { CaseBuilder, type CaseInput, type CheckCase, floatTolerance } from "./case-builder.ts";
import { ordinary } from "./check-values.ts";

const activations: readonly Exclude<Activation, "none">[] = ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"];

const scale = toLiteral("float32", [], [0.037]);
const zeroPoint = toLiteral("uint8", [], [117]);

/** Activations that are quantized to rows of bytes, for products of them. */
export function quantizedRowCases(): readonly CheckCase[] {
  return [3, 4, 1].map((rows) => ({
    ...integerProduct("byte-matmul", rows, undefined, { depth: 34 + 4 * rows }),
    name: "quantize-rows",
  }));
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
