import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, needsPrograms } from "../../../../test/libraries/fixtures/native-libraries.ts";
import type { DataType } from "../../../contract/tensor.ts";
import { programBackendCases } from "../../../testing/index.ts";
import { blasPrograms, compileProgram, defineProgram, nativePrograms, ProgramBackends, type Program } from "../../index.ts";
import { findBlas } from "./find-blas.ts";

const integers: readonly DataType[] = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"];
const dataTypes: readonly DataType[] = ["float32", "float64", "float16", "bfloat16", ...integers];
const blas = blasPrograms();
const found = await blas.probe(undefined);
const whySkipped = found.isAvailable ? "" : ` (skipped: ${found.reason})`;

describe.skipIf(!found.isAvailable)(`the backend blas of programs${whySkipped}`, () => {
  describe("keeps the interface of backends of programs", () => {
    it.each(programBackendCases({ create: () => blas, dataTypes, samples: 1 }))("$name", async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });
  });

  const backends = new ProgramBackends([blas]);
  const run = async (program: Program): Promise<readonly string[]> => {
    const kernel = await compileProgram(program, { backend: "blas", backends }); // holds the results against the interpreter
    await kernel.dispose();
    return kernel.decision.selected?.evidence ?? [];
  };
  const calls = (evidence: readonly string[]): number =>
    Number(/was called for (\d+) matrix products/.exec(evidence.join())?.[1]);

  it.each([
    ["rows of batches with one second operand are one product", [2, 3, 5, 7], [7, 4], 1],
    ["a batch is a product for each matrix", [3, 5, 7], [3, 7, 4], 3],
    ["both operands repeat", [2, 1, 5, 7], [1, 3, 7, 4], 6],
    ["a row and a column", [1, 9], [9, 1], 1],
  ] as const)("%s", async (_, left, right, count) => {
    const hasDouble = found.isAvailable && found.library.name !== "oneDNN";
    for (const type of ["float32", "float64"] as const) {
      const program = defineProgram(({ input, matmul }) => ({ y: matmul(input("a", left, type), input("b", right, type)) }));
      expect(calls(await run(program))).toBe(type === "float64" && !hasDouble ? 0 : count);
    }
  });

  it("reads transposed operands where they are, and copies those without contiguous rows or columns", async () => {
    const transposed = defineProgram(({ input, matmul, transpose }) => {
      const a = transpose(input("a", [6, 2, 5]), { perm: [1, 2, 0] }); // heads between rows: [2, 5, 6], columns contiguous
      const b = transpose(input("b", [4, 2, 6]), { perm: [1, 2, 0] }); // [2, 6, 4], its rows contiguous
      return { y: matmul(a, b) };
    });
    expect((await run(transposed)).join()).toContain("executable of 1 steps");
    const scattered = defineProgram(({ input, matmul, transpose }) => {
      const a = transpose(input("a", [5, 6, 2]), { perm: [2, 0, 1] });
      return { y: matmul(a, input("b", [2, 6, 3])) };
    });
    expect((await run(scattered)).join()).toContain("executable of 2 steps");
  });

  it("leaves other types and empty products to the engine", async () => {
    const program = defineProgram(({ input, matmul }) => ({
      y: matmul(input("a", [2, 3], "int32"), input("b", [3, 2], "int32")),
      empty: matmul(input("c", [2, 0]), input("d", [0, 2])),
    }));
    expect(calls(await run(program))).toBe(0);
  });
});

const [skips, name] = needsPrograms("libraries that are not right", "gcc");
const signature = (symbol: string, type: string): string =>
  `void ${symbol}(int o, int ta, int tb, int m, int n, int k, ${type} x, const ${type} *a, int la, const ${type} *b, int lb, ${type} y, ${type} *c, int lc)`;
const product = (extra: string): string =>
  `{ for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { double s = 0; for (int l = 0; l < k; l++) s += (double)(ta == 111 ? a[i * la + l] : a[l * la + i]) * (tb == 111 ? b[l * lb + j] : b[j * lb + l]); c[i * lc + j] = x * s${extra}; } }`;

describe.skipIf(skips)(name, () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-blas-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const library = (file: string, single: string, double: string): string =>
    compile(
      folder,
      file,
      `${signature("cblas_sgemm", "float")} ${product(single)}\n${signature("cblas_dgemm", "double")} ${product(double)}`,
      "-shared",
      "-fPIC",
    );

  it("takes any library with CBLAS's functions, if its products are right", async () => {
    const own = blasPrograms({ library: library("libplain.so", "", "") });
    expect(await own.probe(undefined)).toMatchObject({ isAvailable: true, library: { name: "a BLAS", version: "unknown" } });
    expect(await own.probe("mkl")).toMatchObject({
      isAvailable: false,
      reason: expect.stringMatching(/libplain.so is a BLAS/) as string,
    });
    expect(await own.probe("openmp")).toMatchObject({
      isAvailable: false,
      reason: expect.stringMatching(/without OpenMP/) as string,
    });
  });

  it("refuses wrong products with the reason, and the next backend runs the program", async () => {
    const wrong = library("libwrong.so", "", " + (k > 100 && i == m - 1)");
    const backends = new ProgramBackends([blasPrograms({ library: wrong }), nativePrograms()]);
    const program = defineProgram(({ input, matmul }) => ({ y: matmul(input("a", [2, 3]), input("b", [3, 2])) }));
    const kernel = await compileProgram(program, { backend: "blas", fallbackBackends: ["native"], backends });
    expect(kernel.backend).toBe("native");
    expect(kernel.decision.candidates[0]).toMatchObject({
      verdict: "refused",
      stage: "probe",
      reason: expect.stringMatching(
        /a product of float64\[67,131\] and \[131,73\] by .*libwrong.so has \S+ at element 4818/,
      ) as string,
      remedy: expect.stringMatching(/INFERYARD_BLAS_LIBRARY/) as string,
    });
    await kernel.dispose();
  });

  it("refuses files that are no library, tries the next file, and tells each reason", async () => {
    const text = join(folder, "libtext.so");
    writeFileSync(text, "no library");
    const empty = compile(folder, "libempty.so", "int nothing;", "-shared", "-fPIC");
    const { isAvailable, reason } = await blasPrograms({ library: `${text}:${empty}` }).probe(undefined);
    expect(isAvailable).toBe(false);
    expect(reason).toMatch(/libtext.so could not be loaded.*libempty.so has no function cblas_sgemm/);
    expect(await blasPrograms({ library: `${text}:${library("libplain.so", "", "")}` }).probe(undefined)).toMatchObject({
      isAvailable: true,
    });
  });

  it("finds libraries of a Python environment by their names", async () => {
    const environment = { VIRTUAL_ENV: folder, PATH: "" };
    expect((await findBlas(undefined, environment)).some(({ path }) => path.startsWith(folder))).toBe(false);
    for (const path of ["lib/python3.12/site-packages/numpy.libs", "lib/python3.12/site-packages/mkl"])
      mkdirSync(join(folder, path), { recursive: true });
    const files = ["lib/python3.12/site-packages/numpy.libs/libscipy_openblas64_-56d6093b.so", "lib/libmkl_rt.so.2"];
    for (const file of [...files, "lib/libmkl_core.so.2", "lib/libopenblas.a"]) writeFileSync(join(folder, file), "");
    const known = (await findBlas(undefined, environment)).filter(({ path }) => path.startsWith(folder));
    expect(known.map(({ path, kind }) => [path, kind])).toEqual([
      [join(folder, files[0] ?? ""), "openblas"],
      [join(folder, files[1] ?? ""), "mkl"],
    ]);
    expect(await findBlas(undefined, { INFERYARD_BLAS_LIBRARY: "/opt/own.so" })).toEqual([
      { path: "/opt/own.so", foundBy: "INFERYARD_BLAS_LIBRARY", kind: undefined },
    ]);
  });
});
