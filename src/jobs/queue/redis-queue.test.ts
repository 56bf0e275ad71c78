import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { RedisServer, noRedis } from "../../../test/fixtures/redis-server.ts";
import { type RowChunk, createChunk } from "./chunk.ts";
import type { ChunkQueue, ChunkLease, WorkerQueue } from "./chunk-queue.ts";
import { connectRedis } from "./redis-connection.ts";
import { openRedisQueue, openRedisWorker } from "./redis-queue.ts";

const never = new AbortController().signal;
let count = 0;
const newChunk = (job = "j"): RowChunk =>
  createChunk(job, (count += 1), { task: "embed", model: "m", options: {}, retries: 1 }, [{ number: 1, id: count, fields: {} }]);

it("a server that cannot be reached is a typed error", async () => {
  await expect(openRedisQueue("redis://:secret@127.0.0.1:1")).rejects.toMatchObject({
    code: "QUEUE_UNAVAILABLE",
    message: expect.stringMatching(/^redis:\/\/127\.0\.0\.1:1: connect ECONNREFUSED/) as string,
  });
});

describe.skipIf(noRedis !== undefined)(`the queue on Redis${noRedis === undefined ? "" : `: ${noRedis}`}`, () => {
  let folder = "";
  let server: RedisServer;
  let queue: ChunkQueue;
  let worker: WorkerQueue;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inferyard-redis-"));
    server = await RedisServer.start(folder);
    [queue, worker] = await Promise.all([openRedisQueue(server.url), openRedisWorker(server.url)]);
  });
  afterAll(async () => {
    await Promise.all([queue.close(), worker.close()]);
    await server.kill();
    await rm(folder, { recursive: true });
  });

  it("gives a chunk to one worker, and keeps its result until it is removed", async () => {
    const chunk = newChunk();
    await queue.add(chunk);
    await queue.add(chunk);
    const lease = (await worker.take(never)) as ChunkLease;
    expect(lease).toMatchObject({ chunk, history: { deaths: 0 } });
    await lease.finish({ output: ["x"], failed: [] });
    await queue.add(chunk); // its result is there
    await queue.recover([chunk]);
    expect((await queue.result(chunk.id))?.output.toString()).toBe("x\n");
    await queue.remove([chunk.id]);
    expect(await queue.result(chunk.id)).toBeUndefined();
    const stop = new AbortController();
    const nothing = worker.take(stop.signal);
    stop.abort();
    expect(await nothing).toBeUndefined();
  });

  it("withdraws what nobody has begun, and forgets a job", async () => {
    const [held, waiting, other] = [newChunk(), newChunk(), newChunk("other")];
    await queue.add(held);
    const lease = (await worker.take(never)) as ChunkLease;
    for (const chunk of [waiting, other]) await queue.add(chunk);
    await queue.withdraw([held.id, waiting.id]);
    await lease.finish({ output: ["y"], failed: [] });
    expect((await queue.result(held.id))?.done).toBe(1);
    await queue.removeJob("j");
    expect(await queue.result(held.id)).toBeUndefined();
    const last = (await worker.take(never)) as ChunkLease;
    expect(last.chunk.id).toBe(other.id);
    await last.release();
    expect(((await worker.take(never)) as ChunkLease).chunk.id).toBe(other.id);
  });

  it("gives the chunk of a worker whose connection is gone to another, with its death in the history", async () => {
    const chunk = newChunk();
    const dead = await openRedisWorker(server.url);
    await queue.add(chunk);
    const lease = (await dead.take(never)) as ChunkLease;
    expect(lease.history).toEqual({ deaths: 0, rowDeaths: {} });
    await lease.mark(1);
    await queue.recover([chunk]);
    await dead.close();
    for (let look = 0; look < 2; look += 1) await queue.recover([chunk]);
    const again = (await worker.take(never)) as ChunkLease;
    expect(again).toMatchObject({ chunk, history: { deaths: 1, rowDeaths: { 1: 1 } } });
    await again.finish({ output: ["z"], failed: [] });
    await queue.remove([chunk.id]);
  });

  it("says why a server refuses chunks", async () => {
    const { client, close } = await connectRedis(server.url);
    const chunk = newChunk();
    await queue.add(chunk);
    await client.config("SET", "maxmemory", "1");
    await expect(worker.take(never)).rejects.toMatchObject({
      code: "QUEUE_UNAVAILABLE",
      message: expect.stringContaining("OOM") as string,
    });
    await client.config("SET", "maxmemory", "0");
    await queue.remove([chunk.id]);
    await close();
  });

  it("outlives a kill of the server, and adds again what that lost", async () => {
    const chunk = newChunk();
    await server.kill();
    const adding = queue.add(chunk); // waits for the server
    await server.restart();
    await adding;
    await vi.waitFor(async () => {
      await queue.recover([chunk]);
      expect(((await worker.take(never)) as ChunkLease).chunk.id).toBe(chunk.id);
    });
  });
});
