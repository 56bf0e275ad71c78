/**
 * What is known of workers that died while they held a chunk of the queue on Redis. A dead process loses its connection at once, and its lock expires only after
 * seconds: workers name their connections, so that a coordinator sees in CLIENT LIST which of those that hold chunks are gone.
 */
import type { Redis } from "ioredis";
import { type ChunkHistory, afterDeath, noHistory } from "./chunk-queue.ts";

/** Time after which histories of chunks expire that nobody has removed. */
export const keptSeconds: number = 7 * 24 * 3600;

/** Name of the connection of the worker with a token. */
export const workerName = (token: string): string => `inferyard-worker:${token}`;

/** Begin of the tokens of workers whose name the server lists. Others are behind a proxy, or may not ask; only the expiry of their locks tells of their death. */
const listedPrefix = "listed.";
/** Looks in a row in which a worker must be missing: one that reconnects is missing for half a second. */
const looksUntilLost = 2;
/** Looks that are left out after this process had to connect again, since workers do so as well. */
const looksAfterOutage = 2;

/** The token of a worker, by what the server lists of its connection, which has the name of `id`. */
export async function workerToken(client: Redis, id: string): Promise<string> {
  const token = `${listedPrefix}${id}`;
  await client.client("SETNAME", workerName(token)).catch(() => undefined);
  client.options.connectionName = workerName(token); // when it connects again
  return (await listedTokens(client)).has(token) ? token : id;
}

/** Tokens of the workers that are connected; none if the server does not list connections. */
async function listedTokens(client: Redis): Promise<ReadonlySet<string>> {
  const list = String(await client.client("LIST").catch(() => ""));
  return new Set(Array.from(list.matchAll(/ name=inferyard-worker:(\S+)/g), ([, token = ""]) => token));
}

/** Returns a function that is to be called about once a second with the tokens of all locks, and returns the tokens whose workers are gone. */
export function lostWorkerFinder(client: Redis): (held: readonly string[]) => Promise<ReadonlySet<string>> {
  const missing = new Map<string, number>();
  let left = 0;
  client.on("ready", () => (left = looksAfterOutage));
  return async (held) => {
    const listable = held.filter((token) => token.startsWith(listedPrefix));
    const listed = listable.length === 0 ? new Set() : await listedTokens(client);
    if (left > 0) left -= 1;
    const isOutage = left > 0 || listed.size === 0;
    for (const token of missing.keys()) if (isOutage || listed.has(token) || !listable.includes(token)) missing.delete(token);
    if (isOutage) return new Set();
    for (const token of new Set(listable)) if (!listed.has(token)) missing.set(token, (missing.get(token) ?? 0) + 1);
    return new Set([...missing].filter(([, looks]) => looks >= looksUntilLost).map(([token]) => token));
  };
}

/** Records one more death in the history under a key. A chunk's worker may mark a row in the same key: the death then is counted for that row. */
export async function recordDeath(client: Redis, key: string): Promise<void> {
  const { known, row } = await client.hgetall(key);
  await save(client, key, afterDeath(parse(known), parseRow(row)), {});
}

/** The history under a key, with the deaths that BullMQ has counted (`stalls`) since it was last read. */
export async function readHistory(client: Redis, key: string, stalls: number): Promise<ChunkHistory> {
  const { known, row, stalls: counted = "0" } = await client.hgetall(key);
  let history = parse(known);
  if (stalls <= Number(counted)) return history;
  for (let count = Number(counted); count < stalls; count += 1) history = afterDeath(history, parseRow(row));
  await save(client, key, history, { stalls });
  return history;
}

async function save(client: Redis, key: string, history: ChunkHistory, others: Readonly<Record<string, number>>): Promise<void> {
  await client.hset(key, { known: JSON.stringify(history), ...others });
  await client.hdel(key, "row");
  await client.expire(key, keptSeconds);
}

function parse(known: string | undefined): ChunkHistory {
  return known === undefined ? noHistory : (JSON.parse(known) as ChunkHistory);
}

function parseRow(row: string | undefined): number | undefined {
  return row === undefined ? undefined : Number(row);
}
