import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { needsData, sharedData } from "../../../../test/fixtures/shared-data.ts";
import { readGguf } from "../read-gguf.ts";
import { encodeTensor } from "./encode.ts";
import { blockFormats, decodeTensor, unpackedBlock } from "./index.ts";
import { decodeI2S, i2sBytes, i2sLayouts, unpackI2S } from "./i2s.ts";

interface Golden {
  readonly tensor: string;
  readonly type: string;
  readonly dequantized_sha256: string;
}

function sha256(values: Float32Array): string {
  return createHash("sha256")
    .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    .digest("hex");
}

async function read<Content>(path: string): Promise<Content> {
  return JSON.parse(await readFile(path, "utf8")) as Content;
}

function floatsOf(base64: string): Float32Array {
  const bytes = Buffer.from(base64, "base64");
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

const [skip, name] = needsData("values of gguf-py");

describe.skipIf(skip)(name, () => {
  it("decodes every type of gguf-block-types bit for bit", async () => {
    const folder = `${sharedData}gguf-block-types`;
    const file = `${folder}/block-types.gguf`;
    const { tensors } = await readGguf(file, file);
    const bytes = await readFile(file);
    const { tensors: goldens } = await read<{ tensors: readonly Golden[] }>(`${folder}/goldens.json`);
    expect(goldens).toHaveLength(24);
    for (const golden of goldens) {
      const tensor = tensors.find((each) => each.name === golden.tensor);
      expect(tensor?.type).toBe(golden.type);
      const { start = 0, bytes: size = 0, elements = 0 } = tensor ?? {};
      expect(sha256(decodeTensor(golden.type, bytes.subarray(start, start + size), elements)), golden.type).toBe(
        golden.dequantized_sha256,
      );
    }
  });

  it("encodes Q8_0, Q4_0 and TQ2_0 to the bytes of gguf-py", async () => {
    const folder = `${sharedData}gguf-block-types`;
    const file = `${folder}/block-types.gguf`;
    const { tensors } = await readGguf(file, file);
    const bytes = await readFile(file);
    const golden = await read<{ source: string; tensors: readonly (Golden & { dequantized: string })[] }>(
      `${folder}/goldens.json`,
    );
    for (const type of ["Q8_0", "Q4_0", "TQ2_0"] as const) {
      const { start = 0, bytes: size = 0 } = tensors.find((each) => each.type === type) ?? {};
      // The source of the ternary types is not stated; it is what they were decoded to.
      const decoded = golden.tensors.find((each) => each.type === type)?.dequantized ?? "";
      const values = floatsOf(type === "TQ2_0" ? decoded : golden.source);
      expect(Buffer.from(encodeTensor(type, values)).equals(bytes.subarray(start, start + size)), type).toBe(true);
    }
  });

  it("decodes every tensor of gguf-tiny-llama bit for bit", async () => {
    const folder = `${sharedData}gguf-tiny-llama`;
    interface Tensors {
      readonly files: readonly {
        readonly file: string;
        readonly tensors: Readonly<Record<string, { readonly dequantized_sha256: string }>>;
      }[];
    }
    const { files } = await read<Tensors>(`${folder}/goldens.json`);
    let count = 0;
    for (const { file, tensors: goldens } of files) {
      const { tensors } = await readGguf(`${folder}/${file}`, file);
      const bytes = await readFile(`${folder}/${file}`);
      for (const { name: tensor, type, start, bytes: size, elements } of tensors) {
        expect(sha256(decodeTensor(type, bytes.subarray(start, start + size), elements)), `${file} ${tensor}`).toBe(
          goldens[tensor]?.dequantized_sha256,
        );
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(80);
  });

  it("decodes I2_S of BitNet bit for bit", async () => {
    const folder = `${sharedData}gguf-bitnet-i2_s`;
    const file = `${folder}/bitnet-i2_s.gguf`;
    const golden = await read<Record<string, unknown>>(`${folder}/goldens.json`);
    const { tensors } = await readGguf(file, file);
    const tensor = tensors.find(({ type }) => type === "I2_S");
    const { start = 0, shape: [columns = 0, rows = 0] = [], elements = 0 } = tensor ?? {};
    const part = (await readFile(file)).subarray(start, start + i2sBytes(elements));
    expect([...unpackI2S(part, { rows, columns, layout: "x86" }).codes]).toEqual((golden["ternary"] as number[][]).flat());
    const values = decodeI2S(part, { rows, columns, layout: "x86" });
    expect(sha256(values)).toBe(golden["dequantized_sha256"]);
  });
});

/** Bytes that look random, with scales that are numbers. */
function randomBlocks(bytes: number, count: number): Uint8Array {
  return Uint8Array.from({ length: bytes * count }, (_, index) => Math.imul(index + 1, 0x9e3779b1) >>> 24);
}

/** Numbers with the distribution of weights. */
function randomWeights(count: number): Float32Array {
  let state = 1;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / (2 ** 32 + 1);
  };
  return Float32Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}

/** Root mean square of the error, divided by that of the values. */
function relativeError(values: Float32Array, decoded: Float32Array): number {
  const squares = (numbers: Float32Array): number => numbers.reduce((sum, value) => sum + value * value, 0);
  return Math.sqrt(squares(values.map((value, index) => value - (decoded[index] ?? 0))) / squares(values));
}

describe("encoded weights", () => {
  it.each([
    ["Q8_0", 0.006],
    ["Q4_0", 0.1],
    ["Q4_K", 0.075],
    ["F16", 3e-4],
    ["F32", 0],
  ] as const)("of type %s are off by at most %f", (type, limit) => {
    const values = randomWeights(8192);
    expect(relativeError(values, decodeTensor(type, encodeTensor(type, values), values.length))).toBeLessThanOrEqual(limit);
  });

  it("of ternary types are exact where the weights are ternary", () => {
    const values = randomWeights(1024).map((value) => Math.round(Math.max(-1, Math.min(1, value))) * 0.125);
    expect(decodeTensor("TQ2_0", encodeTensor("TQ2_0", values), 1024).map((value) => value + 0)).toEqual(
      values.map((value) => value + 0),
    );
    const decoded = decodeI2S(encodeTensor("I2_S", values), { rows: 4, columns: 256, layout: "x86" });
    expect(decoded.map((value) => value + 0)).toEqual(values.map((value) => value + 0));
  });

  it.each(["Q8_0", "Q4_0", "Q4_K", "TQ2_0", "I2_S"] as const)("of type %s that are all zero stay so", (type) => {
    const bytes = encodeTensor(type, new Float32Array(256));
    const decoded = type === "I2_S" ? decodeI2S(bytes, { rows: 1, columns: 256, layout: "x86" }) : decodeTensor(type, bytes, 256);
    expect(Math.max(...decoded.map(Math.abs))).toBe(0);
  });
});

describe("block formats", () => {
  it("decode IQ1_M as gguf-py does", () => {
    // scripts: gguf.quants.dequantize(np.array([((i + 1) * 0x9e3779b1 & 0xffffffff) >> 24 for i in range(56 * 8)], np.uint8).reshape(8, 56), IQ1_M)
    expect(sha256(decodeTensor("IQ1_M", randomBlocks(56, 8), 8 * 256))).toBe(
      "38a61c2a863f3b8f4d0ba8a05d30c8cab49d15a100eb11da8c8346af3a3cd300",
    );
  });

  it("state the range of their codes and group scales", () => {
    for (const [type, format] of Object.entries(blockFormats)) {
      const bytes = randomBlocks(format.bytes, 64);
      const block = unpackedBlock(format);
      for (let index = 0; index < 64; index += 1) {
        format.unpack(bytes, index * format.bytes, block);
        expect(Math.min(...block.codes), type).toBeGreaterThanOrEqual(format.smallestCode);
        expect(Math.max(...block.codes) - format.smallestCode, type).toBeLessThan(2 ** format.codeBits);
      }
    }
  });

  it("place the elements of I2_S in three orders", () => {
    const [rows, columns] = [4, 128];
    for (const layout of i2sLayouts) {
      const seen = new Set<string>();
      for (let element = 0; element < rows * columns; element += 1) {
        // Exactly one element of each pair of bits.
        const bytes = new Uint8Array(i2sBytes(rows * columns));
        new DataView(bytes.buffer).setFloat32((rows * columns) / 4, 0.5, true);
        bytes[element >> 2] = 2 << (2 * (element & 3));
        const values = decodeI2S(bytes, { rows, columns, layout });
        const at = values.findIndex((value) => value === 0.5);
        expect(values.filter((value) => value === -0.5)).toHaveLength(rows * columns - 1);
        seen.add(String(at));
      }
      expect(seen.size).toBe(rows * columns);
    }
  });
});
