import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createRuntime } from "../api/create-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import { openQueue, openWorkerQueue, runRecordedJob } from "./open-job.ts";
import { InferyardError } from "../contract/errors.ts";
import type { ChunkLease, WorkerQueue } from "./queue/chunk-queue.ts";
import { type RowChunkResult, createChunk } from "./queue/chunk.ts";
import type { JobDefinition, JobState } from "./store/job.ts";
import { JobStore } from "./store/job-store.ts";
import { type ChunkExecutor, runWorker, taskExecutor } from "./work/worker.ts";

let folder = "";
let store = new JobStore("");
let runtime: Runtime;
const never = new AbortController().signal;
beforeAll(async () => {
  runtime = await createRuntime();
});
afterAll(() => runtime.dispose());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-jobs-"));
  store = new JobStore(join(folder, "jobs"));
});
afterEach(() => rm(folder, { recursive: true }));

interface Line {
  readonly id: string | number;
  readonly result: readonly number[];
}

const path = (name: string): string => join(folder, name);
const lines = async <Value>(name: string): Promise<Value[]> =>
  (await readFile(path(name), "utf8"))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Value);
const definition = (other: Partial<JobDefinition> = {}): JobDefinition => ({
  work: { task: "embed", model: "builtin", options: {}, retries: 1 },
  input: { path: path("in.jsonl"), format: "jsonl" },
  output: { path: path("out.jsonl"), format: "jsonl" },
  failed: path("failed.jsonl"),
  chunkRows: 8,
  ...other,
});
const texts = (count: number): string =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify({ id: `r${index}`, input: `text ${index}` })}\n`).join("");

/** Runs a job with workers of this process. */
async function run(id: string, execute: ChunkExecutor = taskExecutor(runtime), signal = never): Promise<JobState> {
  const [queue, stop] = [await openQueue({ spool: store.spool }), new AbortController()];
  const workers = [1, 2].map(async () => {
    const own = await openWorkerQueue({ spool: store.spool });
    await runWorker(own, execute, { stop: stop.signal, abort: never }).finally(() => own.close());
  });
  try {
    return await runRecordedJob(await store.get(id), { store, queue, signal });
  } finally {
    stop.abort();
    await Promise.all(workers);
    await queue.close();
  }
}

describe("a job", () => {
  it("gives each row its result, in the order of the input", async () => {
    await writeFile(path("in.jsonl"), texts(100));
    await store.create("j", definition());
    expect(await run("j")).toMatchObject({ status: "done", rows: 100, done: 100, failed: 0, progress: 1 });
    const results = await lines<Line>("out.jsonl");
    expect(results.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => `r${index}`));
    const { embeddings } = await runtime.embed(["text 7", "text 99"]);
    expect([results[7]!, results[99]!].map(({ result }) => Float32Array.from(result))).toEqual(embeddings);
  });

  it("sets rows aside that have no result, with the reason", async () => {
    const rows = [
      '{"id":1,"input":"fine"}',
      "{broken",
      "",
      '{"id":1,"input":"again"}',
      '{"input":"its number is its id"}',
      '{"id":7,"input":"the number of the next row"}',
      '{"input":"has the id of the row before"}',
      '{"id":[],"input":"x"}',
      '{"id":"n","input":7}',
      "[]",
      '{"id":"last"}',
      '{"id":"z","input":"without a line feed"}',
    ];
    await writeFile(path("in.jsonl"), rows.join("\n"));
    await store.create("j", definition());
    expect(await run("j")).toMatchObject({ status: "done", rows: 11, done: 4, failed: 7 });
    expect((await lines<Line>("out.jsonl")).map(({ id }) => id)).toEqual([1, 5, 7, "z"]);
    const failed = await lines<{ row: number; error: { message: string } }>("failed.jsonl");
    expect(failed.map(({ row, error }) => [row, error.message.replace(/JSON: .*/, "JSON")])).toEqual([
      [2, "the line is not JSON"],
      [4, "id 1 occurred in an earlier row"],
      [7, "the row has no id, and an earlier row has its number 7 as id"],
      [8, "id is [], and must be a text or a number"],
      [9, "input must be a text"],
      [10, "the row is no object"],
      [11, "the row has no input"],
    ]);
  });

  it("goes on after a pause where it was", async () => {
    await writeFile(path("in.jsonl"), texts(100));
    await store.create("j", definition());
    const control = new AbortController();
    const inner = taskExecutor(runtime);
    let count = 0;
    const pausing: ChunkExecutor = (lease, signal) => {
      count += 1;
      if (count === 5) control.abort();
      return inner(lease, signal);
    };
    const paused = await run("j", pausing, control.signal);
    expect(paused.status).toBe("paused");
    expect(paused.rows).toBeLessThan(100);
    await writeFile(path("out.jsonl.partial"), "torn", { flag: "a" }); // by a kill before the state was recorded
    expect(await run("j")).toMatchObject({ status: "done", rows: 100, done: 100 });
    expect((await lines<Line>("out.jsonl")).map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => `r${index}`));
  });

  it("fails with the error of its model, and refuses a changed input", async () => {
    await writeFile(path("in.jsonl"), texts(10));
    await store.create("j", definition({ work: { task: "embed", model: "./none", options: {}, retries: 0 } }));
    await expect(run("j")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect((await store.get("j")).state).toMatchObject({ status: "failed", error: { code: "MODEL_NOT_FOUND" } });
    await writeFile(path("in.jsonl"), texts(11));
    await expect(run("j")).rejects.toThrow(/has changed since the job j began/);
  });

  it("goes on once the cause of a failure is gone, whatever its workers left", async () => {
    await writeFile(path("in.jsonl"), texts(100));
    await store.create("j", definition());
    let failures = 0;
    const failing: ChunkExecutor = async () => {
      failures += 1;
      return {
        output: [],
        failed: [],
        fatal: { name: "InferyardError", code: "DISK_FULL", message: "full", data: {}, retryable: false },
      };
    };
    await expect(run("j", failing)).rejects.toMatchObject({ code: "DISK_FULL", message: "full" });
    expect(failures).toBeGreaterThan(1); // of several chunks
    expect(await run("j")).toMatchObject({ status: "done", rows: 100, done: 100 });
  });

  it("is done if a process was killed between making the output and recording so", async () => {
    await writeFile(path("in.jsonl"), texts(10));
    await store.create("j", definition());
    const done = await run("j");
    await store.save("j", { ...done, status: "running" });
    expect(await run("j")).toEqual(done);
    expect(await lines<Line>("out.jsonl")).toHaveLength(10);
  });

  it("is run by one process at a time, and paused and cancelled by others", async () => {
    await writeFile(path("in.jsonl"), texts(100));
    await store.create("j", definition());
    const inner = taskExecutor(runtime);
    const seen: unknown[] = [];
    const execute: ChunkExecutor = async (lease, signal) => {
      if (seen.length === 0) {
        seen.push("asked", await store.exclusively("j", async () => {}).catch((error: unknown) => error));
        await store.request("j", "cancel");
      }
      await cancelled; // the coordinator reads requests each second, and waits for the first chunk
      return await inner(lease, signal);
    };
    const cancelled = vi.waitFor(async () => expect((await store.get("j")).state.status).toBe("cancelled"), { timeout: 10_000 });
    expect(await run("j", execute)).toMatchObject({ status: "cancelled", rows: 0 });
    expect(seen[1]).toMatchObject({ code: "JOB_RUNNING" });
    await expect(run("j")).rejects.toThrow(/the job j is cancelled/);
    await expect(store.get("none")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(store.get("../x")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

it("a worker that cannot leave a result leaves the reason, for the whole job", async () => {
  const chunk = createChunk("j", 0, { task: "embed", model: "m", options: {}, retries: 1 }, []);
  const [left, told]: [RowChunkResult[], string[]] = [[], []];
  const finish: ChunkLease["finish"] = async (result) => {
    if (result.fatal === undefined) throw new InferyardError("DISK_FULL", "full");
    left.push(result);
  };
  const lease: ChunkLease = {
    chunk,
    history: { deaths: 0, rowDeaths: {} },
    mark: async () => {},
    finish,
    release: async () => {},
  };
  const queue: WorkerQueue = { take: async () => lease, close: async () => {} };
  const execute: ChunkExecutor = async ({ mark }) => {
    await mark(1);
    return { output: [], failed: [] };
  };
  const working = runWorker(queue, execute, { stop: never, abort: never }, (activity) => told.push(activity));
  await expect(working).rejects.toMatchObject({ code: "DISK_FULL" });
  expect(left).toMatchObject([{ fatal: { code: "DISK_FULL", message: "full" } }]);
  expect(told).toEqual(["chunk", "row", "idle"]);
});

describe("the spool", () => {
  const chunk = createChunk("j", 0, { task: "embed", model: "m", options: {}, retries: 1 }, [{ number: 1, id: 1, fields: {} }]);
  const address = (): { spool: string } => ({ spool: path("spool") });

  it("gives a dead worker's chunk to another, with its death in the history", async () => {
    const [queue, dead, next] = [await openQueue(address()), await openWorkerQueue(address()), await openWorkerQueue(address())];
    await queue.add(chunk);
    await queue.add(chunk);
    const lease = (await dead.take(never)) as ChunkLease;
    await lease.mark(1);
    await dead.close(); // its file is gone, as after a crash of the machine
    await queue.recover([chunk]);
    const again = (await next.take(never)) as ChunkLease;
    expect(again.chunk).toEqual(chunk);
    expect(again.history.deaths).toBe(1);
    await lease.finish({ output: ["late"], failed: [] }); // it does not hold the chunk any more
    expect(await queue.result(chunk.id)).toBeUndefined();
    await again.finish({ output: ["x"], failed: [] });
    await queue.recover([chunk]);
    expect((await queue.result(chunk.id))?.output.toString()).toBe("x\n");
    await queue.remove([chunk.id]);
    expect(await queue.result(chunk.id)).toBeUndefined();
    await next.close();
  });

  it("adds a chunk again that was lost", async () => {
    const [queue, worker] = [await openQueue(address()), await openWorkerQueue(address())];
    await queue.recover([chunk]);
    expect((await worker.take(never))?.chunk).toEqual(chunk);
    await worker.close();
  });
});
