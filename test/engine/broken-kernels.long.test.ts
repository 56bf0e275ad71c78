/** The built package with a wrong constant in its code generator: nothing may come out wrong, and everything says so. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { miniLmGoldens, needsData, sharedData } from "../fixtures/shared-data.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [skip, name] = needsData("a code generator with a wrong constant in GELU");

describe.skipIf(skip)(name, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-broken-"));
  const model = `${sharedData}all-MiniLM-L6-v2`;
  const inferyard = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [join(folder, "bin/inferyard.js"), ...args], {
      encoding: "utf8",
      env: { ...process.env, HOME: folder },
    });

  beforeAll(() => {
    for (const part of ["dist", "bin", "builtin", "schemas", "package.json"])
      cpSync(join(root, part), join(folder, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const constant = "f32x4.const(Math.SQRT1_2)";
    const files = readdirSync(join(folder, "dist")).map((name) => join(folder, "dist", name));
    const broken = files.filter((path) => path.endsWith(".js") && readFileSync(path, "utf8").includes(constant));
    if (broken.length !== 1) throw new Error(`${broken.length} files of the bundle have the constant to break`);
    for (const path of broken) writeFileSync(path, readFileSync(path, "utf8").replace(constant, "f32x4.const(0.6)"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("still gives the right vector, and the decision says who computes GELU", () => {
    const golden = miniLmGoldens().find(({ text }) => text.length > 10);
    const program = `
      import { createRuntime } from ${JSON.stringify(pathToFileURL(join(folder, "dist/index.js")).href)};
      const runtime = await createRuntime({ target: "native:cpu" });
      const { embeddings, decision } = await runtime.embed(${JSON.stringify(golden!.text)}, { model: ${JSON.stringify(model)} });
      console.log(JSON.stringify({ embeddings: embeddings.map((vector) => Array.from(vector)), decision }));
      await runtime.dispose();`;
    const given = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
    const { embeddings, decision } = JSON.parse(given) as {
      embeddings: number[][];
      decision: { selected: { evidence: string[] } };
    };
    for (const [index, value] of golden!.normalized.entries()) expect(embeddings[0]![index]).toBeCloseTo(value, 5);
    expect(decision.selected.evidence.join("\n")).toMatch(
      /kernel check failed: matmul gelu: .+; the interpreter computes it instead/,
    );
  });

  it("is told by doctor, for every kernel that has GELU in it and for no other", () => {
    const printed = inferyard("doctor");
    expect(printed).toMatch(/native:cpu +WARN /);
    expect(
      [...printed.replaceAll(/\s+/g, " ").matchAll(/(?:: |\), )([a-z\d -]+) \(element/g)].map(([, kernel]) => kernel).toSorted(),
    ).toEqual([
      "block-matmul gelu",
      "byte-matmul gelu",
      "conv2d gelu",
      "depthwise gelu",
      "elementwise gelu float32",
      "integer-matmul gelu",
      "matmul gelu",
    ]);
  });
});
