import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MachineCodeCache, MachineKernel, MachineObject } from "../../../engine/codegen/x64/index.ts";
import { wasmHost } from "../../../engine/codegen/wasm/index.ts";
import { writeKernelObject } from "./kernel-object.ts";
import { openMachineCode } from "./machine-code.ts";
import { createObjectCache, openObjectFolder } from "./object-cache.ts";

let home = "";
let path = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "inferyard-objects-"));
  path = join(home, "machine-code");
});
afterEach(() => rmSync(home, { recursive: true }));

const identity = { build: "b1", processor: "p1", node: "v20" };
const kernels: readonly MachineKernel[] = ["b", "d"].map((key, index) => ({
  key,
  level: "AVX2",
  // mov dword [rdi], 7 or 8; ret
  code: Uint8Array.of(0xc7, 0x07, 7 + index, 0, 0, 0, 0xc3),
  arguments: [{ kind: "address", operand: 0, pieceBytes: 0 }],
}));
/** The keys of a model's kernels: not all have machine code. */
const keys = ["a", "b", "c", "d"];
const object = writeKernelObject(kernels);

const open = async (other: Partial<typeof identity> = {}): Promise<MachineCodeCache> => {
  const folder = await openObjectFolder(path);
  return createObjectCache(folder!, { ...identity, ...other }, "AVX2");
};
const onlyFile = (): string => join(path, readdirSync(path)[0]!);

describe("machine code on disk", () => {
  it("is what was written, for the same kernels, level, build, processor and version of Node.js", async () => {
    const cache = await open();
    expect(cache.read(keys)).toBeUndefined();
    cache.write(keys, object);
    const next = await open();
    expect(next.read(keys)).toEqual(object);
    expect(next.problem).toBeUndefined();
    for (const others of [keys.toReversed(), keys.slice(1), ["a b", "c", "d"]]) expect(next.read(others)).toBeUndefined();
    for (const other of [{ build: "b2" }, { processor: "p2" }, { node: "v22" }])
      expect((await open(other)).read(keys)).toBeUndefined();
    const folder = await openObjectFolder(path);
    expect(createObjectCache(folder!, identity, "AVX-512").read(keys)).toBeUndefined();
  });

  it("is removed where it is damaged, cut off or of another format", async () => {
    const cache = await open();
    cache.write(keys, object);
    const file = onlyFile();
    const whole = readFileSync(file);
    const changed = Buffer.from(whole);
    changed[changed.length - 100]! ^= 1;
    for (const bytes of [
      changed,
      whole.subarray(0, 200),
      Buffer.from(whole.toString("latin1").replace("IYKERNEL", "IYXLAEXE"), "latin1"),
    ]) {
      writeFileSync(file, bytes, { mode: 0o600 });
      expect([cache.read(keys), readdirSync(path)]).toEqual([undefined, []]);
    }
  });

  it.skipIf(process.platform === "win32")("is not used where others can write it", async () => {
    const cache = await open();
    cache.write(keys, object);
    chmodSync(onlyFile(), 0o622);
    expect([cache.read(keys), readdirSync(path)]).toEqual([undefined, []]);
    cache.write(keys, object);
    chmodSync(path, 0o722);
    const others = await open();
    expect([others.read(keys), others.problem]).toEqual([undefined, expect.stringContaining("can be written by others")]);
  });

  it("is refused where its table names a kernel that it was not generated for", async () => {
    const cache = await open();
    cache.write(keys.slice(0, 3), object); // the second kernel has no number
    expect([cache.read(keys.slice(0, 3)), readdirSync(path)]).toEqual([undefined, []]);
  });

  it("costs nothing but the cache where the folder cannot be used", async () => {
    writeFileSync(path, "a file");
    const cache = await open();
    cache.write(keys, object);
    expect([cache.read(keys), cache.problem]).toEqual([undefined, expect.stringContaining("is no folder")]);
  });

  it("is turned off by a variable", async () => {
    process.env["INFERYARD_MACHINE_CODE_CACHE"] = "off";
    try {
      expect(await openObjectFolder(path)).toBeUndefined();
      process.env["INFERYARD_MACHINE_CODE_CACHE"] = "maybe";
      await expect(openObjectFolder(path)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    } finally {
      delete process.env["INFERYARD_MACHINE_CODE_CACHE"];
    }
  });

  it.skipIf(process.platform !== "linux" || process.arch !== "x64")("runs as the code that was generated", async () => {
    (await open()).write(keys, object);
    const code = openMachineCode!().create("AVX2");
    try {
      const kept = (await open()).read(keys) as MachineObject;
      const memory = new (wasmHost().Memory)({ initial: 1 });
      const values = code.installObject(kept).map((kernel) => {
        code.bind(kernel, memory)(64, 0, 1);
        return new Int32Array(memory.buffer, 64, 1)[0];
      });
      expect(values).toEqual([7, 8]);
    } finally {
      code.free();
    }
  });
});
