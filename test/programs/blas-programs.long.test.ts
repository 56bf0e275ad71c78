/** Programs on a library with matrix products: Mirage's programs, libraries that end the process, and switches to and from native. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blasPrograms, compileProgram, defineProgram, nativePrograms, ProgramBackends } from "inferyard/program";
import { programBackendCases } from "inferyard/testing";
import { miragePrograms, mirageTensors } from "../../bench/programs/mirage-programs.mjs";
import { onRequest } from "../fixtures/slow.ts";
import { compile, needsPrograms } from "../libraries/fixtures/native-libraries.ts";

interface Golden {
  readonly sizes: Readonly<Record<string, number>>;
  readonly values: readonly number[];
}

const goldens = JSON.parse(readFileSync(new URL("fixtures/mirage-goldens.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Golden>
>;

const blas = blasPrograms();
const backends = new ProgramBackends([blas, nativePrograms()]);
const found = await blas.probe(undefined);
const whySkipped = found.isAvailable ? "" : ` (skipped: ${found.reason})`;

describe.skipIf(!found.isAvailable)(`programs on blas${whySkipped}`, () => {
  it.each(Object.keys(miragePrograms))("%s gives NumPy's values", async (name) => {
    const { sizes, values } = goldens[name] ?? { sizes: {}, values: [] };
    const program = miragePrograms[name]?.(sizes);
    if (program === undefined) throw new Error(`${name} is missing`);
    const kernel = await compileProgram(program, { backend: "blas", backends, weights: mirageTensors(program.weights, 11) });
    const { y } = await kernel.run(mirageTensors(program.inputs, 1));
    await kernel.dispose();
    const worst = Math.max(...values.map((value, index) => Math.abs(value - Number(y?.data[index]))));
    expect(worst).toBeLessThan(1e-5 * Math.max(...values.map(Math.abs)));
  });

  it("carries states to native and back", async () => {
    const program = defineProgram(({ input, matmul, state, update, add }) => {
      const total = state("total", [2, 2]);
      const next = add(total, matmul(input("x", [2, 3]), input("w", [3, 2])));
      update(total, next);
      return { next };
    });
    const kernel = await compileProgram(program, { backend: "blas", backends });
    const inputs = { x: Float32Array.of(1, 2, 3, 4, 5, 6), w: Float32Array.of(1, 0, 0, 1, 1, 1) };
    await kernel.run(inputs);
    await kernel.switchTo("native");
    await kernel.run(inputs);
    await kernel.switchTo("blas");
    expect((await kernel.run(inputs)).next?.data).toEqual(Float32Array.of(12, 15, 30, 33));
    await kernel.dispose();
  });

  const [skips, title] = onRequest("all samples of float32 and float64 for operators");
  describe.skipIf(skips)(title, () => {
    const integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"] as const;
    const dataTypes = ["float32", "float64", "float16", "bfloat16", ...integers] as const;
    const cases = programBackendCases({ create: () => blas, dataTypes, floats: ["float32", "float64"] });
    it.each(cases)("$name", async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });
  });
});

const [skips, name] = needsPrograms("libraries that end the process", "gcc");

describe.skipIf(skips)(name, () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-blas-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ["while it is loaded", "__attribute__((constructor)) void begin(void) { abort(); } void cblas_sgemm(void) {}", "SIGABRT"],
    ["in a product", "void cblas_sgemm(void) { raise(SIGSEGV); }", "SIGSEGV"],
    ["by exit", "void cblas_sgemm(void) { _exit(3); }", "code 3"],
  ])("one that does so %s ends a child process alone, and the program runs on native", async (_, source, told) => {
    const includes = "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n";
    const library = compile(folder, `lib${told.replace(" ", "")}.so`, `${includes}${source}`, "-shared", "-fPIC");
    const own = new ProgramBackends([blasPrograms({ library }), nativePrograms()]);
    const program = defineProgram(({ input, matmul }) => ({ y: matmul(input("a", [2, 3]), input("b", [3, 2])) }));
    const kernel = await compileProgram(program, { backend: "blas", fallbackBackends: ["native"], backends: own });
    expect(kernel.backend).toBe("native");
    expect(kernel.decision.candidates[0]?.reason).toMatch(new RegExp(`in a child process, it ended the process .*${told}`));
    await kernel.dispose();
  });
});
