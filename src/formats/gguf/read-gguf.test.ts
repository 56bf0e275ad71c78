import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as write from "../../../test/fixtures/models/gguf-bytes.ts";
import { needsData, sharedData } from "../../../test/fixtures/shared-data.ts";
import type { InferyardError } from "../../contract/errors.ts";
import { type GgufFile, readGguf } from "./read-gguf.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-gguf-"))));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function read(bytes: Buffer): Promise<GgufFile> {
  await writeFile(join(folder, "x.gguf"), bytes);
  return await readGguf(join(folder, "x.gguf"), "./x.gguf");
}

async function refusal(bytes: Buffer): Promise<string> {
  return await read(bytes).then(
    () => "read",
    (error: InferyardError) => `${error.code} ${error.message}`,
  );
}

/** One matrix of 2 rows of 32 in Q8_0 (34 bytes to a block) and one vector behind it. */
const tensors = [
  { name: "matrix", type: 8, shape: [32, 2], offset: 0 },
  { name: "vector", type: 0, shape: [3], offset: 96 },
];

describe("GGUF headers", () => {
  it.each([
    [1, false],
    [2, false],
    [3, false],
    [3, true],
  ])("are read in version %i, big-endian %s", async (version, bigEndian) => {
    const metadata = [["general.architecture", write.text("llama")] as const];
    const file = await read(write.gguf({ version, bigEndian, metadata, tensors, dataBytes: 108 }));
    expect(file).toMatchObject({ version, byteOrder: bigEndian ? "big-endian" : "little-endian", alignment: 32 });
    expect(file.tensors.map(({ name, type, shape, elements, bytes }) => [name, type, shape, elements, bytes])).toEqual([
      ["matrix", "Q8_0", [32, 2], 64, 68],
      ["vector", "F32", [3], 3, 12],
    ]);
    expect(file.tensors[1]!.start + 12).toBe(file.bytes);
  });

  it("have values of thirteen types", async () => {
    const { metadata } = await read(
      write.gguf({
        metadata: [
          ["a", write.uint8(200)],
          ["b", write.int8(-100)],
          ["c", write.uint16(60_000)],
          ["d", write.int16(-30_000)],
          ["e", write.uint32(4_000_000_000)],
          ["f", write.int32(-2_000_000_000)],
          ["g", write.float32(0.5)],
          ["h", write.bool(1)],
          ["i", write.text("Grüße")],
          ["j", write.texts("x", "y")],
          ["k", write.uint64(18_446_744_073_709_551_615n)],
          ["l", write.int64(-5n)],
          ["m", write.float64(Number.NaN)],
        ],
      }),
    );
    expect([...metadata].map(([key, { type }]) => `${key} ${type}`).join(", ")).toBe(
      "a uint8, b int8, c uint16, d int16, e uint32, f int32, g float32, h bool, i string, j array, k uint64, l int64, m float64",
    );
    const values = [...metadata.values()].map((value) => (value.type === "array" ? value.items : value.value));
    const text = ["Grüße", ["x", "y"], "18446744073709551615", -5, "NaN"];
    expect(values).toEqual([200, -100, 60_000, -30_000, 4_000_000_000, -2_000_000_000, 0.5, true, ...text]);
  });

  it("keep long arrays and texts in part, and know their length", async () => {
    const many = Array.from({ length: 5000 }, (_item, index) => index);
    const metadata = [
      ["tokens", write.texts(...many.map(String))] as const,
      ["types", write.uint32s(...many)] as const,
      ["template", write.text("t".repeat(50_000))] as const,
      ["last", write.uint8(7)] as const,
    ];
    const file = await read(write.gguf({ metadata }));
    expect(file.metadata.get("tokens")).toMatchObject({
      of: "string",
      length: 5000,
      items: ["0", "1", "2", "3", "4", "5", "6", "7"],
    });
    expect(file.metadata.get("types")).toMatchObject({ length: 5000, items: many.slice(0, 1024) });
    expect(file.metadata.get("template")).toEqual({ type: "string", value: "t".repeat(4096), bytes: 50_000 });
    expect(file.metadata.get("last")).toEqual({ type: "uint8", value: 7 });
  });
});

describe("GGUF files that are refused", () => {
  const tensor = (over: Partial<(typeof tensors)[number]>): Buffer =>
    write.gguf({ tensors: [{ ...tensors[0]!, ...over }], dataBytes: 68 });
  const raw = (fill: (writer: write.GgufWriter) => void): Buffer => {
    const writer = new write.GgufWriter(3, false).raw(Buffer.from("GGUF")).number(4, 3);
    fill(writer);
    return writer.bytes;
  };
  const key = (value: (writer: write.GgufWriter) => void): Buffer => write.gguf({ metadata: [["k", value]] });

  it.each<[string, Buffer, RegExp]>([
    ["another format", Buffer.from("PK\u0003\u0004 and more"), /^MODEL_INVALID .* does not begin with GGUF/],
    ["an empty file", Buffer.alloc(0), /^MODEL_INVALID .* does not begin with GGUF/],
    ["the format before GGUF", Buffer.from("tjgg\u0001\0\0\0"), /^MODEL_UNSUPPORTED .* older than GGUF/],
    ["a later version", write.gguf({ version: 4 }), /^MODEL_UNSUPPORTED .* GGUF version 4/],
    [
      "more tensors than fit",
      raw((writer) => writer.size(2n ** 40n).size(0)),
      /claims 1099511627776 tensors, and has 8 bytes left/,
    ],
    ["a count beyond all numbers", raw((writer) => writer.size(2n ** 63n).size(0)), /number of tensors is 9223372036854775808/],
    ["more metadata than fits", raw((writer) => writer.size(0).size(3)), /claims 3 metadata, and has 0 bytes left/],
    [
      "a text longer than the file",
      key((w) => w.number(4, 8).size(99)),
      /claims 99 bytes of the value of "k", and has 0 bytes left/,
    ],
    ["an array longer than the file", key((w) => w.number(4, 9).number(4, 10).size(99)), /claims 99 elements of "k"/],
    ["an unknown type of value", key((w) => w.number(4, 13)), /"k" has a value of the unknown type 13/],
    ["a truth value of 2", key(write.bool(2)), /truth value of "k" is 2/],
    [
      "arrays without end",
      key((w) => {
        w.number(4, 9);
        for (let depth = 0; depth < 99; depth += 1) w.number(4, 9).size(1);
      }),
      /"k" nests arrays too deep/,
    ],
    [
      "a key twice",
      write.gguf({
        metadata: [
          ["k", write.uint8(1)],
          ["k", write.uint8(2)],
        ],
      }),
      /key "k" comes twice/,
    ],
    ["an odd alignment", write.gguf({ metadata: [["general.alignment", write.uint32(33)]] }), /alignment is 33/],
    [
      "a tensor twice",
      write.gguf({ tensors: [tensors[0]!, { ...tensors[1]!, name: "matrix" }], dataBytes: 108 }),
      /"matrix" comes twice/,
    ],
    ["five dimensions", tensor({ shape: [1, 1, 1, 1, 1] }), /has 5 dimensions/],
    ["an impossible shape", tensor({ type: 0, shape: [2 ** 40, 2 ** 40] }), /impossible shape/],
    ["rows that are no whole blocks", tensor({ shape: [33, 2] }), /rows of 33, and Q8_0 has blocks of 32/],
    ["a tensor behind the end", tensor({ shape: [32, 3] }), /"matrix" needs 102 bytes, and the file ends before them/],
    ["a tensor far behind the end", tensor({ type: 99, offset: 2 ** 40 }), /"matrix" lies behind the end/],
    ["a tensor off its alignment", tensor({ offset: 8, shape: [32] }), /byte 8, which is not aligned/],
    [
      "tensors that overlap",
      write.gguf({ tensors: [tensors[0]!, { ...tensors[1]!, offset: 64 }], dataBytes: 108 }),
      /"matrix" overlaps/,
    ],
  ])("%s", async (_name, bytes, reason) => expect(await refusal(bytes)).toMatch(reason));

  it("are refused wherever they are cut off", async () => {
    const whole = write.gguf({ metadata: [["general.architecture", write.text("llama")]], tensors, dataBytes: 108 });
    for (let length = 0; length < whole.length; length += 1) {
      expect(await refusal(whole.subarray(0, length))).toMatch(/^MODEL_INVALID \.\/x\.gguf is not a whole GGUF file/);
    }
  });

  it("are named as the user wrote them, with something to do", async () => {
    const error = await read(Buffer.from("PK")).catch((thrown: InferyardError) => thrown);
    expect(error).toMatchObject({ code: "MODEL_INVALID", remedy: "download it again" });
  });
});

const [skip, name] = needsData("GGUF files of gguf-py and of others");

describe.skipIf(skip)(name, () => {
  it("have the tensors, types and shapes their makers noted", async () => {
    const { files } = JSON.parse(readFileSync(`${sharedData}gguf-tiny-llama/goldens.json`, "utf8")) as {
      files: { file: string; tensors: Record<string, { type: string; shape_rows_cols: number[] }> }[];
    };
    for (const { file, tensors: noted } of files) {
      const { tensors: found } = await readGguf(`${sharedData}gguf-tiny-llama/${file}`, file);
      // ggml has the dimension of neighbours first, numpy last.
      expect(Object.fromEntries(found.map(({ name, type, shape }) => [name, [type, ...[...shape].reverse()]]))).toEqual(
        Object.fromEntries(Object.entries(noted).map(([tensor, { type, shape_rows_cols: shape }]) => [tensor, [type, ...shape]])),
      );
    }
  });

  it("have blocks as long as the table says, for 24 types and for BitNet's I2_S", async () => {
    const { tensors: found, bytes } = await readGguf(`${sharedData}gguf-block-types/block-types.gguf`, "x");
    expect(found).toHaveLength(24);
    // Writers leave no gap but the alignment's: a wrong size of a block would show.
    for (const [index, tensor] of found.entries()) {
      const end = found[index + 1]?.start ?? bytes;
      expect([tensor.type, tensor.start + Math.ceil(tensor.bytes / 32) * 32]).toEqual([tensor.type, end]);
    }
    const bitnet = await readGguf(`${sharedData}gguf-bitnet-i2_s/bitnet-i2_s.gguf`, "x");
    expect(bitnet.tensors[0]).toMatchObject({ type: "I2_S", elements: 6144, bytes: 1568 });
  });
});
