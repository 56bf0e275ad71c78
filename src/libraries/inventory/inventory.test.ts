import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type InstalledLibrary, buildFlags, listLibraries } from "./index.ts";
import { DependencyReader } from "../analysis/index.ts";
import { discoverLibraries } from "../discovery/index.ts";
import { analyzeDiscovered } from "./list-libraries.ts";
import { libraryVersion } from "./library-version.ts";

const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const isLinuxX64 = process.platform === "linux" && process.arch === "x64";
const [skip, name] = [
  !isLinuxX64,
  isLinuxX64 ? "an analyzed library" : "an analyzed library (skipped: its libraries are for Linux on x86-64)",
];

let folder = "";
beforeAll(async () => void (folder = await realpath(await mkdtemp(join(tmpdir(), "inferyard-inventory-")))));
afterAll(async () => await rm(folder, { recursive: true }));

/** The only library in a folder of the test. */
async function libraryIn(path: string): Promise<InstalledLibrary> {
  const { libraries } = await discoverLibraries({ environment: { BITNET_CROSSVAL_LIBDIR: path }, directory: path });
  const own = libraries.filter((library) => library.path.startsWith(path));
  expect(own).toHaveLength(1);
  return analyzeDiscovered(own[0]!, new DependencyReader());
}

describe.skipIf(skip)(name, () => {
  it("tells what a library is by its content, whatever its name", async () => {
    const path = join(folder, "named");
    await mkdir(path);
    await cp(join(modules, "onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1"), join(path, "libllama.so"));
    const library = await libraryIn(path);
    expect(library.classes.filter(({ confidence }) => confidence === "certain").map((each) => each.name)).toEqual([
      "onnxruntime",
    ]);
    expect(library).toMatchObject({
      architecture: "x86-64",
      fits: true,
      problems: [],
      version: { value: "1.30.0", source: "symbol version VERS_1.30.0" },
    });
    expect(buildFlags([library])).toMatchObject({
      hasOnnxRuntime: true,
      hasLlama: false,
      paths: { hasOnnxRuntime: library.path },
    });
  });

  it("keeps a file that is no library, with the reason", async () => {
    const path = join(folder, "text");
    await mkdir(path);
    await writeFile(join(path, "libcudart.so"), "GROUP ( libcudart.so.12 )");
    const library = await libraryIn(path);
    expect(library).toMatchObject({ classes: [], fits: false, problems: [expect.any(String)] });
    expect(buildFlags([library])).toMatchObject({ hasCuda: false, paths: {} });
  });

  it("tells libraries of other architectures", async () => {
    const path = join(folder, "arm64");
    await mkdir(path);
    await cp(join(modules, "onnxruntime-node/bin/napi-v6/linux/arm64/libonnxruntime.so.1"), join(path, "libonnxruntime.so.1"));
    const library = await libraryIn(path);
    expect(library).toMatchObject({ architecture: "arm64", fits: false });
    expect(library.problems[0]).toContain("arm64");
    expect(buildFlags([library]).hasOnnxRuntime).toBe(false);
  });
});

describe("libraryVersion", () => {
  const of = (file: string, name: string, defined: readonly string[] = []): unknown =>
    libraryVersion(`/lib/${file}`, [{ name, confidence: "likely" }], defined);

  it.each([
    ["libonnxruntime.so.1.30.0", "onnxruntime", "1.30.0"],
    ["libonnxruntime.1.30.0.dylib", "onnxruntime", "1.30.0"],
    ["libllama.v0.5.0.so", "llama", "0.5.0"],
    ["libllama.cuda.v0.5.0.so", "llama", "0.5.0"],
    ["libggml-cpu.so.0.9.4", "ggml-cpu", "0.9.4"],
    ["libggml.0.9.4.dylib", "ggml", "0.9.4"],
    ["libopenblasp-r0.3.21.so", "openblas", "0.3.21"],
    ["libcudart.so.12.4.127", "cuda-runtime", "12.4.127"],
  ])("%s: %s by its name", (file, name, version) => {
    expect(of(file, name)).toEqual({ value: version, source: "file name" });
  });

  it.each([
    ["libomp.so.5", "openmp", ["GOMP_5.0"]],
    ["libggml-cpu-zen4.so", "ggml-cpu", []],
    ["libggml-cpu-armv8.2_1.so", "ggml-cpu", []],
    ["libggml.v0.5.0.so", "ggml", []],
    ["onnxruntime.dll", "onnxruntime", []],
    ["cudart64_12.dll", "cuda-runtime", []],
    // Version numbers of the interface, not of the release.
    ["libgomp.so.1.0.0", "openmp", []],
    ["libblis.so.4.0.0", "blis", []],
    ["pjrt_c_api_cpu_plugin.so", "pjrt", ["VERS_1.0"]],
    ["libonnxruntime_providers_cuda.so", "onnxruntime-provider", ["VERS_1.0"]],
    ["libother.so.1.2.3", "other", ["VERS_1.2.3"]],
  ])("%s: none", (file, name, defined) => expect(of(file, name, defined)).toBeUndefined());

  it("prefers the version that the file itself states", () => {
    expect(of("libonnxruntime.so.9.9.9", "onnxruntime", ["VERS_1.30.0"])).toMatchObject({ value: "1.30.0" });
  });

  it("takes none from the name of a file that is another library", () => {
    expect(libraryVersion("/lib/libllama.v0.5.0.so", [{ name: "llama", confidence: "possible" }], [])).toBeUndefined();
  });
});

it("listLibraries ends when it is aborted", async () => {
  await expect(listLibraries({ environment: {}, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
});

it("flags are false on a machine without libraries", () => {
  const { paths, ...flags } = buildFlags([]);
  expect(paths).toEqual({});
  expect(new Set(Object.values(flags))).toEqual(new Set([false]));
  expect(Object.keys(flags)).toEqual(
    expect.arrayContaining(["hasCuda", "hasBitnet", "hasLlama", "hasGgml", "hasOnnxRuntime", "hasPjrt"]),
  );
});
