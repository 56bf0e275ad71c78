/**
 * The queue of many machines: BullMQ on a Redis or Valkey server. A chunk is a job of BullMQ under the id of the chunk; its result is a key of its own, written
 * before the job is completed, so that a chunk whose worker died between the two is not computed again. A dead worker's lock expires, and the next look for
 * stalled jobs gives the chunk to another. What a server loses when it is killed (with AOF at most the last second) the coordinator adds again.
 */
import { randomUUID } from "node:crypto";
import type { Job as QueuedJob } from "bullmq";
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { delay } from "../../storage/lock.ts";
import { type RowChunk, type RowChunkResult, decodeResult, encodeResult } from "./chunk.ts";
import { type ChunkHistory, type ChunkQueue, type ChunkLease, type WorkerQueue, afterDeath, noHistory } from "./chunk-queue.ts";
import { type RedisConnection, connectRedis, importQueuePackage } from "./redis-connection.ts";

const prefix = "inferyard";
const queueName = "jobs";
/** Time after which the lock of a worker expires that does not extend it, and the interval at which stalled jobs are looked for. */
const [lockMs, stalledMs] = [5000, 2000];
/** Time after which results and histories expire that nobody has removed. */
const keptSeconds = 7 * 24 * 3600;
/** Bounds of the time between two looks for a chunk. */
const [minWaitMs, maxWaitMs] = [2, 100];

const jobKey = (id: string): string => `${prefix}:${queueName}:${id}`;
const resultKey = (id: string): string => `${prefix}:result:${id}`;
const historyKey = (id: string): string => `${prefix}:history:${id}`;

const importBullMq = () => importQueuePackage("bullmq", () => import("bullmq"));

/** Opens the coordinator's side of the queue. Throws QUEUE_UNAVAILABLE. */
export async function openRedisQueue(url: string): Promise<ChunkQueue> {
  const { Queue } = await importBullMq();
  const { client, guard, close } = await connectRedis(url);
  const queue = new Queue<RowChunk>(queueName, { connection: client, prefix, skipVersionCheck: true });
  queue.on("error", () => {}); // `guard` says what happens to commands
  const addAll = async (chunks: readonly RowChunk[]): Promise<void> => {
    const done = await exists(
      client,
      chunks.map(({ id }) => resultKey(id)),
    );
    const missing = chunks.filter((_chunk, index) => !done[index]);
    if (missing.length > 0)
      await queue.addBulk(
        missing.map((data) => ({
          name: data.work.task,
          data,
          opts: { jobId: data.id, removeOnComplete: true, removeOnFail: true },
        })),
      );
  };
  const removeWaiting = async (ids: readonly string[]): Promise<void> => {
    const present = await exists(client, ids.map(jobKey));
    for (const [index, id] of ids.entries()) if (present[index]) await queue.remove(id).catch(() => 0); // a worker holds it
  };
  const removeAll = async (ids: readonly string[]): Promise<void> => {
    await removeWaiting(ids);
    if (ids.length > 0) await client.unlink(ids.flatMap((id) => [resultKey(id), historyKey(id)]));
  };
  return {
    add: (chunk) => guard(addAll([chunk])),
    result: async (id) => {
      const bytes = await guard(client.getBuffer(resultKey(id)));
      return bytes === null ? undefined : decodeResult(bytes);
    },
    recover: async (outstanding) => {
      const present = await guard(
        exists(
          client,
          outstanding.map(({ id }) => jobKey(id)),
        ),
      );
      await guard(addAll(outstanding.filter((_chunk, index) => !present[index])));
    },
    withdraw: (ids) => guard(removeWaiting(ids)),
    remove: (ids) => guard(removeAll(ids)),
    removeJob: async (job) => {
      for (const key of [jobKey, resultKey, historyKey]) {
        const start = key("");
        for await (const keys of client.scanStream({ match: `${start}${job}.*`, count: 1000 }) as AsyncIterable<string[]>)
          await guard(removeAll(keys.map((each) => each.slice(start.length)).filter((id) => !id.includes(":"))));
      }
    },
    close: async () => {
      await queue.close().catch(() => {});
      await close();
    },
  };
}

/** Whether each key exists, in one round trip. */
async function exists(client: RedisConnection["client"], keys: readonly string[]): Promise<readonly boolean[]> {
  if (keys.length === 0) return [];
  const pipeline = client.pipeline();
  for (const key of keys) pipeline.exists(key);
  const replies = (await pipeline.exec()) ?? [];
  return replies.map(([error, count]) => {
    if (error !== null) throw error;
    return count === 1;
  });
}

/** Opens the workers' side of the queue. Throws QUEUE_UNAVAILABLE if the server cannot be reached now; later a worker waits for it. */
export async function openRedisWorker(url: string): Promise<WorkerQueue> {
  const { Worker } = await importBullMq();
  const { client, close } = await connectRedis(url);
  const worker = new Worker<RowChunk>(queueName, null, {
    connection: client,
    prefix,
    lockDuration: lockMs,
    stalledInterval: stalledMs,
    maxStalledCount: Number.MAX_SAFE_INTEGER, // deaths are counted in the history
    skipVersionCheck: true,
    autorun: false,
  });
  worker.on("error", () => {}); // a server that is away
  await worker.waitUntilReady();
  await worker.startStalledCheckTimer();
  const token = randomUUID();
  const takeOne = async (): Promise<ChunkLease | undefined> => {
    const job = (await worker.getNextJob(token, { block: false })) as QueuedJob<RowChunk> | undefined;
    return job === undefined ? undefined : await toLease(job, token, client);
  };
  return {
    take: async (signal) => {
      let onAbort = (): void => {};
      const aborted = new Promise<undefined>((resolve) => (onAbort = () => resolve(undefined)));
      addAbortListener(signal, onAbort);
      try {
        for (let wait = minWaitMs; !signal.aborted; wait = Math.min(wait * 2, maxWaitMs)) {
          // The command of a server that is away waits for it; a chunk that it takes after an abort stalls, and goes to another worker.
          const lease = await Promise.race([takeOne().catch(() => undefined), aborted]);
          if (lease !== undefined) return lease;
          await delay(wait, signal).catch(() => undefined); // aborted: the loop ends
        }
        return undefined;
      } finally {
        removeAbortListener(signal, onAbort);
      }
    },
    close: async () => {
      await worker.close(true).catch(() => {});
      await close();
    },
  };
}

async function toLease(
  job: QueuedJob<RowChunk>,
  token: string,
  client: RedisConnection["client"],
): Promise<ChunkLease | undefined> {
  const chunk = job.data;
  const complete = async (): Promise<void> => {
    // Fails where the lock has expired: another worker has the chunk, and finds the result.
    await job.moveToCompleted("", token, false).catch(() => undefined);
    await client.unlink(historyKey(chunk.id));
  };
  if ((await client.exists(resultKey(chunk.id))) === 1) {
    await complete();
    return undefined;
  }
  const history = await readHistory(client, chunk.id, job.stalledCounter);
  const timer = setInterval(() => void job.extendLock(token, lockMs).catch(() => undefined), lockMs / 3);
  return {
    chunk,
    history,
    mark: async (row) => {
      if (row === undefined) await client.hdel(historyKey(chunk.id), "row");
      else await client.hset(historyKey(chunk.id), { row });
    },
    finish: async (result: RowChunkResult) => {
      await client.set(resultKey(chunk.id), encodeResult(result), "EX", keptSeconds);
      clearInterval(timer);
      await complete();
    },
    release: async () => {
      clearInterval(timer);
      await job.moveToWait(token).catch(() => undefined);
    },
  };
}

/** The history of a chunk, with the deaths that BullMQ has counted since it was last held. */
async function readHistory(client: RedisConnection["client"], id: string, stalls: number): Promise<ChunkHistory> {
  const { known, row } = await client.hgetall(historyKey(id));
  let history = known === undefined ? noHistory : (JSON.parse(known) as ChunkHistory);
  if (stalls <= history.deaths) return history;
  while (history.deaths < stalls) history = afterDeath(history, row === undefined ? undefined : Number(row));
  await client.hset(historyKey(id), { known: JSON.stringify(history) });
  await client.hdel(historyKey(id), "row");
  await client.expire(historyKey(id), keptSeconds);
  return history;
}
