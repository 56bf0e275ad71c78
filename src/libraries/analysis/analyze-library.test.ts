import { copyFileSync, mkdirSync, readFileSync, renameSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, machoLibrary, needsFiles, needsPrograms, packaged } from "../../../test/libraries/fixtures/native-libraries.ts";
import { elfHash } from "../../../test/libraries/fixtures/older-glibc.ts";
import { type LibraryAnalysis, analyzeLibrary, failedRequirements } from "./index.ts";

let directory = "";
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), "inferyard-analysis-"))));
afterAll(() => rmSync(directory, { recursive: true }));

const shared = ["-shared", "-fPIC"];
const soname = (name: string): string => `-Wl,-soname,${name}`;
const loose = "-Wl,--allow-shlib-undefined";
const define = (...names: readonly string[]): string => names.map((name) => `int ${name}(void) { return 1; }`).join("\n");
const classesOf = ({ classes }: LibraryAnalysis): string[] => classes.map(({ name, confidence }) => `${name} ${confidence}`);

const [skipReleased, released] = needsFiles("released libraries", ...Object.values(packaged));

describe.skipIf(skipReleased)(released, () => {
  it("ONNX Runtime exports entries of providers that it lacks: the verdict stays CPU-only", async () => {
    const analysis = await analyzeLibrary(packaged.onnxRuntime);
    expect(classesOf(analysis)).toEqual(["onnxruntime certain"]);
    expect(analysis.verdict.accelerators).toEqual([]);
    expect(analysis.verdict.notes).toEqual([expect.stringContaining("OrtSessionOptionsAppendExecutionProvider_CUDA")]);
    expect(analysis.symbols.cuda.exported).toEqual(["OrtSessionOptionsAppendExecutionProvider_CUDA"]);
    expect(failedRequirements(analysis, { forbid: ["cuda"], require: ["onnxruntime"] })).toEqual([]);
  });

  it("llama.cpp needs ggml beside it and is not ggml", async () => {
    const analysis = await analyzeLibrary(packaged.llama);
    expect(classesOf(analysis)).toEqual(["llama certain"]);
    expect(analysis.symbols.llama.exported.length).toBeGreaterThan(150);
    expect(analysis.needs).toContainEqual(
      expect.objectContaining({ name: "libggml-base.so", foundBy: "runpath", status: "found" }),
    );
    expect(analysis.versions).toContainEqual({ library: "libc.so.6", version: "GLIBC_2.34", isProvided: true });
    expect(failedRequirements(analysis, { require: ["CUDA"] })).toEqual([
      expect.stringMatching(/is required to have cuda, and does not$/),
    ]);
    expect(() => failedRequirements(analysis, { require: ["cudaa"] })).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", remedy: expect.stringMatching(/^did you mean "cuda"\? known names: /) }),
    );
    expect(() => failedRequirements(analysis, { forbid: ["nothing-like-it"] })).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", remedy: expect.stringMatching(/^known names: /) }),
    );
  });

  it("builds of ggml for CPUs have the same exports, and differ by file name", async () => {
    const [zen4, haswell] = await Promise.all([packaged.ggmlZen4, packaged.ggmlHaswell].map((path) => analyzeLibrary(path)));
    expect([zen4, haswell].map((each) => each!.classes[0]?.variant)).toEqual(["zen4", "haswell"]);
    const renamed = join(directory, "libggml-cpu.so");
    copyFileSync(packaged.ggmlZen4, renamed);
    const [renamedClass] = (await analyzeLibrary(renamed)).classes;
    expect(renamedClass).toMatchObject({ name: "ggml-cpu", confidence: "certain", variant: undefined });
  });

  it.each([
    [packaged.ggmlCuda, "ggml-cuda certain", "cuda"],
    [packaged.ggmlVulkan, "ggml-vulkan certain", "vulkan"],
  ])("%s", async (path, found, accelerator) => {
    const analysis = await analyzeLibrary(path);
    expect(classesOf(analysis)).toEqual([found]);
    expect(analysis.verdict.accelerators).toEqual([accelerator]);
    expect(failedRequirements(analysis, { require: ["ggml", accelerator] })).toEqual([]);
    expect(failedRequirements(analysis, { forbid: [accelerator] })[0]).toMatch(/must not have/);
  });

  it.skipIf(process.platform !== "linux" || process.arch !== "x64").each([
    [packaged.onnxRuntimeMac, "it is for macOS, and this is linux"],
    [packaged.onnxRuntimeWindows, "it is for Windows, and this is linux"],
    [packaged.onnxRuntimeArm64, "it is for arm64, and this is x86-64"],
  ])("%s does not fit this machine", async (path, problem) => {
    const analysis = await analyzeLibrary(path);
    expect(classesOf(analysis)).toEqual(["onnxruntime certain"]);
    expect(analysis.fit.problems).toContain(problem);
  });
});

const [skipGcc, gccName] = needsPrograms("what gcc builds", "gcc");

describe.skipIf(skipGcc || process.platform !== "linux")(gccName, () => {
  it.each([
    ["libbitnet.so", ["bitnet_model_new_from_file", "bitnet_eval"], ["bitnet certain"]],
    ["libsomething.so", ["bitnet_model_new_from_file"], ["bitnet likely"]],
    ["libopenblas.so.0", ["openblas_get_config", "openblas_set_num_threads", "cblas_sgemm"], ["openblas certain"]],
    ["libgomp.so.1", ["GOMP_parallel", "omp_get_num_threads"], ["openmp certain"]],
    ["libdnnl.so.3", ["dnnl_version", "dnnl_engine_create", "dnnl_primitive_create"], ["onednn certain"]],
    ["pjrt_c_api_cpu_plugin.so", ["GetPjrtApi"], ["pjrt certain", "pjrt-cpu likely"]],
    ["libtpu.so", ["GetPjrtApi"], ["pjrt certain", "pjrt-tpu likely"]],
    ["libonnxruntime_providers_cuda.so", ["GetProvider"], ["onnxruntime-provider likely"]],
    ["libtriton.so", ["PyInit_libtriton"], ["triton certain"]],
    ["libcudnn.so.9", [], ["cudnn possible"]],
    ["libplain.so", ["f"], []],
  ])("%s", async (file, functions, classes) => {
    expect(classesOf(await analyzeLibrary(compile(directory, file, define(...functions, "other"), ...shared)))).toEqual(classes);
  });

  it("a library that is linked against the CUDA runtime computes with CUDA", async () => {
    const cuda = compile(directory, "libcudart.so.13", define("cudaMalloc"), ...shared, "-Wl,-soname,libcudart.so.13");
    const user = compile(directory, "libuser.so", "int cudaMalloc(void); int f(void) { return cudaMalloc(); }", ...shared, cuda);
    const { verdict } = await analyzeLibrary(user);
    expect(verdict).toEqual({
      accelerators: ["cuda"],
      reasons: ["imports 1 CUDA function (cudaMalloc)", "needs libcudart.so.13"],
      notes: [],
    });
  });

  it("looks for needed libraries as the loader does", async () => {
    const folder = join(directory, "dependencies");
    mkdirSync(folder);
    const needed = compile(folder, "libneeded.so", define("needed"), ...shared, "-Wl,-soname,libneeded.so");
    const build = (file: string, ...flags: readonly string[]): string =>
      compile(directory, file, "int needed(void); int f(void) { return needed(); }", ...shared, needed, ...flags);
    const foundBy = async (path: string, environment = {}): Promise<string> => {
      const { needs, fit } = await analyzeLibrary(path, { environment });
      const need = needs.find(({ name }) => name === "libneeded.so");
      return `${need?.status} ${need?.foundBy} ${fit.fits ? "fits" : fit.problems.join("; ")}`;
    };
    expect(await foundBy(build("librunpath.so", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/dependencies"))).toBe(
      "found runpath fits",
    );
    expect(await foundBy(build("librpath.so", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/dependencies"))).toBe("found rpath fits");
    const plain = build("libplain-need.so");
    expect(await foundBy(plain)).toBe("missing undefined needs libneeded.so, which is not on this machine");
    expect(await foundBy(plain, { LD_LIBRARY_PATH: folder })).toBe("found LD_LIBRARY_PATH fits");
    const lib = join(directory, "lib", "x86_64-linux-gnu");
    mkdirSync(lib, { recursive: true });
    copyFileSync(needed, join(lib, "libneeded.so"));
    for (const variable of ["$LIB", "${LIB}", "lib/$PLATFORM-linux-gnu"])
      expect(await foundBy(build("libvariable.so", `-Wl,-rpath,${directory}/${variable}`)), variable).toBe("found runpath fits");
    const before = process.cwd();
    process.chdir(folder);
    try {
      for (const path of ["/none:", ":/none", "/none::/none"])
        expect(await foundBy(plain, { LD_LIBRARY_PATH: path }), path).toBe("found LD_LIBRARY_PATH fits");
      expect(await foundBy(plain, { LD_LIBRARY_PATH: "" })).toMatch(/^missing/);
    } finally {
      process.chdir(before);
    }
    writeFileSync(join(directory, "libneeded.so"), machoLibrary(0x01000007)); // the loader passes over other formats
    expect(await foundBy(plain)).toMatch(/^missing/);
    copyFileSync(needed, join(directory, "libneeded.so"));
    expect(await foundBy(plain)).toMatch(/^found beside the file needs libneeded.so, which lies beside it/);
  });

  it("looks for what needed libraries need, with the DT_RPATH of the first and not its DT_RUNPATH", async () => {
    const folder = join(directory, "indirect");
    mkdirSync(folder);
    const last = compile(folder, "liblast.so", define("last"), ...shared, "-Wl,-soname,liblast.so");
    const middleSource = "int last(void); int middle(void) { return last(); }";
    const middle = compile(folder, "libmiddle.so", middleSource, ...shared, last, "-Wl,-soname,libmiddle.so");
    const rest = join(folder, "rest");
    mkdirSync(rest);
    renameSync(last, join(rest, "liblast.so"));
    const analyze = async (file: string, tags: string): Promise<LibraryAnalysis> => {
      const source = "int middle(void); int f(void) { return middle(); }";
      const flags = [`-Wl,${tags},-rpath,${folder}:${rest}`, "-Wl,--allow-shlib-undefined"];
      return await analyzeLibrary(compile(directory, file, source, ...shared, middle, ...flags), { environment: {} });
    };
    const old = await analyze("libindirect-rpath.so", "--disable-new-dtags");
    expect(old.indirectNeeds).toContainEqual(
      expect.objectContaining({ name: "liblast.so", foundBy: "rpath", neededBy: "libmiddle.so" }),
    );
    expect(old.fit.problems).toEqual([]);
    expect((await analyze("libindirect-runpath.so", "--enable-new-dtags")).fit.problems).toEqual([
      "needs libmiddle.so, which needs liblast.so, which is not on this machine",
    ]);
  });

  it("passes the DT_RPATH of the first on through a library with a DT_RUNPATH", async () => {
    const folder = join(directory, "chain");
    const far = join(folder, "far");
    mkdirSync(far, { recursive: true });
    const calls = (name: string, needed: string): string => `int ${needed}(void); int ${name}(void) { return ${needed}(); }`;
    const d = compile(folder, "libtd.so", define("d"), ...shared, "-Wl,-soname,libtd.so");
    const c = compile(folder, "libtc.so", calls("c", "d"), ...shared, d, "-Wl,-soname,libtc.so");
    renameSync(d, join(far, "libtd.so"));
    const runpath = `-Wl,--enable-new-dtags,-rpath,${folder}`;
    const b = compile(folder, "libtb.so", calls("b", "c"), ...shared, c, "-Wl,-soname,libtb.so", runpath, loose);
    const rpath = `-Wl,--disable-new-dtags,-rpath,${folder}:${far}`;
    const first = compile(folder, "libta.so", calls("a", "b"), ...shared, b, rpath, loose);
    const { fit, indirectNeeds } = await analyzeLibrary(first, { environment: {} });
    expect(fit.problems).toEqual([]);
    expect(indirectNeeds).toContainEqual(expect.objectContaining({ name: "libtd.so", foundBy: "rpath", neededBy: "libtc.so" }));
  });

  it("follows versions that needed libraries require, as the loader does", async () => {
    const folder = join(directory, "versions");
    mkdirSync(folder);
    const version = (name: string): string => {
      writeFileSync(join(folder, `${name}.map`), `${name} { global: *; };\n`);
      return `-Wl,--version-script=${join(folder, `${name}.map`)}`;
    };
    const old = compile(folder, "libv.so", define("v"), ...shared, soname("libv.so"), version("V_1"));
    const next = compile(folder, "libv-new.so", define("v"), ...shared, soname("libv.so"), version("V_2"));
    const calls = "int v(void); int m(void) { return v(); }";
    const here = ["-Wl,--enable-new-dtags,-rpath,$ORIGIN"];
    const middle = compile(folder, "libm1.so", calls, ...shared, next, soname("libm1.so"), ...here);
    const top = compile(folder, "libtop.so", "int m(void); int t(void) { return m(); }", ...shared, middle, ...here, loose);
    const { fit, missingVersions } = await analyzeLibrary(top, { environment: {} });
    expect(missingVersions).toEqual([{ library: "libv.so", version: "V_2", neededBy: "libm1.so" }]);
    expect(fit.problems).toEqual(["needs libm1.so, which needs V_2 of libv.so, which this machine's does not have"]);
    // VER_FLG_WEAK: the loader does not fail if the version is missing.
    const bytes = readFileSync(middle);
    const at = bytes.indexOf(Buffer.from([...elfHash("V_2"), 0, 0]));
    bytes.writeUInt16LE(2, at + 4);
    writeFileSync(middle, bytes);
    expect((await analyzeLibrary(top, { environment: {} })).fit.problems).toEqual([]);
    renameSync(next, old);
    expect((await analyzeLibrary(top, { environment: {} })).fit.problems).toEqual([]);
  });

  it("says of a needed library for another architecture that it is, not that it is missing", async () => {
    const folder = join(directory, "foreign");
    mkdirSync(folder);
    const needed = compile(folder, "libneeded.so", define("needed"), ...shared, "-Wl,-soname,libneeded.so");
    const source = "int needed(void); int f(void) { return needed(); }";
    const user = compile(folder, "libuser.so", source, ...shared, needed, "-Wl,-rpath,$ORIGIN");
    const bytes = readFileSync(needed);
    bytes.writeUInt16LE(process.arch === "arm64" ? 62 : 183, 18); // e_machine
    writeFileSync(needed, bytes);
    const other = process.arch === "arm64" ? "x86-64" : "arm64";
    const { needs, fit } = await analyzeLibrary(user, { environment: {} });
    expect(needs[0]).toMatchObject({ status: "missing", passedOver: { path: needed, architecture: other } });
    expect(fit.problems).toEqual([`needs libneeded.so, and ${needed} is for ${other}`]);
    // Dependencies of a library for another architecture are not searched.
    expect((await analyzeLibrary(needed)).fit.problems).toEqual([expect.stringMatching(/^it is for \S+, and this is \S+$/)]);
  });

  it("an accelerator is what a library uses, whoever brings it: what it needs, or a backend that ggml loads from its folder", async () => {
    const folder = join(directory, "brought");
    mkdirSync(folder);
    const cuda = compile(folder, "libcudart.so.13", define("cudaMalloc"), ...shared, "-Wl,-soname,libcudart.so.13");
    const calls = (name: string, called: string): string => `int ${called}(void); int ${name}(void) { return ${called}(); }`;
    const backend = compile(
      folder,
      "libggml-cuda.so",
      calls("ggml_backend_cuda_init", "cudaMalloc"),
      ...shared,
      cuda,
      soname("libggml-cuda.so"),
    );
    const registry = ["ggml_backend_load_all", "ggml_backend_reg_count", "ggml_backend_init_by_type"];
    const split = compile(folder, "libggml.so", define(...registry), ...shared);
    const loading = await analyzeLibrary(split, { environment: {} });
    expect(loading.verdict).toMatchObject({
      accelerators: ["cuda"],
      reasons: ["loads libggml-cuda.so from its folder, which imports 1 CUDA function (cudaMalloc)"],
    });
    expect(failedRequirements(loading, { forbid: ["cuda"] })).toHaveLength(1);
    const linked = compile(
      folder,
      "libx.so",
      calls("x", "ggml_backend_cuda_init"),
      ...shared,
      backend,
      soname("libx.so"),
      "-Wl,-rpath,$ORIGIN",
      loose,
    );
    const user = compile(folder, "libuser.so", calls("u", "x"), ...shared, linked, "-Wl,-rpath,$ORIGIN", loose);
    expect((await analyzeLibrary(user, { environment: {} })).verdict).toMatchObject({
      accelerators: ["cuda"],
      reasons: ["needs libx.so, which needs libggml-cuda.so"],
    });
    expect((await analyzeLibrary(cuda, { environment: {} })).verdict.accelerators).toEqual(["cuda"]);
    const none = compile(join(directory, "brought"), "libnone.so", define("f"), ...shared);
    expect((await analyzeLibrary(none)).verdict.accelerators).toEqual([]);
  });

  it("names the kernels of the registry that functions are", async () => {
    const functions = ["ggml_vec_dot_q4_K_q8_K", "ggml_vec_dot_iq2_s_q8_K", "ggml_vec_dot_f32", "ggml_vec_dot_q5_0_q8_0_generic"];
    const path = compile(directory, "libkernels.so", define(...functions, "llama_decode", "ggml_backend_cuda_init"), ...shared);
    expect((await analyzeLibrary(path)).kernels).toEqual([
      { id: "IQ2S_GGML_CPU", symbol: "ggml_vec_dot_iq2_s_q8_K" },
      { id: "Llama_CPU", symbol: "llama_decode" },
      { id: "Llama_CUDA", symbol: "ggml_backend_cuda_init" },
      { id: "Q4_K_GGML_CPU", symbol: "ggml_vec_dot_q4_K_q8_K" },
    ]);
  });

  it("a library for musl does not fit a program with glibc", async () => {
    const libc = compile(
      directory,
      "libc.musl-x86_64.so.1",
      define("outside"),
      ...shared,
      "-nostdlib",
      "-Wl,-soname,libc.musl-x86_64.so.1",
    );
    const path = compile(
      directory,
      "libmusl.so",
      "int outside(void); int f(void) { return outside(); }",
      ...shared,
      "-nostdlib",
      libc,
    );
    const { fit } = await analyzeLibrary(path);
    expect(fit.problems).toContain("it is for musl, and this program uses glibc");
  });
});

it("refuses requirements that name no library", async () => {
  const path = join(directory, "libx.dylib");
  writeFileSync(path, machoLibrary(0x0100000c));
  const analysis = await analyzeLibrary(path, { displayName: "./libx.dylib" });
  expect(() => failedRequirements(analysis, { require: ["cudda"] })).toThrow("no library or accelerator is called cudda");
  expect(failedRequirements(analysis, { require: ["metal"] })).toEqual(["./libx.dylib is required to have metal, and does not"]);
});
