import { expect, it } from "vitest";
import type { Capabilities } from "../../contract/backend.ts";
import type { HostedRunOptions, HostedTensorModel } from "../../hosts/host.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { boundedRun } from "./bounded-run.ts";
import { estimateRunMemory } from "./run-memory.ts";

const config = { hidden_size: 384, num_attention_heads: 12, intermediate_size: 1536, vocab_size: 1000, model_type: "bert" };

/** A model of which each output row holds the row's first token; runs are recorded by their rows. */
function modelOf(
  outputBatch = "batch",
  runMemory?: Capabilities["runMemory"],
): { loaded: Parameters<typeof boundedRun>[0]; rows: number[]; run: HostedTensorModel["run"] } {
  const rows: number[] = [];
  const run = async (inputs: TensorMap, options: HostedRunOptions = {}): Promise<TensorMap> => {
    const { shape = [], data } = inputs["input_ids"] ?? {};
    const [batch = 0, length = 0] = shape;
    rows.push(batch);
    expect(options.reductions?.["y"]).toMatchObject({ lengths: { length: batch } });
    const first = Float32Array.from({ length: batch }, (_, row) => Number(data?.[row * length]));
    return { y: { dataType: "float32", shape: [batch, 1], data: first } };
  };
  const model = {
    inputs: [{ name: "input_ids", dataType: "int64", shape: ["batch", "length"] }],
    outputs: [{ name: "y", dataType: "float32", shape: [outputBatch, 1] }],
  };
  return { loaded: { model, variant: { config, architecture: "BertModel" }, runMemory } as never, rows, run };
}

function ids(batch: number, length: number): TensorMap {
  const data = BigInt64Array.from({ length: batch * length }, (_, at) => BigInt(Math.floor(at / length)));
  return { input_ids: { dataType: "int64", shape: [batch, length], data } };
}
const options = (batch: number): HostedRunOptions => ({
  reductions: { y: { kind: "highest", lengths: Array.from({ length: batch }, () => 1) } },
});

it("a batch above the limit runs in parts, and gives what it gives whole", async () => {
  const { loaded, rows, run } = modelOf();
  const whole = await boundedRun(loaded, { memory: undefined }, run, ids(10, 64), options(10));
  const limit = Math.ceil(estimateRunMemory(undefined, { config, architecture: "BertModel" }, ids(4, 64)));
  expect(await boundedRun(loaded, { memory: limit }, run, ids(10, 64), options(10))).toEqual(whole);
  expect(rows).toEqual([10, 4, 4, 2]);
});

it("a row that is too long, and rows that depend on each other, are refused before a run begins", async () => {
  const limit = 10e6;
  for (const [{ loaded, rows, run }, inputs] of [
    [modelOf(), ids(1, 512)],
    [modelOf("somewhere else"), ids(64, 128)],
  ] as const) {
    await expect(boundedRun(loaded, { memory: limit }, run, inputs, {})).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      data: { limit, estimate: expect.any(Number) },
    });
    expect(rows).toEqual([]);
  }
});

it("outputs that are too large when they are joined are refused after the first part", async () => {
  const { loaded, rows, run } = modelOf();
  const wide: HostedTensorModel["run"] = async (inputs, own) => {
    await run(inputs, own);
    const [batch = 0] = inputs["input_ids"]?.shape ?? [];
    return { y: { dataType: "float32", shape: [batch, 2 ** 18], data: new Float32Array(batch * 2 ** 18) } };
  };
  const limit = estimateRunMemory(undefined, { config, architecture: "BertModel" }, ids(2, 64));
  await expect(boundedRun(loaded, { memory: limit }, wide, ids(40, 64), options(40))).rejects.toMatchObject({
    code: "LIMIT_EXCEEDED",
  });
  expect(rows).toEqual([2]);
});

it("our own engine says itself what a run takes, and is split by that", async () => {
  const { loaded, rows, run } = modelOf("batch", { liveTensors: 1, isBounded: true });
  const refusing: HostedTensorModel["run"] = async (inputs, own) => {
    const [batch = 0] = inputs["input_ids"]?.shape ?? [];
    if (batch > 3) throw new InferyardError("LIMIT_EXCEEDED", "too large", { data: { estimate: batch * 100, limit: 300 } });
    return await run(inputs, own);
  };
  await boundedRun(loaded, { memory: 300 }, refusing, ids(8, 4), options(8));
  expect(rows).toEqual([3, 3, 2]);
});

it("a token id outside of the vocabulary is refused, with or without a limit", async () => {
  const { loaded, rows, run } = modelOf();
  for (const id of [1000n, -1n, 2n ** 26n - 1n, 2n ** 40n]) {
    const data = BigInt64Array.of(1n, id);
    await expect(
      boundedRun(loaded, { memory: undefined }, run, { input_ids: { dataType: "int64", shape: [1, 2], data } }, {}),
    ).rejects.toMatchObject({ code: "INPUT_INVALID", message: expect.stringContaining(`has ${id} at element 1`) });
  }
  expect(rows).toEqual([]);
});

it("more tokens than one part may have run in parts, in the same order", async () => {
  const { loaded, rows, run } = modelOf();
  const whole = await boundedRun(loaded, { memory: undefined }, run, ids(10, 64), options(10));
  expect(await boundedRun(loaded, { memory: 1e12, tokens: 256 }, run, ids(10, 64), options(10))).toEqual(whole);
  expect(rows).toEqual([10, 4, 4, 2]);
});

it("a run is not split for its tokens where its outputs cannot be joined", async () => {
  const { loaded, run } = modelOf();
  const sums: HostedTensorModel["run"] = async (inputs, own) => {
    const { y } = await run(inputs, own);
    return { y: { dataType: "float32", shape: [1], data: Float32Array.of(Number(y?.data.length)) } };
  };
  const { y } = await boundedRun(loaded, { memory: 1e12, tokens: 256 }, sums, ids(10, 64), options(10));
  expect(y?.data).toEqual(Float32Array.of(10));
});
