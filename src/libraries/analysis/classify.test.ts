import { describe, expect, it } from "vitest";
import { emptyLibrary } from "../../../test/libraries/fixtures/native-libraries.ts";
import type { BinaryFile } from "../binaries/index.ts";
import { classifyLibrary } from "./classify.ts";

/** A library that exports these functions. */
const exporting = (...names: readonly string[]): BinaryFile => ({
  ...emptyLibrary,
  symbols: names.map(
    (name) => ({ name, binding: "global", isImported: false, isExported: true }) as BinaryFile["symbols"][number],
  ),
});
const classes = (file: BinaryFile, name = "libx.so"): readonly string[] =>
  classifyLibrary(file, name).map((each) => `${each.name} ${each.confidence}`);

describe("classes by exports", () => {
  it.each(["", "64_"])("OpenBLAS as NumPy and SciPy build it, with the suffix '%s'", (suffix) => {
    const functions = ["get_config", "set_num_threads"];
    for (const prefix of ["openblas_", "scipy_openblas_"])
      expect(classes(exporting(...functions.map((name) => `${prefix}${name}${suffix}`)))).toEqual(["openblas certain"]);
    expect(classes(exporting(), "libscipy_openblas64_-1.so")).toEqual(["openblas possible"]);
  });

  it("cuBLAS not by the functions that a program loads from it on demand (CTranslate2)", () => {
    const shims = ["cublasCreate_v2", "cublasDestroy_v2", "cublasGemmEx", "cublasSgemm_v2"];
    expect(classes(exporting(...shims))).toEqual(["cublas possible"]);
    const own = [...shims, "cublasDgemm_v2", "cublasGetVersion_v2", "cublasGetProperty"];
    expect(classes(exporting(...own), "libcublas.so.12")).toEqual(["cublas certain"]);
  });

  it.each([
    ["libggml-cpu-armv8.2_1.so", "armv8.2_1"],
    ["libggml-cpu-zen4.so.0", "zen4"],
    ["ggml-cpu-x64.dll", "x64"],
    ["libggml-cpu.so.0.9.4", undefined],
  ])("the build of %s by its name", (name, variant) => {
    expect(classifyLibrary(exporting(), name)[0]).toMatchObject({ name: "ggml-cpu", variant });
  });
});
