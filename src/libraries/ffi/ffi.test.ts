import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ForeignFunctions, type NativeLibrary, type StructLayout, layOut, readField, writeField } from "./index.ts";

const source = `
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
typedef struct { int32_t count; double ratio; void *user; bool on; char rest[40]; float last; } large;
typedef struct { bool on; } flag;
large large_default(void) { large l; memset(&l, 0, sizeof l); l.count = 7; l.ratio = 2.5; l.on = true; l.last = 1.25f; return l; }
double large_sum(large l, int32_t add) { return l.count + l.ratio + l.last + l.on + add; }
bool is_on(flag f) { return f.on; }
int64_t sum(const float *values, size_t count) { double s = 0; for (size_t i = 0; i < count; i++) s += values[i]; return (int64_t)s; }
void *pointer_to_sum(void) { return (void *)sum; }
typedef int32_t (*visitor)(int32_t, const char *, void *);
int32_t visit(visitor v, void *user) { return v(3, "hé", user); }
uint64_t largest(void) { return UINT64_MAX; }
const char *name(bool is_there) { return is_there ? "grüße" : NULL; }
size_t length(const char *text) { return text == NULL ? 99 : strlen(text); }
const char *kept = "kept";
`;

/** The types of Node.js have no constructor of WebAssembly.Memory. */
const { Memory } = (
  globalThis as unknown as {
    WebAssembly: { Memory: new (limits: object) => { readonly buffer: ArrayBuffer } };
  }
).WebAssembly;

/** The struct `large` of the source, whose 40 bytes of `rest` stand before `last`. */
const large: StructLayout = {
  name: "large",
  size: 72,
  alignment: 8,
  fields: {
    count: { offset: 0, type: "int32" },
    ratio: { offset: 8, type: "float64" },
    user: { offset: 16, type: "pointer" },
    on: { offset: 24, type: "bool" },
    last: { offset: 68, type: "float32" },
  },
};

describe("functions of a library compiled here", () => {
  let folder: string;
  let problem: string | undefined;
  let ffi: ForeignFunctions;
  let library: NativeLibrary;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-ffi-"));
    writeFileSync(join(folder, "try.c"), source);
    try {
      execFileSync("gcc", ["-shared", "-fPIC", "-o", join(folder, "libtry.so"), join(folder, "try.c")], { stdio: "pipe" });
    } catch (error) {
      problem = `gcc cannot compile here: ${String(error).slice(0, 120)}`;
      return;
    }
    ffi = await ForeignFunctions.load();
    library = ffi.open(join(folder, "libtry.so"));
  });
  beforeEach(({ skip }) => skip(problem !== undefined, problem));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("returns and takes large structs as bytes at the offsets of the layout", () => {
    const make = library.bind("large_default", { result: large, parameters: [] });
    const add = library.bind("large_sum", { result: "float64", parameters: [large, "int32"] });
    const bytes = make();
    expect(Object.keys(large.fields).map((name) => readField(large, bytes, name))).toEqual([7, 2.5, 0n, true, 1.25]);
    writeField(large, bytes, "count", 10);
    writeField(large, bytes, "on", false);
    expect(add(bytes, 1)).toBe(10 + 2.5 + 1.25 + 1);
  });

  it("refuses structs that may travel in registers, and bytes of another length", () => {
    const flag = layOut("flag", [["on", "bool"]]);
    expect(() => library.bind("is_on", { result: "bool", parameters: [flag] })).toThrow("flag has 1 bytes");
    const add = library.bind("large_sum", { result: "float64", parameters: [large, "int32"] });
    expect(() => add(Uint8Array.of(1, 2), 1)).toThrow("large is passed as a Uint8Array of 72 bytes");
  });

  it("declares the same types as often as asked", () => {
    for (let round = 0; round < 3; round++) {
      expect(library.bind("large_default", { result: large, parameters: [] })()).toHaveLength(72);
      expect(ffi.functionAt(library.bind("pointer_to_sum", { result: "pointer", parameters: [] })(), sumOf)(0n, 0)).toBe(0n);
    }
  });

  const sumOf = { result: "int64", parameters: ["pointer", "size"] } as const;

  it("gives C the memory of typed arrays and of WebAssembly without a copy", () => {
    const sum = library.bind("sum", sumOf);
    expect(sum(new Float32Array([1, 2, 3]), 3)).toBe(6n);
    const memory = new Memory({ initial: 1 });
    new Float32Array(memory.buffer, 256, 2).set([20, 30]);
    expect(sum(new Float32Array(memory.buffer, 256, 2), 2)).toBe(50n);
    expect(sum(ffi.getAddress(memory.buffer) + 256n, 2)).toBe(50n);
    const seen = new Float32Array(ffi.memoryAt(ffi.getAddress(memory.buffer) + 256n, 8));
    seen[1] = 5;
    expect([new Float32Array(memory.buffer, 256, 2)[1], sum(ffi.getAddress(memory.buffer) + 256n, 2)]).toEqual([5, 25n]);
  });

  it("gives C the memory that threads share", () => {
    const memory = new Memory({ initial: 1, maximum: 1, shared: true });
    const values = new Float32Array(memory.buffer, 64, 2);
    values.set([2, 2]);
    expect(library.bind("sum", sumOf)(values, 2)).toBe(4n);
    expect(library.bind("sum", sumOf)(ffi.getAddress(values), 2)).toBe(4n);
  });

  it("calls through an address, on this thread and on another", async () => {
    const address = library.bind("pointer_to_sum", { result: "pointer", parameters: [] })();
    expect(address).toBe(library.getAddress("sum"));
    expect(ffi.functionAt(address, sumOf)(new Float32Array([4, 5]), 2)).toBe(9n);
    expect(await library.bindAsync("sum", sumOf)(new Float32Array([1, 1]), 2)).toBe(2n);
    expect(() => ffi.functionAt(0n, sumOf)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });

  it("lets C call JavaScript, from this thread and from another", async () => {
    const seen: unknown[] = [];
    const visitor = ffi.callback({ result: "int32", parameters: ["int32", "string", "pointer"] }, (count, text, user) => {
      seen.push([count, text, user]);
      return count + 1;
    });
    const visit = { result: "int32", parameters: ["pointer", "pointer"] } as const;
    try {
      expect(library.bind("visit", visit)(visitor.address, 123n)).toBe(4);
      expect(await library.bindAsync("visit", visit)(visitor.address, undefined)).toBe(4);
      expect(seen).toEqual([
        [3, "hé", 123n],
        [3, "hé", 0n],
      ]);
    } finally {
      visitor.release();
    }
  });

  it("reads strings and the largest number", () => {
    expect(library.bind("largest", { result: "uint64", parameters: [] })()).toBe(2n ** 64n - 1n);
    const name = library.bind("name", { result: "string", parameters: ["bool"] });
    expect([name(true), name(false)]).toEqual(["grüße", undefined]);
    const length = library.bind("length", { result: "size", parameters: ["string"] });
    expect([length("grüße"), length(undefined)]).toEqual([7, 99]);
    const kept = new BigUint64Array(ffi.memoryAt(library.getAddress("kept") ?? 0n, 8))[0] ?? 0n;
    expect([ffi.stringAt(kept), [...ffi.bytesAt(kept, 2)]]).toEqual(["kept", [107, 101]]);
  });

  it("refuses what the library does not have, and a library that was closed", () => {
    const second = ffi.open(join(folder, "libtry.so"));
    expect(second.has("sum")).toBe(true);
    expect(second.has("sun")).toBe(false);
    expect(() => second.bind("sun", sumOf)).toThrow(
      expect.objectContaining({ code: "LIBRARY_INCOMPATIBLE", data: expect.objectContaining({ missing: ["sun"] }) }),
    );
    const sum = second.bind("sum", sumOf);
    expect(() => (sum as (...inputs: unknown[]) => unknown)(1n)).toThrow("takes 2 arguments, and 1 were given");
    second.close();
    second.close();
    expect(() => sum(0n, 0)).toThrow(expect.objectContaining({ code: "DISPOSED" }));
    expect(() => second.has("sum")).toThrow(expect.objectContaining({ code: "DISPOSED" }));
  });
});

describe("opening libraries", () => {
  it("says what the loader says", async () => {
    const ffi = await ForeignFunctions.load();
    expect(() => ffi.open("/nowhere/libnothing.so")).toThrow(
      expect.objectContaining({
        code: "LOAD_FAILED",
        message: expect.stringContaining("/nowhere/libnothing.so could not be loaded: cannot open shared object file"),
      }),
    );
    expect(() => ffi.open("libnothing.so")).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });

  it("names the command where koffi is not installed, and says why where it does not load", async () => {
    const absent = async (): Promise<never> => {
      throw Object.assign(new Error("Cannot find package 'koffi'"), { code: "ERR_MODULE_NOT_FOUND" });
    };
    await expect(ForeignFunctions.load(absent)).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringContaining("koffi, which is not installed"),
      remedy: "npm install koffi --ignore-scripts",
    });
    const damaged = async (): Promise<never> => {
      throw new Error("invalid ELF header");
    };
    await expect(ForeignFunctions.load(damaged)).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: "koffi could not be loaded: invalid ELF header",
    });
  });
});

describe("layouts", () => {
  it("places fields as a C compiler does", () => {
    const layout = layOut("all", [
      ["a", "int8"],
      ["b", "int16"],
      ["c", "uint8"],
      ["d", "uint32"],
      ["e", "uint64"],
      ["f", "uint16"],
    ]);
    expect([layout.size, layout.alignment, ...Object.values(layout.fields).map(({ offset }) => offset)]).toEqual([
      32, 8, 0, 2, 4, 8, 16, 24,
    ]);
    const bytes = new Uint8Array(layout.size);
    const values = { a: -1, b: -300, c: 200, d: 4_000_000_000, e: 2n ** 63n, f: 65_535 };
    for (const [name, value] of Object.entries(values)) writeField(layout, bytes, name, value);
    for (const [name, value] of Object.entries(values)) expect(readField(layout, bytes, name)).toBe(value);
    expect(() => readField(layout, bytes, "g")).toThrow(expect.objectContaining({ code: "CONTRACT_VIOLATION" }));
  });
});
