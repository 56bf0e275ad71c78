/** Programs on several ranks that are all in this process: programs written here, and random ones. */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import type { TensorMap } from "../../src/contract/tensor.ts";
import { probeTensor } from "../../src/programs/compilation/probe-tensors.ts";
import { ProgramSession } from "../../src/programs/compilation/program-session.ts";
import { ReferenceAnswers } from "../../src/programs/compilation/reference-answers.ts";
import { defineProgram } from "../../src/programs/index.ts";
import { rankedBackend, type RankSettings } from "../../src/programs/ranks/rank-device.ts";
import { readRanks } from "../../src/programs/ranks/rank-options.ts";
import { amount } from "../fixtures/slow.ts";
import { randomProgram } from "./fixtures/random-program.ts";
import { compute, joinInProcess, native } from "./fixtures/ranks-in-process.ts";

const gatedMlp = defineProgram(({ input, weight, matmul, silu, multiply, add, layerNormalization }) => {
  const x = input("x", ["rows", 64]);
  const [normal] = layerNormalization(x, weight("scale", [64]), weight("shift", [64]));
  const hidden = multiply(silu(matmul(normal, weight("gate", [64, 96]))), matmul(normal, weight("up", [64, 96])));
  return { y: add(x, add(matmul(hidden, weight("down", [96, 64])), weight("bias", [64]))) };
});

const attention = defineProgram(({ input, weight, matMul, reshape, transpose, softmax, mul }) => {
  const x = input("x", ["batch", 7, 32]);
  const heads = (name: string, perm: readonly number[]) =>
    transpose(reshape(matMul(x, weight(name, [32, 32])), [0, 7, 4, 8]), { perm });
  const scores = softmax(mul(matMul(heads("q", [0, 2, 1, 3]), heads("k", [0, 2, 3, 1])), 0.35), { axis: -1 });
  const joined = reshape(transpose(matMul(scores, heads("v", [0, 2, 1, 3])), { perm: [0, 2, 1, 3] }), [0, 7, 32]);
  return { y: matMul(joined, weight("out", [32, 32])), scores };
});

describe("data-parallel ranks", () => {
  it.each([1, 5])("give the bits of one, for %i rows on two and three", async (rows) => {
    const sizes = { rows, batch: rows };
    for (const program of [gatedMlp, attention]) {
      const { outputs } = await compute({ program, sizes });
      for (const ranks of [2, 3]) {
        const divided = await compute({ program, sizes, ranks, parallelism: "data-parallel" });
        expect(divided.outputs).toEqual(outputs);
        expect(divided.evidence).toMatch(new RegExp(`${ranks} ranks, data-parallel: (\\d+) of \\1 operations are divided`));
      }
    }
  });

  it("compute whole what mixes the rows", async () => {
    const program = defineProgram(({ input, reduceMean, sub, relu }) => {
      const x = input("x", ["rows", 5]);
      const r = relu(x);
      return { y: sub(r, reduceMean(r, [0])) };
    });
    const alone = await compute({ program, sizes: { rows: 6 } });
    const divided = await compute({ program, sizes: { rows: 6 }, ranks: 2, parallelism: "data-parallel" });
    expect(divided.outputs).toEqual(alone.outputs);
    expect(divided.evidence).toMatch(/each rank computes whole: .*reduce/);
  });
});

describe("tensor-parallel ranks", () => {
  it.each([2, 4])("divide products by columns, then rows, and attention by heads, on %i", async (ranks) => {
    for (const program of [gatedMlp, attention]) {
      const alone = await compute({ program });
      const divided = await compute({ program, ranks, parallelism: "tensor-parallel" });
      for (const [name, { data }] of Object.entries(divided.outputs)) {
        const right = alone.outputs[name]?.data as Float32Array;
        for (const [index, value] of (data as Float32Array).entries())
          expect(Math.abs(value - (right[index] ?? 0))).toBeLessThan(1e-5 * 64);
      }
      expect(divided.evidence).toMatch(program === gatedMlp ? /3 of them products/ : /6 of them products/);
    }
  });

  it("refuse a program without a product, by name", async () => {
    const program = defineProgram(({ input, relu }) => ({ y: relu(input("x", [4, 4])) }));
    await expect(compute({ program, ranks: 2 })).rejects.toThrow(/no matrix product can be divided: its first is/);
  });
});

describe("an error within a run", () => {
  it("is thrown on all ranks, which go on", async () => {
    const program = defineProgram(({ input, weight, gather, matmul }) => ({
      y: matmul(gather(weight("table", [4, 8]), input("ids", [2], "int64")), weight("w", [8, 8])),
    }));
    const weights = new Map(program.weights.map(({ name, ...type }, index) => [name, probeTensor(type, "signed", index)]));
    const found = readRanks(program, { worldSize: 2, parallelism: "tensor-parallel" }, "latency", {});
    const backend = rankedBackend(native, { ...(found as RankSettings), join: joinInProcess(2) });
    const answers = new ReferenceAnswers(program, weights, {});
    const settings = { program, weights, buckets: {}, mode: "latency", threads: 1, maxMemory: undefined, answers } as const;
    const session = await ProgramSession.open(backend, settings);
    const run = async (...ids: bigint[]): Promise<TensorMap> =>
      await session.run({ ids: { dataType: "int64", shape: [2], data: BigInt64Array.from(ids) } }, new Map());
    await session.prepare(new Map());
    const before = await run(1n, 3n);
    await expect(run(1n, 9n)).rejects.toThrow(/an index lies outside of its axis/);
    expect(await run(1n, 3n)).toEqual(before);
    await session.dispose();
  });
});

describe("pipelines", () => {
  it("give the bits of one where no fusion is cut", async () => {
    for (const program of [gatedMlp, attention]) {
      const { outputs } = await compute({ program });
      for (const ranks of [2, 3]) expect((await compute({ program, ranks, parallelism: "pipeline" })).outputs).toEqual(outputs);
    }
  });
});

describe("states of ranks", () => {
  it.each(["data-parallel", "tensor-parallel", "pipeline"] as const)("are those of one: %s", async (parallelism) => {
    const program = defineProgram(({ input, state, update, weight, add, matmul }) => {
      const total = state("total", [4, 8]);
      const next = add(total, matmul(input("x", [4, 8]), weight("w", [8, 8])));
      update(total, next);
      return { next };
    });
    const alone = await compute({ program });
    const divided = await compute({ program, ranks: 2, parallelism });
    const [right, found] = [alone, divided].map(({ states }) => Array.from(states["total"]?.data as Float32Array));
    expect(found?.map((value) => value.toFixed(4))).toEqual(right?.map((value) => value.toFixed(4)));
  });
});

const programs = amount(200, 6);
describe(`random programs (${programs})`, () => {
  it("are computed by ranks as by one process, or refused by name", async () => {
    const computed = new Map<string, number>();
    /** Programs that nothing can be divided of, and programs whose results cancel out, so that rounding decides, are refused. */
    const refused = (error: unknown): undefined => {
      if (/ranks: no|which the interpreter computes/.test(String(error))) return undefined;
      throw error;
    };
    for (let seed = 1; seed <= programs; seed += 1) {
      const program = randomProgram(seed);
      const alone = await compute({ program }).catch(refused);
      if (alone === undefined) continue;
      for (const parallelism of ["data-parallel", "tensor-parallel", "pipeline"] as const) {
        const divided = await compute({ program, ranks: 2 + (seed % 2), parallelism }).catch(refused);
        if (divided === undefined) continue;
        computed.set(parallelism, (computed.get(parallelism) ?? 0) + 1);
        // Sums in parts, and other fusions where a stage ends, are rounded otherwise: these are held against the interpreter before they are returned.
        const isExact = parallelism !== "data-parallel" || isDeepStrictEqual(divided.outputs, alone.outputs);
        expect(isExact, `${parallelism} ${seed}`).toBe(true);
      }
    }
    for (const [parallelism, count] of computed) expect(count, parallelism).toBeGreaterThan(programs / 3);
  });
});
