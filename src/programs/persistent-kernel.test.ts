import { describe, expect, it, vi } from "vitest";
import {
  cudaPrograms,
  defineProgram,
  getAvailableBackends,
  getBackendInfo,
  isBackendAvailable,
  nativePrograms,
  PersistentKernel,
  type ProgramBackend,
  ProgramBackends,
} from "./index.ts";
import { backendNames, documentNames } from "./backends/backend-names.ts";

const native = nativePrograms();
const backends = new ProgramBackends([native, cudaPrograms()]);
const double = defineProgram(({ input, add }) => {
  const x = input("x", [2]);
  return { y: add(x, x) };
});

describe("the names of the document", () => {
  it("are fourteen, each with what it means", async () => {
    expect(documentNames).toHaveLength(14);
    for (const { name, note } of backendNames) {
      expect(note).not.toBe("");
      const info = await getBackendInfo(name, backends);
      expect(info.reason).not.toBe("");
    }
    expect(await getAvailableBackends(backends)).toEqual(["cpu", "mha", "opt_einsum", "native"]);
    expect(await isBackendAvailable("cpu", backends)).toBe(true);
    expect(await isBackendAvailable("mps", backends)).toBe(false);
    expect(await getBackendInfo("nki", backends)).toMatchObject({
      isBuilt: false,
      reason: expect.stringMatching(/^nki is not used/) as string,
    });
    await expect(isBackendAvailable("CPU", backends)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      remedy: expect.stringMatching(/write "cpu"/) as string,
    });
    await expect(getBackendInfo("vulkan", backends)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("a registry", () => {
  const named = (name: string): ProgramBackend => ({ ...native, name });

  it("refuses names that are taken, reserved or malformed", () => {
    const registry = new ProgramBackends([native]);
    for (const name of ["native", "Own", "", "cpu", "mps"]) expect(() => registry.register(named(name))).toThrow(/name/);
    registry.register(named("own"));
    expect(registry.names).toEqual(["native", "own"]);
  });

  it("answers while backends are registered", async () => {
    const registry = new ProgramBackends([native]);
    const answers = Array.from({ length: 50 }, async (_, index) => {
      const asked = registry.info("native");
      registry.register(named(`own-${index}`));
      const [info, own] = await Promise.all([asked, registry.info(`own-${index}`)]);
      return info.isAvailable && own.isAvailable;
    });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 50 }, () => true));
  });
});

describe("a persistent kernel", () => {
  it("falls back from cuda, compiles, runs and switches", async () => {
    const kernel = new PersistentKernel({ mode: "latency", fallbackBackends: ["cpu"], backends });
    await expect(kernel.run({ x: Float32Array.of(1, 2) })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await kernel.compile(double);
    expect(kernel.backend).toBe("cpu");
    expect((await kernel.run({ x: Float32Array.of(1, 2) }))["y"]?.data).toEqual(Float32Array.of(2, 4));
    await kernel.switchTo("native:wasm");
    expect(kernel.backend).toBe("native:wasm");
    await kernel.dispose();
  });

  it("reads old settings with a note", async () => {
    vi.stubEnv("YIRAGE_BACKEND_USE_CPU", "ON");
    vi.stubEnv("YIRAGE_BACKEND_USE_CUDA", "OFF");
    try {
      const kernel = new PersistentKernel({ mode: "latency", backends });
      const { notes } = await kernel.compile(double);
      expect(kernel.backend).toBe("cpu");
      expect(notes).toEqual(['YIRAGE_BACKEND_USE_CPU is read as the backend "cpu": name it in the options instead']);
      await kernel.dispose();
      vi.stubEnv("YIRAGE_BACKEND_USE_ABACUS", "1");
      expect(() => new PersistentKernel({ mode: "latency", backends })).toThrow(/YIRAGE_BACKEND_USE_ABACUS names no backend/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("refuses several processes, ranks out of range, and names given twice", () => {
    const create =
      (options: object): (() => unknown) =>
      () =>
        new PersistentKernel({ mode: "latency", backend: "cpu", backends, ...options });
    expect(create({ worldSize: 2, rank: 2 })).toThrow(/rank is 2, and must be a whole number from 0 to 1/);
    expect(create({ worldSize: 0 })).toThrow(/worldSize is 0/);
    expect(create({ rank: 1 })).toThrow(/rank is 1/);
    expect(create({ fallbackBackends: ["cpu"] })).toThrow(/twice/);
    expect(create({ fallbackBackends: ["abacus"] })).toThrow(/no backend "abacus"/);
  });
});
