import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InferyardError } from "../../errors.ts";
import type { HostedRunOptions } from "../../hosts/host.ts";
import { reduceOutputs } from "../../hosts/output-reduction.ts";
import { defaultSchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import type { TensorMap } from "../../tensor.ts";
import { DynamicBatcher } from "./dynamic-batcher.ts";
import type { EncoderInputRow } from "../shared/encoder-inputs.ts";
import type { Encoder, EncoderRunOptions } from "./run-encodings.ts";

type Run = (inputs: TensorMap, options?: HostedRunOptions) => Promise<TensorMap>;

/** Gives [rows, tokens, 2]: each token's id, and its id once more. `bad`: an id that no run with it survives. */
function model(options: { bad?: number; retryable?: boolean; copies?: number; slow?: boolean } = {}): {
  replicas(): Promise<{ run: Run }[]>;
  run: Run;
  batches: { lane: string; shape: readonly number[] }[];
  atOnce: () => number;
} {
  const batches: { lane: string; shape: readonly number[] }[] = [];
  let [running, most] = [0, 0];
  const lane =
    (name: string): Run =>
    async (inputs, { reductions } = {}) => {
      const { shape, data } = inputs["input_ids"]!;
      batches.push({ lane: name, shape });
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, options.slow === true ? 2 : 0));
      running -= 1;
      const ids = Array.from(data as BigInt64Array, Number);
      if (options.bad !== undefined && ids.includes(options.bad))
        throw new InferyardError(options.retryable === true ? "HOST_DIED" : "RUN_FAILED", "it cannot bear that");
      const y = { dataType: "float32", shape: [...shape, 2], data: Float32Array.from(ids.flatMap((id) => [id, id])) } as const;
      return reduceOutputs({ y, z: y }, reductions);
    };
  const copies = Array.from({ length: options.copies ?? 0 }, (_copy, index) => ({ run: lane(`copy ${index}`) }));
  const self = { run: lane("model"), replicas: async () => (copies.length > 0 ? copies : [self]) };
  return { ...self, batches, atOnce: () => most };
}

const encoder = { inputs: [{ name: "input_ids", dataType: "int64", shape: ["batch", "tokens"] }], tokenizer: { padId: 0 } };
const options: EncoderRunOptions = { output: "y", batchTokens: 64 };
const rowOf = (id: number, length: number): EncoderInputRow => ({ ids: Array.from({ length }, () => id) });

/** What a call is told of each of its rows: the ids of its tokens, and how often it was told. */
async function ask(
  pool: DynamicBatcher,
  rows: readonly EncoderInputRow[],
  over: Partial<EncoderRunOptions> = {},
  client = "",
): Promise<number[][]> {
  const told: number[][] = rows.map(() => []);
  const shared = pool.forClient({ ...defaultSchedulingKey, client });
  await shared(encoder as unknown as Encoder, rows, { ...options, ...over }, ({ index, encoding, data, offset }) => {
    expect(encoding).toBe(rows[index]);
    expect(told[index]).toEqual([]);
    told[index] = Array.from({ length: encoding.ids.length }, (_token, token) => data[offset + 2 * token]!);
  });
  return told;
}

describe("a pool of batches", () => {
  it("gives every row to its own call, once, whoever else runs", async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 });
    const record = fc.record({ lengths, client: fc.constantFrom("a", "b"), output: fc.constantFrom("y", "z") });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 10 }), fc.constantFrom(0, 2), async (calls, copies) => {
        const scripted = model({ copies });
        const pool = new DynamicBatcher(scripted);
        let id = 0;
        const rows = calls.map((call) => call.lengths.map((length) => rowOf((id += 1), length)));
        const told = await Promise.all(calls.map(({ client, output }, call) => ask(pool, rows[call]!, { output }, client)));
        expect(told).toEqual(rows.map((own) => own.map(({ ids }) => ids)));
        for (const { shape } of scripted.batches) expect(shape[0] === 1 || shape[0]! * shape[1]! <= 64).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it("runs calls that arrive together in one batch, on the model itself", async () => {
    const scripted = model({ copies: 2 });
    const pool = new DynamicBatcher(scripted);
    await Promise.all([1, 2, 3].map((id) => ask(pool, [rowOf(id, 5)])));
    expect(scripted.batches).toEqual([{ lane: "model", shape: [3, 5] }]);
  });

  it("spreads work that lasts over copies, never more batches at once than copies", async () => {
    const scripted = model({ copies: 2, slow: true });
    const pool = new DynamicBatcher(scripted);
    const bulk = Array.from({ length: 200 }, (_row, index) => rowOf(index + 1, 60));
    await ask(pool, bulk);
    const used = new Map<string, number>();
    for (const { lane } of scripted.batches) used.set(lane, (used.get(lane) ?? 0) + 1);
    expect([...used.keys()].toSorted()).toEqual(["copy 0", "copy 1", "model"]);
    expect(used.get("copy 1")!).toBeGreaterThan(10);
    expect(scripted.atOnce()).toBe(2);
    await ask(pool, [rowOf(7, 5)]);
    expect(scripted.batches.at(-1)).toEqual({ lane: "model", shape: [1, 5] });
  });

  it("shares no batch between calls that make their own tensors or reductions without a word of which kind", async () => {
    const first = { reduction: () => ({ kind: "mean", ranges: [{ first: 0, end: 1 }] }) as const };
    const scripted = model();
    const pool = new DynamicBatcher(scripted);
    await Promise.all([1, 2].map((id) => ask(pool, [rowOf(id, 1)], first)));
    expect(scripted.batches.map(({ shape }) => shape)).toEqual([
      [1, 1],
      [1, 1],
    ]);
    const reduction = (rows: readonly EncoderInputRow[]): { kind: "mean"; ranges: { first: number; end: number }[] } => ({
      kind: "mean",
      ranges: rows.map(() => ({ first: 0, end: 1 })),
    });
    await Promise.all([1, 2].map((id) => ask(pool, [rowOf(id, 1)], { reduction, kind: "first" })));
    expect(scripted.batches.at(-1)?.shape).toEqual([2, 1]);
  });

  it("fails the one text that cannot run, not those beside it", async () => {
    const pool = new DynamicBatcher(model({ bad: 13 }));
    const calls = [1, 13, 3].map((id) => ask(pool, [rowOf(id, 4)]));
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { code: "RUN_FAILED" } });
  });

  it("fails the rows of a batch whose failure may pass, without a second run", async () => {
    const scripted = model({ bad: 13, retryable: true });
    const pool = new DynamicBatcher(scripted);
    const settled = await Promise.allSettled([1, 13].map((id) => ask(pool, [rowOf(id, 4)])));
    expect(settled).toMatchObject([{ reason: { code: "HOST_DIED" } }, { reason: { code: "HOST_DIED" } }]);
    expect(scripted.batches).toHaveLength(1);
    expect(await ask(pool, [rowOf(5, 2)])).toEqual([[5, 5]]);
  });

  it("a call that gives up takes its rows along, and nobody else's", async () => {
    const scripted = model({ slow: true });
    const pool = new DynamicBatcher(scripted);
    const canceller = new AbortController();
    const bulk = ask(
      pool,
      Array.from({ length: 100 }, () => rowOf(9, 60)),
      { signal: canceller.signal },
    );
    const other = ask(pool, [rowOf(2, 30)]);
    bulk.catch(() => {}); // expected below
    setTimeout(() => canceller.abort(), 5);
    await expect(bulk).rejects.toMatchObject({ code: "ABORTED" });
    expect(await other).toEqual([Array.from({ length: 30 }, () => 2)]);
    expect(scripted.batches.length).toBeLessThan(50);
    await expect(ask(pool, [rowOf(1, 1)], { signal: canceller.signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("a call that cannot read its answer fails alone", async () => {
    const pool = new DynamicBatcher(model());
    const broken = pool.forClient(defaultSchedulingKey)(encoder as unknown as Encoder, [rowOf(1, 3)], options, () => {
      throw new InferyardError("RUN_FAILED", "not a number");
    });
    const other = ask(pool, [rowOf(2, 3)]);
    await expect(broken).rejects.toMatchObject({ code: "RUN_FAILED" });
    expect(await other).toEqual([[2, 2, 2]]);
  });

  it("leaves copies that are gone, and runs their rows on the model", async () => {
    const scripted = model({ slow: true });
    const gone = {
      run: async (): Promise<TensorMap> => Promise.reject(new InferyardError("DISPOSED", "this model was disposed")),
    };
    const pool = new DynamicBatcher({ run: scripted.run, replicas: async () => [gone, gone] });
    const bulk = Array.from({ length: 160 }, (_row, index) => rowOf(index + 1, 60));
    expect(await ask(pool, bulk)).toEqual(bulk.map(({ ids }) => ids));
  });

  it("answers the callers of one batch one after the other, each in a turn of its own", async () => {
    const scripted = model();
    const pool = new DynamicBatcher(scripted);
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const calls = Array.from({ length: 6 }, async (_call, index) => {
      await ask(pool, [rowOf(index + 1, 4)]);
      return turn;
    });
    const turns = await Promise.all(calls);
    isOver = true;
    expect(scripted.batches).toHaveLength(1);
    expect(new Set(turns).size).toBe(6);
  });

  it("gives nothing for nothing", async () => {
    expect(await ask(new DynamicBatcher(model()), [])).toEqual([]);
  });
});
