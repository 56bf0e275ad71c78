import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { HostedRunOptions } from "../../hosts/host.ts";
import { reduceOutputs } from "../../hosts/output-reduction.ts";
import { defaultSchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { DynamicBatcher } from "./dynamic-batcher.ts";
import type { EncoderInputRow } from "../encoding/encoder-inputs.ts";
import type { Encoder, EncoderRunOptions } from "./run-encodings.ts";

type Run = (inputs: TensorMap, options?: HostedRunOptions) => Promise<TensorMap>;

/** Returns [rows, tokens, 2]: the id of each token, twice. `bad`: an id with which every run fails. */
function model(options: { bad?: number; retryable?: boolean; replicas?: number; slow?: boolean } = {}): {
  replicas(): Promise<{ run: Run }[]>;
  run: Run;
  batches: { instance: string; shape: readonly number[] }[];
  atOnce: () => number;
} {
  const batches: { instance: string; shape: readonly number[] }[] = [];
  let [running, maxRunning] = [0, 0];
  const instance =
    (name: string): Run =>
    async (inputs, { reductions } = {}) => {
      const { shape, data } = inputs["input_ids"]!;
      batches.push({ instance: name, shape });
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await new Promise((resolve) => setTimeout(resolve, options.slow === true ? 2 : 0));
      running -= 1;
      const ids = Array.from(data as BigInt64Array, Number);
      if (options.bad !== undefined && ids.includes(options.bad))
        throw new InferyardError(options.retryable === true ? "HOST_DIED" : "RUN_FAILED", "bad id");
      const y = { dataType: "float32", shape: [...shape, 2], data: Float32Array.from(ids.flatMap((id) => [id, id])) } as const;
      return reduceOutputs({ y, z: y }, reductions);
    };
  const replicas = Array.from({ length: options.replicas ?? 0 }, (_replica, index) => ({ run: instance(`replica ${index}`) }));
  const self = { run: instance("model"), replicas: async () => (replicas.length > 0 ? replicas : [self]) };
  return { ...self, batches, atOnce: () => maxRunning };
}

const encoder = { inputs: [{ name: "input_ids", dataType: "int64", shape: ["batch", "tokens"] }], tokenizer: { padId: 0 } };
const options: EncoderRunOptions = { output: "y", batchTokens: 64 };
const rowOf = (id: number, length: number): EncoderInputRow => ({ ids: Array.from({ length }, () => id) });

/** The result of each row of a call: the ids of its tokens. Checks that every row is delivered once. */
async function ask(
  batcher: DynamicBatcher,
  rows: readonly EncoderInputRow[],
  over: Partial<EncoderRunOptions> = {},
  client = "",
): Promise<number[][]> {
  const results: number[][] = rows.map(() => []);
  const shared = batcher.forClient({ ...defaultSchedulingKey, client });
  await shared(encoder as unknown as Encoder, rows, { ...options, ...over }, ({ index, encoding, data, offset }) => {
    expect(encoding).toBe(rows[index]);
    expect(results[index]).toEqual([]);
    results[index] = Array.from({ length: encoding.ids.length }, (_token, token) => data[offset + 2 * token]!);
  });
  return results;
}

describe("DynamicBatcher", () => {
  it("delivers every row to its own call, once, whatever other calls run", async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 });
    const record = fc.record({ lengths, client: fc.constantFrom("a", "b"), output: fc.constantFrom("y", "z") });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 10 }), fc.constantFrom(0, 2), async (calls, replicas) => {
        const scripted = model({ replicas });
        const batcher = new DynamicBatcher(scripted);
        let id = 0;
        const rows = calls.map((call) => call.lengths.map((length) => rowOf((id += 1), length)));
        const results = await Promise.all(calls.map(({ client, output }, call) => ask(batcher, rows[call]!, { output }, client)));
        expect(results).toEqual(rows.map((own) => own.map(({ ids }) => ids)));
        for (const { shape } of scripted.batches) expect(shape[0] === 1 || shape[0]! * shape[1]! <= 64).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it("runs calls that arrive together in one batch, on the model itself", async () => {
    const scripted = model({ replicas: 2 });
    const batcher = new DynamicBatcher(scripted);
    await Promise.all([1, 2, 3].map((id) => ask(batcher, [rowOf(id, 5)])));
    expect(scripted.batches).toEqual([{ instance: "model", shape: [3, 5] }]);
  });

  it("runs sustained work on replicas, at most one batch per replica at a time", async () => {
    const scripted = model({ replicas: 2, slow: true });
    const batcher = new DynamicBatcher(scripted);
    const bulk = Array.from({ length: 200 }, (_row, index) => rowOf(index + 1, 60));
    await ask(batcher, bulk);
    const used = new Map<string, number>();
    for (const { instance } of scripted.batches) used.set(instance, (used.get(instance) ?? 0) + 1);
    expect([...used.keys()].toSorted()).toEqual(["model", "replica 0", "replica 1"]);
    expect(used.get("replica 1")!).toBeGreaterThan(10);
    expect(scripted.atOnce()).toBe(2);
    await ask(batcher, [rowOf(7, 5)]);
    expect(scripted.batches.at(-1)).toEqual({ instance: "model", shape: [1, 5] });
  });

  it("shares no batch between calls with their own tensors or reductions and no batch key", async () => {
    const first = { reduction: () => ({ kind: "mean", ranges: [{ first: 0, end: 1 }] }) as const };
    const scripted = model();
    const batcher = new DynamicBatcher(scripted);
    await Promise.all([1, 2].map((id) => ask(batcher, [rowOf(id, 1)], first)));
    expect(scripted.batches.map(({ shape }) => shape)).toEqual([
      [1, 1],
      [1, 1],
    ]);
    const reduction = (rows: readonly EncoderInputRow[]): { kind: "mean"; ranges: { first: number; end: number }[] } => ({
      kind: "mean",
      ranges: rows.map(() => ({ first: 0, end: 1 })),
    });
    await Promise.all([1, 2].map((id) => ask(batcher, [rowOf(id, 1)], { reduction, batchKey: "first" })));
    expect(scripted.batches.at(-1)?.shape).toEqual([2, 1]);
  });

  it("rejects the one text that fails, not those in the same batch", async () => {
    const batcher = new DynamicBatcher(model({ bad: 13 }));
    const calls = [1, 13, 3].map((id) => ask(batcher, [rowOf(id, 4)]));
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { code: "RUN_FAILED" } });
  });

  it("rejects all rows of a batch with a retryable error, without a second run", async () => {
    const scripted = model({ bad: 13, retryable: true });
    const batcher = new DynamicBatcher(scripted);
    const settled = await Promise.allSettled([1, 13].map((id) => ask(batcher, [rowOf(id, 4)])));
    expect(settled).toMatchObject([{ reason: { code: "HOST_DIED" } }, { reason: { code: "HOST_DIED" } }]);
    expect(scripted.batches).toHaveLength(1);
    expect(await ask(batcher, [rowOf(5, 2)])).toEqual([[5, 5]]);
  });

  it("an aborted call removes its pending rows, and those of no other call", async () => {
    const scripted = model({ slow: true });
    const batcher = new DynamicBatcher(scripted);
    const canceller = new AbortController();
    const bulk = ask(
      batcher,
      Array.from({ length: 100 }, () => rowOf(9, 60)),
      { signal: canceller.signal },
    );
    const other = ask(batcher, [rowOf(2, 30)]);
    bulk.catch(() => {}); // expected below
    setTimeout(() => canceller.abort(), 5);
    await expect(bulk).rejects.toMatchObject({ code: "ABORTED" });
    expect(await other).toEqual([Array.from({ length: 30 }, () => 2)]);
    expect(scripted.batches.length).toBeLessThan(50);
    await expect(ask(batcher, [rowOf(1, 1)], { signal: canceller.signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("a call whose `take` throws fails alone", async () => {
    const batcher = new DynamicBatcher(model());
    const broken = batcher.forClient(defaultSchedulingKey)(encoder as unknown as Encoder, [rowOf(1, 3)], options, () => {
      throw new InferyardError("RUN_FAILED", "not a number");
    });
    const other = ask(batcher, [rowOf(2, 3)]);
    await expect(broken).rejects.toMatchObject({ code: "RUN_FAILED" });
    expect(await other).toEqual([[2, 2, 2]]);
  });

  it("runs the rows of disposed replicas on the model", async () => {
    const scripted = model({ slow: true });
    const gone = {
      run: async (): Promise<TensorMap> => Promise.reject(new InferyardError("DISPOSED", "this model was disposed")),
    };
    const batcher = new DynamicBatcher({ run: scripted.run, replicas: async () => [gone, gone] });
    const bulk = Array.from({ length: 160 }, (_row, index) => rowOf(index + 1, 60));
    expect(await ask(batcher, bulk)).toEqual(bulk.map(({ ids }) => ids));
  });

  it("delivers the results of one batch to its calls one by one, each in an event loop iteration of its own", async () => {
    const scripted = model();
    const batcher = new DynamicBatcher(scripted);
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const calls = Array.from({ length: 6 }, async (_call, index) => {
      await ask(batcher, [rowOf(index + 1, 4)]);
      return turn;
    });
    const turns = await Promise.all(calls);
    isOver = true;
    expect(scripted.batches).toHaveLength(1);
    expect(new Set(turns).size).toBe(6);
  });

  it("resolves at once for an empty list", async () => {
    expect(await ask(new DynamicBatcher(model()), [])).toEqual([]);
  });
});
