/** Random programs: every rewrite of every rule computes the same, and so does what a search finds. 200 programs with TEST_SLOW=1, a sample otherwise. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Tensor, TensorMap } from "../../src/contract/tensor.ts";
import { interpretGraph } from "../../src/programs/compilation/interpret-graph.ts";
import { probeTensor } from "../../src/programs/compilation/probe-tensors.ts";
import { programFromModel } from "../../src/programs/definition/program-from-model.ts";
import { sizedShape, traceProgram } from "../../src/programs/definition/trace-program.ts";
import { nativePrograms, optimize, type Program, ProgramBackends } from "../../src/programs/index.ts";
import { applyRule } from "../../src/programs/optimization/apply-rule.ts";
import { OperatorGraph } from "../../src/programs/optimization/operator-graph.ts";
import { rewriteRules } from "../../src/programs/optimization/rules/index.ts";
import { runsAll } from "../fixtures/slow.ts";
import { randomProgram } from "./fixtures/random-program.ts";

const backends = new ProgramBackends([nativePrograms()]);
const home = mkdtempSync(join(tmpdir(), "inferyard-optimize-"));

beforeAll(() => void vi.stubEnv("INFERYARD_HOME", home));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

const getWeights = ({ weights }: Program): Record<string, Tensor> =>
  Object.fromEntries(
    weights.map(({ name, dataType, shape }, index) => [name, probeTensor({ dataType, shape }, "positive", 100 + index)]),
  );

async function interpret(program: Program, weights: Readonly<Record<string, Tensor>>): Promise<TensorMap> {
  const settings = { sizes: program.exampleSizes, weights: new Map(Object.entries(weights)) };
  const { graph } = traceProgram(program, program.open(), settings);
  const inputs = graph.inputs.map(({ name, value }, index): [string, Tensor] => [
    name,
    probeTensor(value.type, "signed", index + 1),
  ]);
  return await interpretGraph(graph, Object.fromEntries(inputs));
}

function expectSame(expected: TensorMap, computed: TensorMap): void {
  for (const [name, { data }] of Object.entries(expected)) {
    const numbers = Array.from(data as Float32Array);
    const found = Array.from(computed[name]?.data as Float32Array);
    const largest = Math.max(...numbers.map(Math.abs));
    const worst = Math.max(...numbers.map((value, index) => Math.abs(value - (found[index] ?? Number.NaN))));
    expect(worst, name).toBeLessThanOrEqual(1e-4 * largest);
  }
}

describe("random programs", () => {
  it("are rewritten by each rule to programs with the same results", async () => {
    const applied = new Map<string, number>();
    const discarded: string[] = [];
    for (let seed = 0; seed < (runsAll ? 200 : 25); seed += 1) {
      const program = randomProgram(seed);
      const weights = getWeights(program);
      const expected = await interpret(program, weights);
      const types = program.inputs.map(
        ({ name, dataType, shape }) => [name, { dataType, shape: sizedShape(shape, new Map()) }] as const,
      );
      let graph = new OperatorGraph(program.toOnnx(new Map(Object.entries(weights))), new Map(types));
      for (const rule of rewriteRules) {
        const result = applyRule(graph, rule, undefined, new Map());
        if ("reason" in result) {
          if (result.reason !== "it matches no place") discarded.push(`${rule.name} on ${seed}: ${result.reason}`);
          continue;
        }
        applied.set(rule.name, (applied.get(rule.name) ?? 0) + result.places);
        graph = result.graph; // later rules see what earlier ones made
        expectSame(expected, await interpret(programFromModel(graph.model, program), {}));
      }
    }
    expect(discarded).toEqual([]);
    expect(applied.size).toBeGreaterThan(rewriteRules.length / 2);
  }, 3_600_000);

  it("are the same after a search", async () => {
    for (let seed = 0; seed < (runsAll ? 200 : 1); seed += 1) {
      const program = randomProgram(seed);
      const weights = getWeights(program);
      const expected = await interpret(program, weights);
      const {
        program: found,
        weights: left,
        report,
      } = await optimize(program, { backends, weights, budget: "1s", mode: "throughput" });
      expect(report.tried.filter(({ verdict }) => verdict === "wrong" || verdict === "unproved")).toEqual([]);
      expectSame(expected, await interpret(found, left as Record<string, Tensor>));
    }
  }, 3_600_000);
});
