import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { npyHeader, writeNpy } from "./write-npy.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-npy-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads a .npy file by the letter of NumPy's format description (numpy.lib.format), version 1.0. */
function readNpy(bytes: Buffer): { shape: number[]; data: Float32Array; headerBytes: number } {
  expect(bytes.subarray(0, 6).toString("latin1")).toBe("\u0093NUMPY");
  expect([...bytes.subarray(6, 8)]).toEqual([1, 0]);
  const headerBytes = 10 + bytes.readUInt16LE(8);
  const header = bytes.subarray(10, headerBytes).toString("latin1");
  expect(header.at(-1)).toBe("\n");
  const found = /^\{'descr': '<f4', 'fortran_order': False, 'shape': \((\d+), (\d+)\), \} *\n$/.exec(header);
  if (found === null) throw new Error(header);
  const [, rows, columns] = found;
  const values = bytes.subarray(headerBytes);
  const data = Float32Array.from({ length: values.length / 4 }, (_value, index) => values.readFloatLE(index * 4));
  return { shape: [Number(rows), Number(columns)], data, headerBytes };
}

describe("the header of a .npy file", () => {
  it("can be read for any shape, and the values begin at a multiple of 64", () => {
    const size = fc.oneof(fc.nat(), fc.integer({ min: 0, max: 2 ** 53 - 1 }));
    fc.assert(
      fc.property(size, size, (rows, columns) => {
        const header = npyHeader("<f4", [rows, columns]);
        const { shape, headerBytes } = readNpy(header);
        expect(shape).toEqual([rows, columns]);
        expect(headerBytes).toBe(header.length);
        expect(header.length % 64).toBe(0);
      }),
    );
  });
});

describe("writing a matrix", () => {
  it("of bytes has bytes", async () => {
    const path = join(folder, "bytes.npy");
    await writeNpy(path, [Int8Array.of(-128, 127), Int8Array.of(0, -1)], 2);
    const signed = await readFile(path);
    expect(signed.toString("latin1")).toContain("{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2), }");
    expect([...signed.subarray(-4)]).toEqual([128, 127, 0, 255]);
    await writeNpy(path, [Uint8Array.of(1, 255)], 2);
    expect((await readFile(path)).toString("latin1")).toContain("'descr': '|u1'");
    await rm(path);
  });

  it("gives back every value, row by row, and leaves no other file", async () => {
    const path = join(folder, "matrix.npy");
    const rows = [Float32Array.of(1, -2.5, 3.4028234663852886e38), Float32Array.of(1.401298464324817e-45, 0.1, -0)];
    await writeNpy(path, rows, 3);
    const { shape, data } = readNpy(await readFile(path));
    expect(shape).toEqual([2, 3]);
    expect([...data]).toEqual(rows.flatMap((row) => [...row]));
    expect(await readdir(folder)).toEqual(["matrix.npy"]);
  });

  it("replaces a file, and no rows are an empty matrix", async () => {
    const path = join(folder, "matrix.npy");
    await writeNpy(path, [], 256);
    expect(readNpy(await readFile(path))).toMatchObject({ shape: [0, 256], data: new Float32Array() });
  });

  it("says what could not be written, and leaves nothing behind", async () => {
    const path = join(folder, "none", "matrix.npy");
    await expect(writeNpy(path, [], 1)).rejects.toMatchObject({ code: "OUTPUT_FAILED", message: expect.stringContaining(path) });
    await expect(writeNpy(folder, [], 1)).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
    expect((await readdir(tmpdir())).filter((name) => name.startsWith(`${basename(folder)}.`))).toEqual([]);
  });
});
