/** The search for the fastest form of a program: what rewrites compute, what is told, and that nothing changes where nothing may. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { compileProgram, defineProgram, nativePrograms, optimize, type Program, ProgramBackends } from "../index.ts";

const backends = new ProgramBackends([nativePrograms()]);
const home = mkdtempSync(join(tmpdir(), "inferyard-optimize-"));

beforeAll(() => void vi.stubEnv("INFERYARD_HOME", home));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

/** x w + x a b, with a and b of rank 4. */
const lora = defineProgram(({ input, weight, matmul, add }) => {
  const x = input("x", [16, 64]);
  return { y: add(matmul(x, weight("w", [64, 256])), matmul(matmul(x, weight("a", [64, 4])), weight("b", [4, 256]))) };
});

function tensors(infos: Program["weights"] | Program["inputs"], seed: number): Record<string, Float32Array> {
  return Object.fromEntries(
    infos.map(({ name, shape }, which) => {
      const length = shape.reduce<number>((product, size) => product * Number(size), 1);
      return [name, Float32Array.from({ length }, (_, index) => ((index * 7919 + (seed + which) * 104_729) % 1009) / 1009 - 0.5)];
    }),
  );
}

async function run(
  program: Program,
  weights: Readonly<Record<string, Float32Array>>,
  inputs: Readonly<Record<string, Float32Array>>,
): Promise<number[]> {
  const kernel = await compileProgram(program, { backends, weights, mode: "throughput" });
  const { y } = await kernel.run(inputs);
  await kernel.dispose();
  return Array.from(y?.data as Float32Array);
}

describe("optimize", () => {
  it("tells what it tried, and returns a program with the same results", async () => {
    const program = lora;
    const weights = tensors(program.weights, 11);
    const {
      program: found,
      weights: left,
      report,
    } = await optimize(program, { backends, weights, budget: "6s", mode: "throughput" });
    expect(report.tried.map(({ change }) => change)).toContain("merge-adapter");
    expect(report.tried.filter(({ verdict }) => verdict === "unproved" || verdict === "wrong")).toEqual([]);
    const inputs = tensors(program.inputs, 1);
    const [expected, computed] = [await run(program, weights, inputs), await run(found, left as typeof weights, inputs)];
    const worst = Math.max(...expected.map((value, index) => Math.abs(value - (computed[index] ?? Number.NaN))));
    expect(worst).toBeLessThan(1e-4 * Math.max(...expected.map(Math.abs)));
  });
});
