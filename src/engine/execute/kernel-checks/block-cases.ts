/** Checks of products with quantized weights, and of rows of quantized tables. */
import { answerTable } from "../../../formats/answers/answer-table.ts";
import { decodeBase64 } from "../../../platform/base64.ts";
import { blockFormats, decodeTensor } from "../../../formats/gguf/blocks/index.ts";
import { decodeBlocks } from "../../../formats/gguf/blocks/block-format.ts";
import { scaledBlockName, scaledBlocks } from "../../../formats/scaled-blocks/block-formats.ts";
import { encodeTensor } from "../../../formats/gguf/blocks/encode.ts";
import { required } from "../../../contract/checked.ts";
import { LazyStorage, type QuantizedBlocks } from "../../ir/lazy-storage.ts";
import { int64Literal, type Literal, toLiteral, literalWithStorage, toNumbers } from "../../ir/literal.ts";
import type { Activation, LinearEpilogue } from "../../ir/operations.ts";
import { type CaseInput, type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { checkIndices, ordinary } from "./check-values.ts";

/** Activations are rounded to 16 bits, or to 8 for ternary weights, which the interpreter does not do. The weights are small. */
const tolerance = 1e-3;

const activations: readonly Exclude<Activation, "none">[] = ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"];

type QuantizedType = "Q8_0" | "Q4_0" | "Q4_K" | "TQ2_0";

/** Blocks of a matrix, and their values row by row. */
interface Encoded {
  readonly blocks: QuantizedBlocks;
  readonly values: Float32Array;
}

/** Quantizes a matrix [rows, columns]. */
function encode(type: QuantizedType, rows: number, columns: number): Encoded {
  const floats = Float32Array.from(toNumbers(ordinary("float32", [rows, columns], 2)), (value) => value / columns);
  const bytes = type === "Q4_K" ? superBlocks((rows * columns) / 256) : encodeTensor(type, floats);
  const blocks = { type, format: required(blockFormats[type], type), rows, columns, read: () => bytes };
  return { blocks, values: decodeTensor(type, bytes, rows * columns) };
}

/** Blocks in Q4_K with the codes of the known blocks, and other scales and minima. A search for the scales of given values takes long. */
function superBlocks(count: number): Uint8Array {
  const known = decodeBase64(required(answerTable.blocks["Q4_K"], "blocks in Q4_K").blocks);
  const blockBytes = 144;
  const bytes = new Uint8Array(count * blockBytes);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block < count; block += 1) {
    bytes.set(known.subarray((block % 2) * blockBytes, ((block % 2) + 1) * blockBytes), block * blockBytes);
    view.setUint16(block * blockBytes, 0x0800 + 17 * block, true); // float16, from 2^-13 on
    view.setUint16(block * blockBytes + 2, 0x0c00 + 13 * block, true);
  }
  return bytes;
}

/** A matrix in blocks of 16 with a scale and a minimum each, as MatMulNBits may have it. */
function quantizedInHalves(rows: number, columns: number): Literal {
  const shape = { bits: 4, elements: 16, hasMins: true } as const;
  const format = scaledBlocks(shape);
  const bytes = Uint8Array.from(
    { length: ((rows * columns) / 16) * format.bytes },
    (_, index) => Math.imul(index + 7, 0x9e3779b1) >>> 24,
  );
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += format.bytes) {
    view.setFloat32(at, ((at % 7) - 3) / columns, true);
    view.setFloat32(at + 4, ((at % 5) - 2) / columns, true);
  }
  const values = new Float32Array(rows * columns);
  decodeBlocks(format, bytes, values);
  return literals({ blocks: { type: scaledBlockName(shape), format, rows, columns, read: () => bytes }, values }).matrix;
}

/** Literals of a matrix and of its transpose, for one case: kernels release them when they have packed them, and are selected for the blocks of one case. */
function literals({ blocks: shared, values }: Encoded): { readonly table: Literal; readonly matrix: Literal } {
  const blocks = { ...shared };
  const { rows, columns } = blocks;
  const swapped = Float32Array.from(
    { length: values.length },
    (_, index) => values[(index % rows) * columns + Math.floor(index / rows)] ?? 0,
  );
  const matrix = literalWithStorage(new LazyStorage(undefined, { materialize: () => swapped }, blocks), "float32", [
    columns,
    rows,
  ]);
  const storage = new LazyStorage(undefined, { materialize: () => values }, { ...blocks, transposed: matrix });
  return { matrix, table: literalWithStorage(storage, "float32", [rows, columns]) };
}

/** Rows of which each has one large element in every group, at each place of a vector and of several vectors. */
function withPeaks(rows: number, columns: number): Literal {
  const values = Array.from(toNumbers(ordinary("float32", [rows, columns])), (value, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    return column % 32 === (row * 2 + (Math.floor(column / 32) % 2)) % 32 ? 5 * Math.sign(value) : value / 2;
  });
  return toLiteral("float32", [rows, columns], values);
}

/** Linear layers with quantized weights of each structure, and with each activation. */
export function blockProductCases(): readonly CheckCase[] {
  const encoded = new Map<QuantizedType, Encoded>(); // encoding takes most of the time
  const matrix = (type: QuantizedType): Literal => {
    const known = encoded.get(type) ?? encode(type, 21, 256);
    encoded.set(type, known);
    return literals(known).matrix;
  };
  const linear = (
    name: string,
    type: QuantizedType,
    rows: number,
    activation: Activation = "none",
    weights: Literal = matrix(type),
    residual: LinearEpilogue["residual"] = "none",
  ): CheckCase =>
    single(
      name,
      { kind: "linear", bias: residual === "none", activation, residual },
      [
        ordinary("float32", [rows, 256]),
        { constant: weights },
        residual === "none" ? ordinary("float32", [21], 3) : ordinary("float32", [rows, 21], 5),
      ],
      tolerance,
    );
  return [
    linear("quantize-activations", "Q8_0", 3),
    linear("quantize-activation-bytes", "TQ2_0", 3),
    ...(["quantize-activations", "quantize-activation-bytes"] as const).map((name) =>
      single(
        name,
        { kind: "linear", bias: false, activation: "none", residual: "none" },
        [withPeaks(16, 256), { constant: matrix(name === "quantize-activations" ? "Q8_0" : "TQ2_0") }],
        4 * tolerance,
      ),
    ),
    ...(["Q8_0", "Q4_0", "Q4_K", "TQ2_0"] as const).flatMap((type) => [
      linear("block-matmul", type, 1),
      linear("block-matmul", type, 6),
    ]),
    ...[1, 6].map((rows) => linear("block-matmul", "Q4_0", rows, "none", quantizedInHalves(21, 256))),
    linear("block-matmul", "Q4_K", 9, "none", matrix("Q4_K"), "after-activation"),
    linear("block-matmul", "Q8_0", 1, "none", matrix("Q8_0"), "before-activation"),
    ...activations.map((activation) => linear(`block-matmul ${activation}`, "Q4_0", 5, activation)),
  ];
}

/** Quantized weights in the shapes that take another path to the same kernels, and multiplied by functions that read them as they are stored. */
export function blockLoweringCases(): readonly CheckCase[] {
  const encoded = encode("Q8_0", 11, 64);
  const table = (): CaseInput => ({ constant: literals(encoded).table });
  const reshaped = literals(encoded).table;
  const scalar = { id: "matmul_Q8_0_Scalar", kind: "scalar" } as const;
  const whole = encode("Q8_0", 16, 64);
  const linear = (
    shape: readonly number[],
    { bias, activation, residual }: LinearEpilogue,
    weights: Encoded = encoded,
  ): CheckCase => {
    const columns = weights.blocks.rows;
    const inputs = [
      ordinary("float32", [...shape, 64]),
      { constant: literals(weights).matrix },
      ...(bias ? [ordinary("float32", [columns], 3)] : []),
      ...(residual === "none" ? [] : [ordinary("float32", [...shape, columns], 5)]),
    ];
    const name = activation === "none" ? "block-matmul" : `block-matmul ${activation}`;
    return single(name, { kind: "linear", bias, activation, residual }, inputs, tolerance);
  };
  const byHost = (each: CheckCase): CheckCase => ({ ...each, blockKernel: scalar });
  return [
    linear([2, 3], { bias: true, activation: "none", residual: "none" }),
    byHost(linear([2, 3], { bias: true, activation: "none", residual: "before-activation" })),
    byHost(linear([3], { bias: false, activation: "relu", residual: "none" })),
    ...(["none", "before-activation", "after-activation"] as const).flatMap((residual) =>
      (residual === "none" ? [encoded, whole] : [whole]).map((weights): CheckCase => ({
        ...linear([2, 3], { bias: false, activation: "sigmoid", residual }, weights),
        machineLevel: "AVX2",
      })),
    ),
    ...[int64Literal([3, 10, 0, -1]), checkIndices([2, 2], 11, "int32")].map((which) =>
      byHost(single("gather-rows", { kind: "gather", axis: 0 }, [table(), which])),
    ),
    single("gather-rows", { kind: "gather", axis: 0 }, [table(), checkIndices([2, 2], 11, "int32")]),
    single("gather", { kind: "gather", axis: 1 }, [table(), int64Literal([3, 10, 0, -1])]),
    single("gather", { kind: "gather", axis: 0 }, [
      { constant: literalWithStorage(required(reshaped.storage, "the storage of a table"), "float32", [22, 32]) },
      int64Literal([3, 21, 0, -1]),
    ]),
  ];
}

/** Rows of quantized tables: of each format, from its known answers, and of tables with other columns. */
export function blockGatherCases(): readonly CheckCase[] {
  const known = Object.entries(answerTable.blocks).map(([type, { blocks: base64 }]): Encoded => {
    const [rows, columns] = [2, answerTable.elements / 2];
    const bytes = decodeBase64(base64);
    const blocks = { type, format: required(blockFormats[type], type), rows, columns, read: () => bytes };
    return { blocks, values: decodeTensor(type, bytes, answerTable.elements) };
  });
  const gather = (encoded: Encoded, indices: readonly number[], tolerance: number): CheckCase =>
    single("gather-rows", { kind: "gather", axis: 0 }, [{ constant: literals(encoded).table }, int64Literal(indices)], tolerance);
  return [
    ...(["Q8_0", "Q4_K"] as const).map((type) => gather(encode(type, 11, 256), [3, 10, 0, -1], 0)),
    ...known.map((encoded) => gather(encoded, [1, 0, -1], floatTolerance)),
  ];
}
