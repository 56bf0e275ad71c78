import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DataType, Tensor, TensorData } from "../../contract/tensor.ts";
import { writeTensor } from "./write-npy.ts";
import { parseNpy, readNpy } from "./read-npy.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-read-npy-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A file by the letter of numpy.lib.format; `header` need not be a sound one. */
function file(header: string, body: Uint8Array = new Uint8Array(), version = 1): Buffer {
  const text = Buffer.from(header, version === 3 ? "utf8" : "latin1");
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  if (version === 1) length.writeUInt16LE(text.length);
  else length.writeUInt32LE(text.length);
  return Buffer.concat([Buffer.from([0x93]), Buffer.from("NUMPY"), Buffer.from([version, 0]), length, text, body]);
}

const header = (descr: string, shape: string, fortran = "False"): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': (${shape}), }          \n`;
const bytesOf = (data: Exclude<TensorData, readonly string[]>): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/**
 * Files as NumPy 2.4.6 wrote them (numpy.save, and numpy.lib.format.write_array for version 3): the bytes before the blanks of the header, how
 * many blanks, and what follows.
 */
const ofNumPy: readonly (readonly [code: string, before: string, blanks: number, after: string, tensor: Tensor])[] = [
  [
    "asfortranarray(arange(6, dtype='<i2').reshape(2, 3))",
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGkyJywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMyksIH0=",
    59,
    "CgAAAwABAAQAAgAFAA==",
    { dataType: "int16", shape: [2, 3], data: Int16Array.of(0, 1, 2, 3, 4, 5) },
  ],
  [
    "array(['é', 'ab'])",
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPFUyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfQ==",
    60,
    "CukAAAAAAAAAYQAAAGIAAAA=",
    { dataType: "string", shape: [2], data: ["é", "ab"] },
  ],
  [
    "float64(0.1)",
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0=",
    62,
    "CpqZmZmZmbk/",
    { dataType: "float64", shape: [], data: Float64Array.of(0.1) },
  ],
  [
    "array([True, False])",
    "k05VTVBZAQB2AHsnZGVzY3InOiAnfGIxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfQ==",
    60,
    "CgEA",
    { dataType: "bool", shape: [2], data: Uint8Array.of(1, 0) },
  ],
  [
    "array([1, -2, 65504], dtype='<f2')",
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGYyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfQ==",
    60,
    "CgA8AMD/ew==",
    { dataType: "float16", shape: [3], data: Uint16Array.of(0x3c00, 0xc000, 0x7bff) },
  ],
  [
    "array([2**60]), version 3",
    "k05VTVBZAwB0AAAAeydkZXNjcic6ICc8aTgnLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMSwpLCB9",
    58,
    "CgAAAAAAAAAQ",
    { dataType: "int64", shape: [1], data: BigInt64Array.of(2n ** 60n) },
  ],
];

describe("a .npy file", () => {
  const numbers: readonly (readonly [string, DataType, Exclude<TensorData, readonly string[]>])[] = [
    ["<f2", "float16", Uint16Array.of(0x3c00, 0xc000, 0x7e00)],
    ["<f4", "float32", Float32Array.of(1.5, -0, Number.NaN)],
    ["<f8", "float64", Float64Array.of(0.1, 1e300, -1)],
    ["|i1", "int8", Int8Array.of(-128, 0, 127)],
    ["<i2", "int16", Int16Array.of(-32_768, 0, 1)],
    ["<i4", "int32", Int32Array.of(-1, 0, 2_147_483_647)],
    ["<i8", "int64", BigInt64Array.of(-1n, 0n, 9_007_199_254_740_993n)],
    ["|u1", "uint8", Uint8Array.of(0, 1, 255)],
    ["<u2", "uint16", Uint16Array.of(0, 1, 65_535)],
    ["<u4", "uint32", Uint32Array.of(0, 1, 4_294_967_295)],
    ["<u8", "uint64", BigUint64Array.of(0n, 1n, 18_446_744_073_709_551_615n)],
    ["|b1", "bool", Uint8Array.of(0, 1, 1)],
  ];

  it.each(numbers)("of type %s is %s, in each version of the format", (descr, dataType, data) => {
    for (const version of [1, 2, 3]) {
      expect(parseNpy(file(header(descr, "3,"), bytesOf(data), version), "x.npy")).toEqual({ dataType, shape: [3], data });
    }
  });

  it.each(ofNumPy)("of NumPy's own making: %s", (_code, before, blanks, after, tensor) => {
    const bytes = Buffer.concat([Buffer.from(before, "base64"), Buffer.alloc(blanks, " "), Buffer.from(after, "base64")]);
    expect(parseNpy(bytes, "x.npy")).toEqual(tensor);
  });

  it("in Fortran order comes out row by row, for every shape", () => {
    expect(parseNpy(file(header("<i2", "2, 3", "True"), bytesOf(Int16Array.of(0, 3, 1, 4, 2, 5))), "x.npy").data).toEqual(
      Int16Array.of(0, 1, 2, 3, 4, 5),
    );
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }), (shape) => {
        const count = shape.reduce((product, size) => product * size, 1);
        // The element at [i, j, k] is told from all others, whatever the order it is written in.
        const fortran = Int32Array.from({ length: count }, (_value, place) => {
          let rest = place;
          const index = shape.map((size) => {
            const at = rest % size;
            rest = Math.floor(rest / size);
            return at;
          });
          return index.reduce((sum, at, axis) => sum * shape[axis]! + at, 0);
        });
        const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
        const { data } = parseNpy(file(header("<i4", sizes, "True"), bytesOf(fortran)), "x.npy");
        expect(data).toEqual(Int32Array.from({ length: count }, (_value, place) => place));
      }),
    );
  });

  it("holds text as NumPy's str, and any order and quoting of its header's keys", () => {
    const points = Uint32Array.of(0xe9, 0, 0x61, 0x1f600);
    const text = `{"shape": (2,), "fortran_order": False, "descr": "<U2"}`;
    expect(parseNpy(file(text, bytesOf(points)), "x.npy")).toEqual({ dataType: "string", shape: [2], data: ["é", "a😀"] });
  });

  it("a single number has no dimensions; no numbers are an empty tensor", () => {
    expect(parseNpy(file(header("<f4", ""), bytesOf(Float32Array.of(7))), "x.npy")).toMatchObject({
      shape: [],
      data: Float32Array.of(7),
    });
    expect(parseNpy(file(header("<f4", "0, 3")), "x.npy")).toMatchObject({ shape: [0, 3], data: new Float32Array() });
  });

  const four = bytesOf(Float32Array.of(1));
  it.each<[string, Buffer, RegExp]>([
    ["nothing", Buffer.alloc(0), /does not begin/],
    ["something else", Buffer.from("PK\u0003\u0004 a zip file of arrays"), /does not begin/],
    ["only the magic", Buffer.from("\u0093NUMPY", "latin1"), /version is 0/],
    ["a version of tomorrow", file(header("<f4", "1,"), four, 9), /version is 9/],
    ["a header cut short", file(header("<f4", "1,"), four).subarray(0, 40), /ends within its header/],
    ["a length cut short", file(header("<f4", "1,"), four, 2).subarray(0, 10), /ends within its header/],
    [
      "a header of 4 GB",
      Buffer.concat([Buffer.from("\u0093NUMPY\u0002\u0000", "latin1"), Buffer.alloc(4, 0xff)]),
      /claims 4294967295/,
    ],
    ["numbers cut short", file(header("<f4", "2,"), four), /needs 8 bytes, and 4 follow/],
    ["more numbers than said", file(header("<f4", "1,"), new Uint8Array(8)), /needs 4 bytes, and 8 follow/],
    ["a shape beyond memory", file(header("<f4", "4294967296, 4294967296"), four), /impossible/],
    ["a shape beyond numbers", file(header("<f4", "99999999999999999999,"), four), /impossible/],
    ["a negative shape", file(header("<f4", "-1,"), four), /impossible/],
    ["a shape of names", file(header("<f4", "n, 3"), four), /impossible/],
    ["sizes that hide in a zero", file(header("<f4", `${"9007199254740991, ".repeat(63)}0`)), /impossible/],
    ["too many dimensions", file(header("<f4", "1, ".repeat(65)), four), /impossible/],
    ["big-endian numbers", file(header(">f4", "1,"), four), /big-endian/],
    ["complex numbers", file(header("<c8", "1,"), new Uint8Array(8)), /not one a tensor/],
    ["Python objects", file(header("|O", "1,"), four), /not one a tensor/],
    ["bytes", file(header("|S4", "1,"), four), /not one a tensor/],
    ["text of no characters", file(header("<U0", "1000000000000000,")), /not one a tensor/],
    ["named fields", file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"), /named fields/],
    ["no dictionary", file("import os"), /not a dictionary/],
    ["a key missing", file("{'descr': '<f4', 'shape': (1,), }", four), /has not the keys/],
    ["a key twice", file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", four), /cannot be read/],
    ["a key too many", file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': (1,)}", four), /has not the keys/],
    ["code in it", file("{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}", four), /cannot be read/],
    ["text that is no Unicode", file(header("<U1", "1,"), new Uint8Array(4).fill(0xff)), /not Unicode/],
  ])("with %s is refused", (_name, bytes, message) => {
    const read = (): Tensor => parseNpy(bytes, "given.npy");
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining("given.npy") }));
  });

  it("with any bytes whatever is read or refused, and never anything else", () => {
    const sound = file(header("<f4", "2, 2"), bytesOf(Float32Array.of(1, 2, 3, 4)));
    const damage = fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
          damage.map((changes) => {
            const bytes = Buffer.from(sound);
            for (const [place, value] of changes) bytes[place] = value;
            return bytes;
          }),
        ),
        (bytes) => {
          let refusal: unknown = { code: "INPUT_INVALID" };
          try {
            parseNpy(bytes, "x.npy");
          } catch (error) {
            refusal = error;
          }
          expect(refusal).toMatchObject({ code: "INPUT_INVALID" });
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("that is not there is INPUT_INVALID", async () => {
    await expect(readNpy(join(folder, "none.npy"))).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("writing a tensor", () => {
  it.each<Tensor>([
    { dataType: "float16", shape: [3], data: Uint16Array.of(1, 2, 3) },
    { dataType: "int64", shape: [1, 2], data: BigInt64Array.of(-1n, 2n ** 60n) },
    { dataType: "bool", shape: [], data: Uint8Array.of(1) },
    { dataType: "float64", shape: [0, 4], data: new Float64Array() },
    { dataType: "string", shape: [2, 2], data: ["", "a😀", "é", "long enough"] },
  ])("of $dataType gives back every value", async (tensor) => {
    const path = join(folder, "tensor.npy");
    await writeTensor(path, tensor);
    expect(await readNpy(path)).toEqual(tensor);
    expect((await readFile(path)).indexOf("\n") % 64).toBe(63);
  });
});
