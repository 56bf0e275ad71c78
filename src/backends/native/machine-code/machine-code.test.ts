/** @isolated since it counts the mapped files of its process, and changes TMPDIR. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { features } from "../../../../test/engine/kernel-memory.ts";
import { runsAll } from "../../../../test/fixtures/slow.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { linuxFeatures } from "../../../devices/cpu/cpu-features.ts";
import type { MachineArgument, MachineCode, MachineKernel } from "../../../engine/codegen/x64/index.ts";
import { wasmHost } from "../../../engine/codegen/wasm/index.ts";
import { KernelChecks } from "../../../engine/index.ts";
import { blockFormats } from "../../../formats/gguf/blocks/index.ts";
import { limitLevel } from "../../../kernels/simd-levels.ts";
import { readBinary } from "../../../libraries/binaries/index.ts";
import { writeKernelObject } from "./kernel-object.ts";
import { writeLoaderAddon } from "./loader-addon.ts";
import { type MachineCodeSource, openMachineCode } from "./machine-code.ts";
import { withPrivateFile } from "./private-file.ts";
import { readProcessorFeatures } from "./processor.ts";

const isHere = process.platform === "linux" && process.arch === "x64";
const folder = mkdtempSync(join(tmpdir(), "machine-code-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const memories = [false, true].map((shared) => ({ shared }));
const createMemory = (shared: boolean) => new (wasmHost().Memory)({ initial: 1, maximum: 20, shared });
const mappedFiles = (): number =>
  readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .filter((line) => line.includes("inferyard-")).length;
const hasTool = (name: string): boolean => spawnSync(name, ["--version"]).status === 0;

/** Stores its six register arguments and two of the stack as 64-bit integers from the first on. */
const storeArguments = Uint8Array.from(
  [
    [0x48, 0x89, 0x3f], // mov [rdi], rdi
    [0x48, 0x89, 0x77, 8], // mov [rdi+8], rsi
    [0x48, 0x89, 0x57, 16], // mov [rdi+16], rdx
    [0x48, 0x89, 0x4f, 24], // mov [rdi+24], rcx
    [0x4c, 0x89, 0x47, 32], // mov [rdi+32], r8
    [0x4c, 0x89, 0x4f, 40], // mov [rdi+40], r9
    [0x48, 0x8b, 0x44, 0x24, 8], // mov rax, [rsp+8]
    [0x48, 0x89, 0x47, 48], // mov [rdi+48], rax
    [0x48, 0x8b, 0x44, 0x24, 16], // mov rax, [rsp+16]
    [0x48, 0x89, 0x47, 56], // mov [rdi+56], rax
    [0xc3], // ret
  ].flat(),
);
const list: readonly MachineArgument[] = [
  { kind: "address", operand: 1, pieceBytes: 0 },
  { kind: "operand", operand: 0 },
  { kind: "pieces" },
  { kind: "none" },
  { kind: "address", operand: 2, pieceBytes: 8 },
  { kind: "operand", operand: 2 },
  { kind: "address", operand: 3, pieceBytes: 4096 },
  { kind: "pieces" },
];
const kernel: MachineKernel = { key: "store {}", level: "AVX2", code: storeArguments, arguments: list, stackChanges: [] };

describe("the processor", () => {
  const bits = {
    ecx1: (1 << 20) | (1 << 27) | (1 << 28) | (1 << 29) | (1 << 12),
    ebx7: (1 << 5) | (1 << 16) | (1 << 30) | (1 << 31),
  };
  const processor = (state: number, ecx1 = bits.ecx1) => ({
    cpuid(registers: Uint32Array): void {
      const [leaf, subleaf] = registers;
      registers.set(
        leaf === 0 ? [7, 0, 0, 0] : leaf === 1 ? [0, 0, ecx1, 0] : subleaf === 0 ? [1, bits.ebx7, 1 << 11, 0] : [1 << 4, 0, 0, 0],
      );
    },
    xgetbv: (registers: Uint32Array): void => registers.set([state]),
  });

  it("has what cpuid reports and the system saves the registers of", () => {
    const avx2 = ["SSE4.2", "AVX", "F16C", "FMA", "AVX2", "AVX-VNNI"];
    expect(readProcessorFeatures(processor(0xe7))).toEqual([...avx2, "AVX-512 F", "AVX-512 BW", "AVX-512 VL", "AVX-512 VNNI"]);
    expect(readProcessorFeatures(processor(0x07))).toEqual(avx2);
    expect(readProcessorFeatures(processor(0x03))).toEqual(["SSE4.2"]);
    expect(readProcessorFeatures(processor(0xe7, bits.ecx1 & ~(1 << 27)))).toEqual(["SSE4.2"]);
  });

  it("is limited by a setting, not raised", () => {
    expect([limitLevel("AVX-512", undefined), limitLevel("AVX-512", "avx2"), limitLevel("AVX2", "avx512vnni")]).toEqual([
      "AVX-512",
      "AVX2",
      "AVX2",
    ]);
  });
});

describe("written objects", () => {
  it("are ELF shared objects with their functions and imports, and without writable code", async () => {
    const path = join(folder, "kernels.so");
    writeFileSync(path, writeKernelObject([kernel, { ...kernel, key: "other" }]).bytes);
    const { format, kind, architecture, symbols } = await readBinary(path, { withSymbols: true } as never);
    expect({ format, kind, architecture }).toMatchObject({ kind: "shared object" });
    const names = symbols.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["napi_get_cb_info", "inferyard_kernels", "store_0", "call_store_0", "other_1"]),
    );
  });

  it("are the same bytes for the same kernels", () => {
    expect(writeLoaderAddon()).toEqual(writeLoaderAddon());
    expect(writeKernelObject([kernel])).toEqual(writeKernelObject([kernel]));
  });

  it.skipIf(!hasTool("objdump"))("have unwind tables that binutils reads", () => {
    const path = join(folder, "addon.node");
    writeFileSync(path, writeLoaderAddon());
    const frames = execFileSync("objdump", ["--dwarf=frames", path], { encoding: "utf8" });
    expect(frames.match(/ FDE /g)).toHaveLength(7);
    expect(frames).toMatch(/DW_CFA_def_cfa_offset: 96/);
    expect(frames).toMatch(/DW_CFA_offset: r12 \(r12\) at cfa-24/);
  });
});

describe("private files", () => {
  it("are written for this user alone, in a folder that others cannot replace, and deleted", () => {
    const open = join(folder, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    const seen: string[] = [];
    withPrivateFile("code", Uint8Array.of(1), (path) => seen.push(path), [join(folder, "missing"), open, folder]);
    const [path = ""] = seen;
    expect(path.startsWith(join(folder, "inferyard-code-"))).toBe(true);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith("inferyard-code-"))).toEqual([]);
  });

  it("that cannot be written or loaded are told with the reason of each folder", () => {
    const load = (): never => {
      throw new Error("failed to map segment from shared object");
    };
    const problem = expect.objectContaining({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringMatching(/missing: ENOENT.*; .*: failed to map segment from shared object$/) as string,
    }) as unknown;
    expect(() => withPrivateFile("code", Uint8Array.of(1), load, [join(folder, "missing"), folder])).toThrow(problem);
    expect(readdirSync(folder).filter((name) => name.startsWith("inferyard-code-"))).toEqual([]);
  });
});

describe.skipIf(!isHere)("machine code", () => {
  let source: MachineCodeSource;
  beforeAll(() => (source = openMachineCode!()));

  it("knows the instruction sets that the operating system lists", () => {
    const listed = linuxFeatures(readFileSync("/proc/cpuinfo", "utf8"), "x64").filter((name) => !name.startsWith("AMX"));
    expect(source.features).toEqual(listed);
  });

  it.each(memories)("gets the arguments of its kernel over a memory (shared: $shared), also after it has grown", ({ shared }) => {
    const code = source.create();
    const [installed] = code.install([kernel]);
    const memory = createMemory(shared);
    const call = code.bind(installed!, memory);
    for (const [at, pages] of [
      [1024, 1],
      [2048, 5],
    ] as const) {
      expect(call(4_000_000_000, at, 16, 32, 3, 10)).toBe(0);
      const [base = 0n, first, pieces, none, second, operand, third, again] = new BigUint64Array(memory.buffer, at, 8);
      const start = base - BigInt(at);
      expect([first, pieces, none, second, operand, third, again]).toEqual([
        4_000_000_000n,
        7n,
        0n,
        start + 16n + 24n,
        16n,
        start + 32n + 12_288n,
        7n,
      ]);
      memory.grow(pages);
    }
    code.free();
  });

  const loads = runsAll ? 1000 : 50;
  it(`is unmapped with its model: ${loads} loads leave nothing behind`, () => {
    const before = mappedFiles();
    const temporary = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder; // other programs write to the usual one
    for (let load = 0; load < loads; load += 1) {
      const code = source.create();
      code.install([{ ...kernel, key: `store ${load}` }]);
      code.free();
    }
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
    expect(mappedFiles()).toBe(before);
    expect(readdirSync(folder).filter((name) => name.startsWith("inferyard-code-"))).toEqual([]);
  });

  it("is unmapped with a thread that is ended while it runs", async () => {
    const before = mappedFiles();
    const module = new URL("machine-code.ts", import.meta.url).href;
    const script = `
      import { parentPort } from "node:worker_threads";
      import { register } from "tsx/esm/api";
      register();
      const { openMachineCode } = await import(${JSON.stringify(module)});
      const code = openMachineCode().create();
      const [installed] = code.install([${JSON.stringify({ ...kernel, code: undefined })}].map((each) => ({ ...each, code: Uint8Array.from([${storeArguments.join()}]) })));
      const call = code.bind(installed, new WebAssembly.Memory({ initial: 1 }));
      parentPort.postMessage("runs");
      for (;;) call(1, 1024, 16, 32, 0, 1);
    `;
    const worker = new Worker(
      new URL(
        `data:text/javascript,${encodeURIComponent(script.replace('"tsx/esm/api"', JSON.stringify(import.meta.resolve("tsx/esm/api"))))}`,
      ),
    );
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    expect(mappedFiles()).toBeGreaterThan(before);
    await worker.terminate();
    expect(mappedFiles()).toBe(before);
  });

  it("that computes wrong values is left out with the reason", () => {
    const checks = new KernelChecks(features);
    const withoutEffect = (code: MachineCode): MachineCode => ({
      ...code,
      install: (kernels) => code.install(kernels.map((each) => ({ ...each, code: Uint8Array.of(0xc3), stackChanges: [] }))),
    });
    checks.addMachineCode((level) => withoutEffect(source.create(level)), source.features);
    const blocks = { type: "Q8_0", format: blockFormats["Q8_0"]! };
    checks.testBlockKernels(blocks);
    const selection = checks.blockKernels.select({ ...blocks, rows: 64, columns: 256 }, { selfTests: checks.selfTests });
    expect(selection.selected?.id).toBe("Q8_0_Wasm");
    expect(selection.candidates.find(({ id }) => id === "Q8_0_AVX2")).toMatchObject({
      stage: "self-test",
      reason: expect.stringMatching(/is right$/) as string,
    });
  });

  it.each([
    ["INFERYARD_MACHINE_CODE", "off", "BACKEND_UNAVAILABLE", /the variable INFERYARD_MACHINE_CODE turns it off/],
    ["INFERYARD_MACHINE_CODE", "fast", "CONFIG_INVALID", /is "fast", and may be off, avx2, avx512, avx512vnni/],
  ])("is refused for %s=%s", (name, value, code, message) => {
    process.env[name] = value;
    try {
      expect(() => openMachineCode!()).toThrow(
        expect.objectContaining({ code, message: expect.stringMatching(message) as string }),
      );
    } finally {
      delete process.env[name];
    }
  });

  it.skipIf(!hasTool("objdump"))("is kept for debuggers where a variable names a folder", () => {
    const kept = mkdtempSync(join(folder, "kept-"));
    process.env["INFERYARD_MACHINE_CODE_FILES"] = kept;
    const code = source.create();
    try {
      code.install([kernel]);
    } finally {
      delete process.env["INFERYARD_MACHINE_CODE_FILES"];
      code.free();
    }
    const name = String(readdirSync(kept, { recursive: true }).find((each) => String(each).endsWith(".so")));
    expect(execFileSync("objdump", ["-d", join(kept, name)], { encoding: "utf8" })).toMatch(/<store_0>:\n.*mov +%rdi,\(%rdi\)/);
  });

  it("an object that the system does not load is told as unavailable", () => {
    const load = (path: string): void => process.dlopen({ exports: {} }, path);
    expect(() => withPrivateFile("damaged.node", writeLoaderAddon().fill(0, 0, 4), load, [folder])).toThrow(InferyardError);
  });
});
