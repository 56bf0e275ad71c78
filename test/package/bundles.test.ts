/** `inferyard build`: bundles that run in a process of their own, with the backends that were named alone. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBundle } from "../../src/bundling/build-bundle.ts";
import { selectBackends } from "../../src/bundling/selected-backends.ts";

const program = `
import { compileProgram, defineProgram, getBackendInfo, xlaPrograms } from "inferyard/program";
import { offset } from "./offset.ts";
const program = defineProgram(({ input, add }) => ({ y: add(input("x", [2]), offset as number) }));
const failed = await compileProgram(program, { backend: "xla", fallbackBackends: ["mkl"] }).catch((error) => error);
let made = "";
try { xlaPrograms(); } catch (error) { made = error.code; }
const kernel = await compileProgram(program, { backend: "cuda", fallbackBackends: ["native"], threads: 2 });
const { y } = await kernel.run({ x: Float32Array.of(1, 2) });
const { isBuilt } = await getBackendInfo("xla");
const [refused] = kernel.decision.candidates;
console.log(JSON.stringify({ code: failed.code, message: failed.message, made, isBuilt, refused: refused.reason, backend: kernel.backend, y: [...y.data] }));
await kernel.dispose();
`;

describe("a bundle", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-bundles-"));
    writeFileSync(join(folder, "app.ts"), program);
    writeFileSync(join(folder, "offset.ts"), "export const offset: number = 1;\n");
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const build = async (entry: string | undefined, out: string) =>
    await buildBundle({ entry, out, directory: folder, backends: await selectBackends(["native"], { folder, variables: {} }) });

  it("of a program has the named backends, and says which it lacks", async () => {
    const report = await build("app.ts", "out");
    expect(report).toMatchObject({ backends: ["native"], program: join(folder, "out", "app.js"), notes: [] });
    const again = await build("app.ts", "out"); // replaces its own files
    expect(again).toEqual(report);
    const record = JSON.parse(readFileSync(join(folder, "out", "inferyard-build.json"), "utf8")) as object;
    expect(record).toMatchObject({ backends: ["native"], lacks: ["xla", "blas", "cuda", "onnx", "llamacpp", "wasm", "library"] });
    const code = report.files.map((file) => readFileSync(join(folder, "out", file), "utf8")).join("\n");
    for (const absent of ["PJRT_", "cblas_sgemm", "onnxruntime-node"]) expect(code).not.toContain(absent);
    renameSync(join(folder, "out"), join(folder, "moved"));
    const printed = execFileSync(process.execPath, [join(folder, "moved", "app.js")], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual({
      code: "NO_BACKEND",
      message: expect.stringMatching(/xla is not compiled in.*blas is not compiled in: this build has native/),
      made: "NOT_BUILT",
      isBuilt: false,
      refused: "the backend cuda is not compiled in: this build has native",
      backend: "native",
      y: [2, 3],
    });
  });

  it("is not written over other files, nor without an entry that is there", async () => {
    mkdirSync(join(folder, "mine"));
    writeFileSync(join(folder, "mine", "notes.txt"), "mine");
    await expect(build("app.ts", "mine")).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(build("none.ts", "new")).rejects.toThrow(/none.ts is no file/);
    expect(existsSync(join(folder, "new"))).toBe(false);
    writeFileSync(join(folder, "wrong.mjs"), 'import "inferyard/none";\n');
    await expect(build("wrong.mjs", "new")).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("inferyard/none"),
    });
  });
});
