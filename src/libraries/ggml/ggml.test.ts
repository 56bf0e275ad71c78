import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, needsPrograms, packaged } from "../../../test/libraries/fixtures/native-libraries.ts";
import { runsAll } from "../../../test/fixtures/slow.ts";
import { ForeignFunctions } from "../ffi/index.ts";
import { GgmlLibrary, findGgmlFiles } from "./index.ts";

const folder = dirname(packaged.ggmlHaswell);
const koffi = await ForeignFunctions.load().then(
  () => undefined,
  (error: unknown) => String(error),
);
const reason = koffi ?? (existsSync(packaged.ggmlHaswell) ? undefined : `${folder} is not installed`);

describe.skipIf(reason !== undefined)(`ggml of node-llama-cpp${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
  let ggml: GgmlLibrary;
  beforeAll(async () => (ggml = await GgmlLibrary.open(folder)));
  afterAll(() => ggml.close());

  it("is opened with the CPU backend that fits this processor, and states its release", () => {
    expect(ggml.version).toMatch(/^\d+\.\d+/);
    expect(ggml.cpuPath).toMatch(/libggml-cpu-\w+\.so$/);
    expect(ggml.types.get("IQ2_S")).toEqual({
      name: "IQ2_S",
      number: 22,
      blockElements: 256,
      blockBytes: 82,
      activationType: "Q8_K",
      canDecode: true,
      canQuantize: true,
      canMultiply: true,
    });
    expect(ggml.types.size).toBeGreaterThan(30);
  });

  it("decodes, quantizes and multiplies", () => {
    const values = Float32Array.from({ length: 64 }, (_, index) => Math.sin(index));
    const bytes = ggml.fromFloat("Q8_0", values);
    expect(bytes).toHaveLength(68);
    const decoded = ggml.toFloat("Q8_0", bytes);
    expect(Math.max(...decoded.map((value, index) => Math.abs(value - values[index]!)))).toBeLessThan(0.005);
    const rows = new Uint8Array([...bytes, ...bytes]);
    const products = ggml.multiply("Q8_0", rows, values);
    const exact = values.reduce((sum, value) => sum + value * value, 0);
    expect(products).toHaveLength(2);
    expect(products[0]).toBe(products[1]);
    expect(Math.abs(products[0]! - exact)).toBeLessThan(0.05);
    expect(ggml.fromFloat("Q8_0", values, "processor")).toEqual(bytes);
    expect([...ggml.multiply("F32", new Uint8Array(values.slice().buffer), values)]).toEqual([expect.closeTo(exact, 4)]);
  });

  // To quantize IQ2_S, ggml first computes tables for seconds.
  it.each(["Q4_K", ...(runsAll ? ["IQ2_S"] : [])])(
    "multiplies several rows of %s in the memory of WebAssembly, also where threads share it",
    (type) => {
      const { Memory } = (
        globalThis as unknown as { WebAssembly: { Memory: new (limits: object) => { readonly buffer: ArrayBuffer } } }
      ).WebAssembly;
      for (const shared of [false, true]) {
        const { buffer } = new Memory({ initial: 1, maximum: 1, shared });
        const [m, n, k] = [3, 5, 256];
        const values = Float32Array.from({ length: n * k }, (_, index) => Math.cos(index * 7));
        const stored = ggml.fromFloat(type, values);
        const weights = new Uint8Array(buffer, 64, stored.length);
        weights.set(stored);
        const activations = new Float32Array(buffer, 4096, m * k).map((_, index) => Math.sin(index * 3));
        new Float32Array(buffer, 4096, m * k).set(activations);
        const output = new Float32Array(buffer, 32_768, m * n);
        ggml.multiplier(type)({ m, n, k }, new Float32Array(buffer, 4096, m * k), weights, output);
        for (let row = 0; row < m; row += 1)
          expect([...output.subarray(row * n, (row + 1) * n)]).toEqual([
            ...ggml.multiply(type, stored, activations.subarray(row * k, (row + 1) * k)),
          ]);
      }
    },
  );

  it("multiplies on another thread", async () => {
    const product = ggml.product("Q4_0", 64);
    const weights = ggml.fromFloat("Q4_0", new Float32Array(64).fill(1));
    const activations = new Uint8Array(product.activationBytes);
    product.quantize(new Float32Array(64).fill(2), activations);
    const result = new Float32Array(1);
    await product.multiplyAsync(weights, activations, result);
    expect(result[0]).toBeCloseTo(128, 1);
  });

  it.each<[string, (of: GgmlLibrary) => unknown]>([
    ["has no type NOTHING", (of) => of.toFloat("NOTHING", new Uint8Array(1))],
    ["33 bytes are no whole blocks of Q8_0", (of) => of.toFloat("Q8_0", new Uint8Array(33))],
    ["33 elements are no whole blocks of Q8_0", (of) => of.fromFloat("Q8_0", new Float32Array(33))],
    ["ggml has no quantizer for IQ2_XXS", (of) => of.fromFloat("IQ2_XXS", new Float32Array(256))],
    ["ggml has no decoder for I8", (of) => of.toFloat("I8", new Uint8Array(32))],
    ["ggml does not multiply rows of I8", (of) => of.product("I8", 32)],
    ["rows of 128 are no whole blocks of Q4_K and Q8_K", (of) => of.product("Q4_K", 128)],
    ["0 columns", (of) => of.product("Q4_0", 0)],
    ["19 bytes are no whole rows of 18", (of) => of.multiply("Q4_0", new Uint8Array(19), new Float32Array(32))],
  ])("refuses what it cannot do: %s", (message, work) => {
    expect(() => work(ggml)).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining(message) }),
    );
  });

  it("gives empty results for no blocks", () => {
    expect(ggml.toFloat("Q4_0", new Uint8Array())).toHaveLength(0);
    expect(ggml.fromFloat("Q4_0", new Float32Array())).toHaveLength(0);
  });

  it("can be opened again after it was given back", async () => {
    for (let round = 0; round < 3; round += 1) (await GgmlLibrary.open(folder)).close();
    expect(ggml.fromFloat("Q8_0", new Float32Array(32))).toHaveLength(34);
  });

  it("opens a CPU backend that is named, and throws after it was closed", async () => {
    const other = await GgmlLibrary.open(folder, { cpu: join(folder, "libggml-cpu-x64.so") });
    expect(other.cpuPath).toMatch(/x64\.so$/);
    other.close();
    await expect(GgmlLibrary.open(folder, { cpu: join(folder, "libggml-cpu-none.so") })).rejects.toMatchObject({
      code: "LOAD_FAILED",
    });
  });
});

describe("the files of ggml", () => {
  it("are found by name, one for each library", async () => {
    const at = mkdtempSync(join(tmpdir(), "inferyard-ggml-"));
    for (const name of [
      "libggml-base.so.0.9.4",
      "libggml-base.so",
      "libggml-cpu-haswell.so",
      "libggml-cpu-haswell.so.0",
      "libggml-cpu.so",
      "libggml.so",
      "ggml-cpu.txt",
    ])
      writeFileSync(join(at, name), "");
    expect(await findGgmlFiles(at)).toEqual({
      base: join(at, "libggml-base.so"),
      cpu: [join(at, "libggml-cpu.so"), join(at, "libggml-cpu-haswell.so")],
    });
    const empty = join(at, "empty");
    mkdirSync(empty);
    const incompatible = (message: string): object => ({
      code: "LIBRARY_INCOMPATIBLE",
      message: expect.stringContaining(message),
    });
    await expect(findGgmlFiles(empty)).rejects.toMatchObject(incompatible("has no libggml-base"));
    await expect(findGgmlFiles(join(at, "none"))).rejects.toMatchObject(incompatible("cannot be read"));
    writeFileSync(join(empty, "libggml-base.so"), "");
    await expect(findGgmlFiles(empty)).rejects.toMatchObject(incompatible("has no libggml-cpu"));
  });
});

const [skip, name] = needsPrograms("libraries with another layout", "gcc");

/** A table of types and one of CPU functions. `entry`: fields of ggml_type_traits. `sizes`: those of Q4_0. */
const source = (entry: string, sizes: string, activations: string, score: number): string => `
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
struct traits { const char *type_name; int64_t blck_size; int64_t interleave; size_t type_size; bool is_quantized; void *to_float; void *from_float_ref; ${entry} };
static const struct traits table[64] = { { "f32", 1, 0, 4 }, { "f16", 1, 0, 2 }, { "q4_0", ${sizes} } };
struct cpu { void *from_float; void *vec_dot; int32_t vec_dot_type; int64_t nrows; };
static void dot(void) {}
static const struct cpu cpu[64] = { { 0, dot, 0, 1 }, { 0, dot, 1, 1 }, { 0, dot, ${activations}, 1 } };
const void *ggml_get_type_traits(int32_t t) { return &table[t]; }
const void *ggml_get_type_traits_cpu(int32_t t) { return &cpu[t]; }
int ggml_backend_score(void) { return ${score}; }
`;

describe.skipIf(skip || koffi !== undefined)(name, () => {
  it.each([
    ["a longer struct", source("void *more;", "32, 0, 18", "8", 1), "ggml_type_traits takes 64 bytes, and 56 were expected"],
    [
      "other sizes of blocks",
      source("", "64, 0, 18", "8", 1),
      "Q4_0 has blocks of 64 elements in 18 bytes, and 32 in 18 were expected",
    ],
    ["other activations", source("", "32, 0, 18", "3", 1), "it multiplies Q4_0 with Q4_1, and Q8_0 was expected"],
    ["fewer types", source("", "32, 0, 18", "8", 1), "has no Q8_0 where it should be"],
    ["no backend for this processor", source("", "32, 0, 18", "8", 0), "no CPU backend of ggml"],
  ])("are refused: %s", async (_what, text, message) => {
    const at = mkdtempSync(join(tmpdir(), "inferyard-ggml-"));
    for (const file of ["libggml-base.so", "libggml-cpu.so"]) compile(at, file, text, "-shared", "-fPIC");
    await expect(GgmlLibrary.open(at)).rejects.toMatchObject({
      code: "LIBRARY_INCOMPATIBLE",
      message: expect.stringContaining(message),
    });
  });

  it("are refused: files that are no libraries, and libraries without the functions", async () => {
    const at = mkdtempSync(join(tmpdir(), "inferyard-ggml-"));
    for (const file of ["libggml-base.so", "libggml-cpu.so"]) writeFileSync(join(at, file), "no library");
    await expect(GgmlLibrary.open(at)).rejects.toMatchObject({ code: "LOAD_FAILED" });
    for (const file of ["libggml-base.so", "libggml-cpu.so"]) compile(at, file, "int nothing;", "-shared", "-fPIC");
    await expect(GgmlLibrary.open(at)).rejects.toMatchObject({
      code: "LIBRARY_INCOMPATIBLE",
      message: expect.stringContaining("ggml_get_type_traits"),
    });
  });
});
