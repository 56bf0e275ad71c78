/** Programs on several ranks that are all in this process; their messages are copied as between processes. */
import { isDeepStrictEqual } from "node:util";
import { deserialize, serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import { nativePrograms } from "../backends/native-programs.ts";
import { ProgramBackends } from "../backends/program-backends.ts";
import { defineProgram } from "../definition/define-program.ts";
import type { Program } from "../definition/program.ts";
import { readSizes } from "../compilation/buckets.ts";
import { probeTensor } from "../compilation/probe-tensors.ts";
import { ProgramSession } from "../compilation/program-session.ts";
import { ReferenceAnswers } from "../compilation/reference-answers.ts";
import { ExchangeFile } from "./exchange-file.ts";
import { rankedBackend, type RankSettings, type RankTeam } from "./rank-device.ts";
import { type GroupMessage, RankGroup } from "./rank-group.ts";
import type { RankMessage } from "./rank-messages.ts";
import { readRanks } from "./rank-options.ts";
import type { Parallelism } from "./rank-part.ts";
import { RankServer } from "./serve-rank.ts";

const native = nativePrograms();
const backends = new ProgramBackends([native]);
/** So small that most tensors take several chunks. */
const chunkBytes = 64;

function joinInProcess(size: number): RankSettings["join"] {
  return async (backend, settings): Promise<RankTeam> => {
    const file = ExchangeFile.create(size, chunkBytes);
    const servers = new Map<number, RankServer>();
    const deliver = (rank: number, message: RankMessage): void => {
      const copy = deserialize(serialize(message)) as RankMessage;
      queueMicrotask(() => servers.get(rank)?.receive(copy));
    };
    const links = new Map<number, (message: GroupMessage) => void>();
    const group = new RankGroup(0, size, file, links);
    for (let rank = 1; rank < size; rank += 1) {
      const reply = (message: GroupMessage): void => queueMicrotask(() => group.receive(rank, message));
      servers.set(rank, new RankServer(backends, reply));
      links.set(rank, (message) => deliver(rank, message));
      deliver(rank, { kind: "start", rank, size, path: file.path, chunkBytes, backend, settings });
    }
    return { group, command: deliver, busy: async (work) => await work(), dispose: async () => group.close() };
  };
}

interface Case {
  readonly program: Program;
  readonly inputs?: TensorMap;
  readonly sizes?: Readonly<Record<string, number>>;
  readonly ranks?: number;
  readonly parallelism?: Parallelism;
}

/** Compiles, checks against the interpreter, and runs twice; the runs must give the same bits. */
async function compute({ program, sizes = {}, ranks = 1, parallelism }: Case): Promise<{
  readonly outputs: TensorMap;
  readonly states: TensorMap;
  readonly evidence: string;
}> {
  const all = new Map(Object.entries({ ...Object.fromEntries(program.exampleSizes), ...sizes }));
  const weights = new Map(program.weights.map(({ name, ...type }, index) => [name, probeTensor(type, "signed", 100 + index)]));
  const found = readRanks(program, { worldSize: ranks, parallelism }, "latency", {});
  const backend = found === undefined ? native : rankedBackend(native, { ...found, join: joinInProcess(ranks) });
  const session = await ProgramSession.open(backend, {
    program,
    weights,
    buckets: {},
    mode: "latency",
    threads: 1,
    maxMemory: undefined,
    answers: new ReferenceAnswers(program, weights, {}),
  });
  try {
    await session.prepare(all);
    const inputs = Object.fromEntries(
      program.inputs.map(({ name, dataType, shape }, index): [string, Tensor] => {
        const fixed = shape.map((size) => (typeof size === "number" ? size : (all.get(size) ?? 1)));
        return [name, probeTensor({ dataType, shape: fixed }, "signed", index)];
      }),
    );
    const run = async (): Promise<TensorMap> => await session.run(inputs, readSizes(program.inputs, inputs));
    const outputs = await run();
    const again = await run();
    expect(program.states.length > 0 || isDeepStrictEqual(again, outputs)).toBe(true);
    return { outputs, states: await session.readStates(), evidence: session.evidence().join("\n") };
  } finally {
    await session.dispose();
  }
}

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
  it("give the bits of one", async () => {
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
