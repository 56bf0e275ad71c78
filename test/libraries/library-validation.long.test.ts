import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { InferyardError } from "inferyard";
import { type LibraryRefusal, validateLibrary } from "inferyard/libraries";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { packaged } from "./fixtures/native-libraries.ts";
import { type LibraryChange, compileLibrary, compilerProblem, keptModelParams } from "./fixtures/compiled-libraries.ts";

const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "inferyard-validation-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isLinux64 = process.platform === "linux" && process.arch === "x64";
const llamaFolder = dirname(packaged.llama);

/** Processes whose command line names a file of the test's folder. */
function survivors(): readonly string[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .map((entry) => {
      try {
        return readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(folder) || line.includes("inferyard-survivor"));
}

async function refused(
  path: string,
  options: Parameters<typeof validateLibrary>[2] = {},
): Promise<LibraryRefusal & { readonly message: string }> {
  const error: unknown = await validateLibrary(path, "llama", options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "LIBRARY_INCOMPATIBLE", remedy: expect.stringMatching(/.+/) });
  const { data, message } = error as InferyardError;
  const refusal = data as unknown as LibraryRefusal;
  expect(refusal.steps.at(-1)).toMatchObject({ name: refusal.step, verdict: "refused" });
  expect(refusal.path).toBe(options.displayName ?? path);
  return { ...refusal, message };
}

describe.skipIf(!isLinux64 || !existsSync(packaged.llama))(
  "published libraries (skipped: they are those for Linux on x86-64)",
  () => {
    const llama = basename(packaged.llama);

    it("proves the layouts of llama.cpp", async () => {
      const validation = await validateLibrary(join(llamaFolder, llama), "llama", { displayName: "libllama.so" });
      expect(validation).toMatchObject({
        path: "libllama.so",
        contract: "llama",
        title: "llama.cpp",
        version: expect.stringContaining("0.5.0"),
        structs: [
          { name: "llama_model_params", release: "b11227", size: 80, fields: 17 },
          { name: "llama_context_params", release: "b10361", size: 160, fields: 37 },
          { name: "llama_batch", release: "b4234", size: 56, fields: 7 },
        ],
      });
      expect(validation.steps.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual(
        ["analysis", "loading", "functions", "version", "abi", "devices"].map((name) => `${name} passed`),
      );
      expect(validation.steps.at(-1)?.detail).toBe("CPU");
      expect(validation.optional).toHaveProperty("ggml_backend_dev_count", "devices by name");
    });

    it("proves the types of ggml, and whether this processor has the instructions of a build", async () => {
      const base = await validateLibrary(join(llamaFolder, "libggml-base.so"), "ggml");
      expect(base.steps.find(({ name }) => name === "abi")?.detail).toMatch(
        /^3[2-9] types have the block sizes that GGUF files have$/,
      );
      const plain = await validateLibrary(join(llamaFolder, "libggml-cpu-x64.so"), "ggml");
      expect(plain.steps.at(-1)?.detail).toMatch(/^this processor has its instructions \(ggml_backend_score [1-9]\d*\)$/);
      const flags = readFileSync("/proc/cpuinfo", "utf8");
      const exotic = ["alderlake", "sapphirerapids"].find(
        (name) => !flags.includes(name === "alderlake" ? "avx_vnni" : "amx_int8"),
      );
      if (exotic === undefined) return;
      await expect(validateLibrary(join(llamaFolder, `libggml-cpu-${exotic}.so`), "ggml")).rejects.toMatchObject({
        code: "LIBRARY_INCOMPATIBLE",
        data: { step: "devices", found: "ggml_backend_score 0" },
      });
    });

    it("proves the versions of ONNX Runtime's API", async () => {
      const main = require.resolve("onnxruntime-node");
      const path = join(dirname(main), "../bin/napi-v6/linux/x64/libonnxruntime.so.1");
      const { version, steps } = await validateLibrary(path, "onnxruntime");
      const minor = Number(version?.split(".")[1]);
      expect(minor).toBeGreaterThanOrEqual(24);
      expect(steps.at(-1)).toMatchObject({ name: "abi", detail: `GetApi has versions 1 to ${minor} and refuses ${minor + 1}` });
      expect(await refused(path)).toMatchObject({
        step: "functions",
        found: expect.stringContaining("0 of them; missing: llama_backend_init"),
      });
    });
  },
);

describe.skipIf(!isLinux64 || !existsSync(packaged.llama))("inferyard libraries verify (skipped: on x86-64 Linux alone)", () => {
  const verify = async (...words: readonly string[]) => inferyard(["libraries", "verify", ...words], { directory: llamaFolder });

  it("prints the steps, by the contract of the library's class", async () => {
    const { code, stdout, stderr } = await verify("libggml-base.so");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^libggml-base\.so {3}ggml \d+\.\d+\.\d+ \([0-9a-f]+\) {3}keeps the contract ggml$/m);
    expect(stdout).toMatch(/^ {2}abi +passed +[\d.]+ ms +3\d types have the block sizes that GGUF files have$/m);
    expect(JSON.parse((await verify("libggml-base.so", "--json")).stdout)).toMatchObject({
      contract: "ggml",
      path: "libggml-base.so",
    });
  });

  it("prints the steps up to the refusal, then what was expected and found; exit 1", async () => {
    const { code, stdout, stderr } = await verify("libggml-base.so", "--contract", "llama");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}functions +refused +[\d.]+ ms +0 of them; missing: llama_backend_init, /m);
    expect(stderr).toMatch(/^inferyard: libggml-base\.so does not keep the contract llama \[LIBRARY_INCOMPATIBLE\]$/m);
    expect(stderr).toMatch(/^ {2}expected 25 functions of llama\.cpp$/m);
    const json = JSON.parse((await verify("libggml-base.so", "--contract", "llama", "--json")).stdout) as { error: unknown };
    expect(json.error).toMatchObject({ code: "LIBRARY_INCOMPATIBLE", data: { step: "functions", contract: "llama" } });
  });

  it("refuses what it cannot do", async () => {
    const wrong = [
      ["check", "x.so"],
      ["verify"],
      ["verify", "libggml-base.so", "--all"],
      ["verify", process.execPath],
      ["--contract", "llama"],
    ];
    for (const words of wrong) {
      const { code, stderr } = await inferyard(["libraries", ...words], { directory: llamaFolder });
      expect([code, stderr]).toEqual([2, expect.stringContaining("[INPUT_INVALID]")]);
    }
  });

  it("is named by analyze-library, which proves nothing", async () => {
    const name = basename(packaged.llama);
    const { stdout } = await inferyard(["analyze-library", name], { directory: llamaFolder });
    expect(stdout).toContain(`contract llama: 25 of 25 functions; ABI not proved yet: inferyard libraries verify ${name}`);
  });
});

it("refuses what is no library, and contracts that do not exist", async () => {
  const text = join(folder, "text.so");
  writeFileSync(text, "not a library\n");
  await expect(validateLibrary(text, "llama")).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining("text"),
  });
  await expect(validateLibrary(join(folder, "none.so"), "llama")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(validateLibrary(text, "lama" as "llama")).rejects.toMatchObject({
    code: "INPUT_INVALID",
    remedy: "name one of llama, ggml, onnxruntime, pjrt, bitnet",
  });
});

describe.skipIf(!isLinux64)("libraries compiled here (skipped: on x86-64 Linux alone)", () => {
  let problem: string | undefined;
  beforeAll(() => {
    problem = compilerProblem(folder);
  });
  beforeEach(({ skip }) => skip(problem !== undefined, `gcc cannot compile here: ${problem}`));
  afterEach(() => {
    const left = survivors();
    if (left.length > 0) throw new Error(`processes are left: ${left.join("; ")}`);
  });

  const refusedChange = async (name: string, change: LibraryChange, options: Parameters<typeof validateLibrary>[2] = {}) =>
    refused(compileLibrary(folder, name, change), options);

  it("accepts one that keeps the contract", async () => {
    const { structs, version, steps } = await validateLibrary(compileLibrary(folder, "libkept.so"), "llama");
    expect(structs.map(({ release, size }) => `${release} ${size}`)).toEqual(["b6133 72", "b9842 160", "b4234 56"]);
    expect([version, steps.find(({ name }) => name === "version")?.detail]).toEqual([
      undefined,
      "it states none; the layouts of its structs tell",
    ]);
  });

  it("refuses one that lacks a function, by its names", async () => {
    expect(await refusedChange("liblacks.so", { without: ["llama_decode", "llama_model_free"] })).toMatchObject({
      step: "functions",
      expected: "25 functions of llama.cpp",
      found: "23 of them; missing: llama_model_free or llama_free_model, llama_decode",
    });
  });

  it("refuses a struct of another size", async () => {
    const larger = [...keptModelParams.slice(0, 2), ["int64_t", "seed", "77"] as const, ...keptModelParams.slice(2)];
    const { step, found, details } = await refusedChange("liblarger.so", { modelParams: larger });
    expect(step).toBe("abi");
    expect(found).toMatch(/^80 bytes, which differ in \d+ places from the closest layout: b\d+/);
    expect(details.join("\n")).toMatch(/\w+: int32 at offset \d+, .* expected, found 77 \(bytes 4d000000\)/);
  });

  it("refuses a struct of the same size with two fields exchanged", async () => {
    const swapped = keptModelParams.with(10, keptModelParams[11] ?? ["", "", ""]).with(11, keptModelParams[10] ?? ["", "", ""]);
    expect(await refusedChange("libswapped.so", { modelParams: swapped })).toMatchObject({
      step: "abi",
      details: expect.arrayContaining([
        "b6133: use_mmap: bool at offset 65, true expected, found false (bytes 00)",
        "b6133: use_mlock: bool at offset 66, false expected, found true (bytes 01)",
      ]),
    });
  });

  it("survives constructors that crash, abort, exit, and hang", async () => {
    const inConstructor = (statement: string): string => `__attribute__((constructor)) static void start(void) { ${statement} }`;
    expect(
      await refusedChange("libcrash.so", { code: inConstructor('fprintf(stderr, "about to crash\\n"); raise(SIGSEGV);') }),
    ).toMatchObject({
      step: "loading",
      found: "it ended the process by SIGSEGV",
      lastLines: ["about to crash"],
      message: expect.stringContaining("about to crash"),
    });
    expect(await refusedChange("libabort.so", { code: inConstructor("abort();") })).toMatchObject({
      found: "it ended the process by SIGABRT",
    });
    expect(await refusedChange("libexit.so", { code: inConstructor("exit(0);") })).toMatchObject({
      step: "loading",
      found: expect.stringMatching(/^it ended the process (?:with code 0|by SIGABRT)$/) as string, // exit() waits for no thread of Node.js
    });
    expect(await refusedChange("libhang.so", { code: inConstructor("for (;;) pause();") }, { timeout: 1_500 })).toMatchObject({
      step: "loading",
      found: "it did not end within 1500 ms",
    });
  });

  it("survives functions that crash, exit, hang, and take memory", async () => {
    expect(await refusedChange("libcrash2.so", { inDefaults: "*(volatile int *)8 = 1;" })).toMatchObject({
      step: "abi",
      found: "it ended the process by SIGSEGV",
    });
    expect(await refusedChange("libexit2.so", { inDefaults: "_exit(3);" })).toMatchObject({
      step: "abi",
      found: "it ended the process with code 3",
    });
    expect(await refusedChange("libhang2.so", { inDefaults: "for (;;);" }, { timeout: 1_500 })).toMatchObject({
      step: "abi",
      found: "it did not end within 1500 ms",
    });
    const hog = "for (;;) { char *block = malloc(1 << 24); memset(block, 1, 1 << 24); usleep(2000); }";
    expect(await refusedChange("libhog.so", { inDefaults: hog }, { maxMemory: 400_000_000 })).toMatchObject({
      step: "abi",
      found: "it took more than 400000000 bytes of memory",
    });
  });

  it("ends processes that a constructor started", async () => {
    const code =
      '__attribute__((constructor)) static void start(void) { if (fork() == 0) { execl("/bin/sh", "sh", "-c", "sleep 60 # inferyard-survivor", 0); } }';
    await expect(validateLibrary(compileLibrary(folder, "libfork.so", { code }), "llama")).resolves.toMatchObject({
      contract: "llama",
    });
    expect(survivors()).toEqual([]);
  });

  it("tells what the loader misses: a needed library, and a symbol", async () => {
    const needed = compileLibrary(folder, "libneeded.so", { code: "int needed(void) { return 1; }" });
    const code = "int needed(void); int uses(void) { return needed(); }";
    const path = compileLibrary(folder, "libneeds.so", { code, flags: ["-Wl,--no-as-needed", `-L${folder}`, "-lneeded"] });
    rmSync(needed);
    expect(await refused(path)).toMatchObject({ step: "analysis", found: "needs libneeded.so, which is not on this machine" });
    expect(await refusedChange("libunresolved.so", { code })).toMatchObject({
      step: "loading",
      found: expect.stringContaining("undefined symbol: needed"),
    });
  });

  it("refuses a library for another processor without loading it", async () => {
    const path = join(folder, "libarm64.so");
    copyFileSync(compileLibrary(folder, "libx86.so"), path);
    const bytes = readFileSync(path);
    bytes.writeUInt16LE(183, 18); // e_machine: EM_AARCH64
    writeFileSync(path, bytes);
    const { step, found, steps } = await refused(path, { displayName: "arm.so" });
    expect([step, steps.length]).toEqual(["analysis", 1]);
    expect(found).toContain("it is for arm64");
  });

  it("stops when the caller does", async () => {
    const started = join(folder, "slow-started");
    const path = compileLibrary(folder, "libslow.so", {
      code: `__attribute__((constructor)) static void start(void) { fclose(fopen(${JSON.stringify(started)}, "w")); for (;;) pause(); }`,
    });
    const controller = new AbortController();
    const validation = validateLibrary(path, "llama", { signal: controller.signal });
    validation.catch(() => {}); // expected below
    await vi.waitFor(() => expect(existsSync(started)).toBe(true), { timeout: 60_000 });
    controller.abort();
    await expect(validation).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("says of bitnet that its binary interface cannot be proved, and of PJRT what its struct states", async () => {
    const names = ["model_new_from_file", "context_new", "tokenize", "eval", "decode_greedy"];
    const bitnet = compileLibrary(folder, "libbitnet.so", {
      code: names.map((name) => `void bitnet_${name}(void) {}`).join("\n"),
    });
    expect((await validateLibrary(bitnet, "bitnet")).steps.at(-1)).toMatchObject({ name: "abi", verdict: "not provable" });
    const api = (size: number, major: number, minor: number): string =>
      `static struct { size_t size; void *extension; size_t version_size; void *version_extension; int major, minor; void *functions[118]; } api = { ${size}, 0, 24, 0, ${major}, ${minor} };
       void *GetPjrtApi(void) { api.functions[0] = GetPjrtApi; return &api; }`;
    const good = await validateLibrary(compileLibrary(folder, "libpjrt.so", { code: api(984, 0, 81) }), "pjrt");
    expect([good.version, good.steps.at(-1)?.detail]).toEqual([
      "0.81",
      "PJRT_Api has 118 functions, as API 0.81 has; 117 of them are NULL",
    ]);
    const old = compileLibrary(folder, "liboldpjrt.so", { code: api(984, 0, 40) });
    await expect(validateLibrary(old, "pjrt")).rejects.toMatchObject({ data: { step: "version" } });
    const short = compileLibrary(folder, "libshortpjrt.so", { code: api(976, 0, 81) });
    await expect(validateLibrary(short, "pjrt")).rejects.toMatchObject({
      data: { step: "abi", found: "struct_size 976, that is 117 functions" },
    });
  });
});
