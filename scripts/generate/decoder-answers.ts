/**
 * Writes src/formats/answers/answer-table.ts: known answers of what reads and writes quantized weights. The decoders' come from gguf-py
 * (../shared/data/gguf-block-types; of IQ1_M, which is not there, the digest that gguf-py gives is compared first), from Microsoft's kernels as
 * test/gguf/fixtures/bitnet-tables.ts has them, and from the definition of I2_S, which is compared with ../shared/data/gguf-bitnet-i2_s. What encoders write is taken
 * as it is, after the errors of the decoded values were found to be as small as documented.
 *
 *     npx tsx scripts/generate/decoder-answers.ts
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import {
  i2sAnswerShape,
  publishedTileDigest,
  tableAnswerBytes,
  tableAnswerShapes,
} from "../../src/formats/answers/bitnet-answers.ts";
import { encodedDigest, encodedValues } from "../../src/formats/answers/encoder-answers.ts";
import { getLayout } from "../../src/formats/answers/decoder-answers.ts";
import { computePatternDigest, patternBytes } from "../../src/formats/answers/pattern.ts";
import { blockFormats, decodeTensor } from "../../src/formats/gguf/blocks/index.ts";
import type { I2SLayout } from "../../src/formats/gguf/blocks/i2s.ts";
import { readGguf } from "../../src/formats/gguf/read-gguf.ts";
import { getPacking, packValues } from "../../src/formats/scaled-blocks/encode.ts";
import { decodeBlocks } from "../../src/formats/gguf/blocks/block-format.ts";
import { multiplyTables } from "../../test/gguf/fixtures/bitnet-tables.ts";

const elements = 512;
/** The first row begins with zeros. */
const row = 1;
const rowElements = 256;
const data = new URL("../../../shared/data/", import.meta.url);

/** Stops where two things that must be equal are not. */
function requireEqual(a: unknown, b: unknown, what: string): void {
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${what}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
}

const base64 = (bytes: Uint8Array): string => JSON.stringify(Buffer.from(bytes).toString("base64"));
const floatsOf = (bytes: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);

/** Blocks of all types and the digests of their values. */
async function blockAnswers(): Promise<readonly string[]> {
  const path = new URL("gguf-block-types/block-types.gguf", data);
  const [bytes, text, { tensors }] = await Promise.all([
    readFile(path),
    readFile(new URL("gguf-block-types/goldens.json", data), "utf8"),
    readGguf(path.pathname, path.pathname),
  ]);
  const goldens = JSON.parse(text) as { tensors: readonly { type: string; tensor: string; dequantized: string }[] };
  const lines = goldens.tensors.flatMap(({ type, tensor: name, dequantized }): string[] => {
    const [format, tensor] = [blockFormats[type], tensors.find((each) => each.name === name)];
    if (format === undefined || tensor === undefined) return [];
    const start = tensor.start + (row * rowElements * format.bytes) / format.elements;
    const blocks = bytes.subarray(start, start + (elements / format.elements) * format.bytes);
    const values = floatsOf(Buffer.from(dequantized, "base64")).subarray(row * rowElements, row * rowElements + elements);
    return [
      `    ${type}: { blocks: ${base64(blocks)}, digest: ${computePatternDigest(values)}, layout: ${JSON.stringify(getLayout(format))} },`,
    ];
  });
  return [...lines, iq1mAnswer()];
}

/** gguf.quants.dequantize(np.array([((i + 1) * 0x9e3779b1 & 0xffffffff) >> 24 for i in range(56 * 8)], np.uint8).reshape(8, 56), IQ1_M) */
function iq1mAnswer(): string {
  const bytes = Uint8Array.from({ length: 56 * 8 }, (_, index) => Math.imul(index + 1, 0x9e3779b1) >>> 24);
  const values = decodeTensor("IQ1_M", bytes, 8 * 256);
  const sha256 = createHash("sha256").update(new Uint8Array(values.buffer)).digest("hex");
  requireEqual(sha256, "38a61c2a863f3b8f4d0ba8a05d30c8cab49d15a100eb11da8c8346af3a3cd300", "IQ1_M");
  const first = [0, 1, 2, 3, 4, 5, 6].find((block) => {
    const largest = (of: number): number => Math.max(...values.subarray(of * 256, of * 256 + 256).map(Math.abs));
    return [block, block + 1].every((each) => largest(each) > 1e-3 && largest(each) < 1e6);
  });
  if (first === undefined) throw new Error("IQ1_M: no two blocks with ordinary values");
  const blocks = bytes.subarray(first * 56, first * 56 + 112);
  return `    IQ1_M: { blocks: ${base64(blocks)}, digest: ${computePatternDigest(values.subarray(first * 256, first * 256 + 512))}, layout: ${JSON.stringify(getLayout(blockFormats["IQ1_M"]!))} },`;
}

/** A matrix in I2_S, and the digests of its values in each layout, by the definition of the layouts in ggml-bitnet-mad.cpp. */
async function i2sAnswer(): Promise<readonly string[]> {
  const codeAt: Readonly<Record<I2SLayout, (bytes: Uint8Array, row: number, column: number, columns: number) => number>> = {
    x86: (bytes, row, column, columns) => {
      const element = row * columns + column;
      return (bytes[Math.floor(element / 128) * 32 + (element % 32)]! >> (6 - 2 * Math.floor((element % 128) / 32))) & 3;
    },
    arm: (bytes, row, column, columns) => {
      const element = row * columns + column;
      return (bytes[Math.floor(element / 64) * 16 + (element % 16)]! >> (6 - 2 * Math.floor((element % 64) / 16))) & 3;
    },
    "x86-interleaved": (bytes, row, column, columns) =>
      (bytes[Math.floor(row / 4) * columns + column]! >> (6 - 2 * (row % 4))) & 3,
  };
  const valuesOf = (layout: I2SLayout, bytes: Uint8Array, rows: number, columns: number, scale: number): Float32Array =>
    Float32Array.from(
      { length: rows * columns },
      (_, index) => (codeAt[layout](bytes, Math.floor(index / columns), index % columns, columns) - 1) * scale,
    );

  const path = new URL("gguf-bitnet-i2_s/bitnet-i2_s.gguf", data);
  const golden = JSON.parse(await readFile(new URL("gguf-bitnet-i2_s/goldens.json", data), "utf8")) as {
    ternary: number[][];
  };
  const { tensors } = await readGguf(path.pathname, path.pathname);
  const tensor = tensors.find(({ type }) => type === "I2_S")!;
  const stored = (await readFile(path)).subarray(tensor.start);
  requireEqual([...valuesOf("x86", stored, 24, 256, 1)], golden.ternary.flat(), "I2_S");

  const { rows, columns } = i2sAnswerShape;
  const codes = patternBytes((rows * columns) / 4, 3).map((byte) => {
    let code = 0;
    for (let pair = 0; pair < 4; pair += 1) code |= (((byte >> (2 * pair)) & 3) % 3) << (2 * pair);
    return code;
  });
  const scale = Math.fround(0.0375);
  const bytes = new Uint8Array(codes.length + 32);
  bytes.set(codes);
  new DataView(bytes.buffer).setFloat32(codes.length, scale, true);
  const digests = (["x86", "x86-interleaved", "arm"] as const).map(
    (layout) => `"${layout}": ${computePatternDigest(valuesOf(layout, bytes, rows, columns, scale))}`,
  );
  return [`    bytes: ${base64(bytes)},`, `    digests: { ${digests.join(", ")} },`];
}

/** Digests of the weights of matrices in TL1 and TL2, from the products of Microsoft's kernels with each unit vector. */
function tableAnswers(): readonly string[] {
  return (["TL1", "TL2"] as const).map((type) => {
    const digests = tableAnswerShapes[type].map((shape) => {
      const { rows, columns } = shape;
      const bytes = tableAnswerBytes(type, shape);
      const weights = new Int8Array(rows * columns);
      for (let column = 0; column < columns; column += 1) {
        const unit = new Int8Array(columns);
        unit[column] = 1;
        for (const [index, value] of multiplyTables(type, bytes, unit, shape).entries())
          weights[index * columns + column] = value;
      }
      return computePatternDigest(weights);
    });
    return `    ${type}: [${digests.join(", ")}],`;
  });
}

const encodable = ["Q8_0", "Q4_0", "Q4_K", "TQ2_0", "I2_S", "F16", "F32"] as const;

/** Digests of packed values, whose errors are as small as documented. */
function packingAnswers(): readonly string[] {
  return (["int8", "int4"] as const).map((type) => {
    const values = encodedValues();
    const packed = packValues(type, values);
    const decoded = new Float32Array(values.length);
    const { format, maxError } = getPacking(type);
    decodeBlocks(format, packed, decoded);
    for (const [index, value] of values.entries()) {
      const block = values.subarray(index - (index % 32), index - (index % 32) + 32);
      const largest = Math.max(...block.map(Math.abs));
      const allowed = largest < 2 ** -120 ? largest : maxError * largest * (1 + 1e-6);
      if (!(Math.abs((decoded[index] ?? Number.NaN) - value) <= allowed))
        throw new Error(`${type}: ${value} became ${decoded[index]}`);
    }
    return `    ${type}: ${computePatternDigest(packed)},`;
  });
}

const lines = [
  `  elements: ${elements},`,
  "  blocks: {",
  ...(await blockAnswers()),
  "  },",
  "  i2s: {",
  ...(await i2sAnswer()),
  "  },",
  "  tables: {",
  ...tableAnswers(),
  "  },",
  `  tiles: { TL1: ${publishedTileDigest("TL1")}, TL2: ${publishedTileDigest("TL2")} },`,
  "  encoders: {",
  ...encodable.map((type) => `    ${type}: ${encodedDigest(type)},`),
  "  },",
  "  packings: {",
  ...packingAnswers(),
  "  },",
  `  packingErrors: { int8: ${Math.fround(0.5 / 127)}, int4: ${Math.fround(1.4 / 8.4)} },`,
];
const text = `/** Made by scripts/generate/decoder-answers.ts; not to be edited. */
import type { AnswerTable } from "./known-answers.ts";

export const answerTable: AnswerTable = {
${lines.join("\n")}
};
`;
await writeFile(new URL("../../src/formats/answers/answer-table.ts", import.meta.url), text);
