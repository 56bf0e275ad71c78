/**
 * The queue of many machines: BullMQ on a Redis or Valkey server. A chunk is a job of BullMQ under the id of the chunk; its result is a key of its own, written
 * before the job is completed, so that a chunk whose worker died between the two is not computed again. A coordinator gives the chunks of workers whose connection
 * is gone to others; where it cannot see connections, the lock of a dead worker expires and BullMQ does so. What a server loses when it is killed (with AOF at most the last second) the coordinator adds again.
 */
import { randomUUID } from "node:crypto";
import type { Job as QueuedJob } from "bullmq";
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { delay } from "../../storage/lock.ts";
import { type RowChunk, type RowChunkResult, decodeResult, encodeResult } from "./chunk.ts";
import type { ChunkQueue, ChunkLease, WorkerQueue } from "./chunk-queue.ts";
import { type RedisConnection, connectRedis, importQueuePackage } from "./redis-connection.ts";
import { keptSeconds, lostWorkerFinder, readHistory, recordDeath, workerToken } from "./redis-recovery.ts";

const prefix = "inferyard";
const queueName = "jobs";
/** Time after which the lock of a worker expires that does not extend it, and the interval at which stalled jobs are looked for. */
const [lockMs, stalledMs] = [5000, 2000];
/** Time for which a death is not counted again by another coordinator. */
const deathSeconds = 60;
/** Bounds of the time between two looks for a chunk. */
const [minWaitMs, maxWaitMs] = [2, 100];

const activeKey = `${prefix}:${queueName}:active`;
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
  const findLost = lostWorkerFinder(client);
  const giveBackLost = async (): Promise<void> => {
    const ids = await client.lrange(activeKey, 0, -1);
    const tokens = ids.length === 0 ? [] : await client.mget(ids.map((id) => `${jobKey(id)}:lock`));
    const lost = await findLost(tokens.filter((token) => token !== null));
    for (const [index, id] of ids.entries()) {
      const token = tokens[index] ?? "";
      if (!lost.has(token)) continue;
      if ((await client.set(`${prefix}:death:${id}:${token}`, "", "EX", deathSeconds, "NX")) === null) continue;
      await recordDeath(client, historyKey(id));
      await (await queue.getJob(id))?.moveToWait(token).catch(() => undefined); // its lock has just expired
    }
  };
  return {
    add: (chunk) => guard(addAll([chunk])),
    result: async (id) => {
      const bytes = await guard(client.getBuffer(resultKey(id)));
      return bytes === null ? undefined : decodeResult(bytes);
    },
    recover: async (outstanding) => {
      await guard(giveBackLost());
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

/** Replies of a server that no wait mends: its memory or its disk is full, or this user may not write. */
const refusal = /\b(?:OOM|MISCONF|NOPERM|NOAUTH|WRONGPASS)\b/;

/** Undefined after an error that may pass: the server is away, or has just started. Throws QUEUE_UNAVAILABLE if the server refuses. */
function afterError(error: unknown): undefined {
  const message = getMessage(error);
  if (refusal.test(message)) throw new InferyardError("QUEUE_UNAVAILABLE", `the queue refuses: ${message}`, { cause: error });
  return undefined;
}

/** Opens the workers' side of the queue. Throws QUEUE_UNAVAILABLE if the server cannot be reached now; later a worker waits for it, unless it refuses commands. */
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
  const token = await workerToken(client, randomUUID());
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
          const lease = await Promise.race([takeOne().catch(afterError), aborted]);
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
  const history = await readHistory(client, historyKey(chunk.id), job.stalledCounter);
  const timer = setInterval(() => void job.extendLock(token, lockMs).catch(() => undefined), lockMs / 3);
  return {
    chunk,
    history,
    mark: async (row) => {
      if (row === undefined) await client.hdel(historyKey(chunk.id), "row");
      else await client.hset(historyKey(chunk.id), { row });
    },
    finish: async (result: RowChunkResult) => {
      await client.set(resultKey(chunk.id), encodeResult(result), "EX", keptSeconds).catch((error: unknown) => {
        afterError(error);
        throw error;
      });
      clearInterval(timer);
      await complete();
    },
    release: async () => {
      clearInterval(timer);
      await job.moveToWait(token).catch(() => undefined);
    },
  };
}
