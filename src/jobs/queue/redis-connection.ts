/** Connections to a Redis or Valkey server by ioredis, and the errors of a server that is not there. */
import type { Redis } from "ioredis";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { withoutSecrets } from "./redis-url.ts";

/** Time for the first connection, and the time that a coordinator waits for a server that has gone, in milliseconds. */
const connectMs = 5000;
const maxOutageMs = 60_000;
/** Wait between two attempts to connect, at most. */
const maxReconnectMs = 500;
/** Oldest version with all commands that BullMQ sends. */
const minVersion = [6, 2] as const;

/** A connection that reconnects. */
export interface RedisConnection {
  readonly client: Redis;
  /** Awaits commands. While the server is away they wait for it; throws QUEUE_UNAVAILABLE if it is away for a minute. */
  guard<Result>(work: Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Imports a package of the queue. Throws QUEUE_UNAVAILABLE if it is not installed. */
export async function importQueuePackage<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new InferyardError("QUEUE_UNAVAILABLE", `the package ${name} is not installed: ${getMessage(cause)}`, {
      remedy: "npm install bullmq ioredis",
      cause,
    });
  }
}

/** Connects to a server. Throws QUEUE_UNAVAILABLE if it cannot be reached, refuses the password, or is older than Redis 6.2. */
export async function connectRedis(url: string): Promise<RedisConnection> {
  const { Redis: Client } = await importQueuePackage("ioredis", () => import("ioredis"));
  let lastError: Error | undefined;
  let downSince: number | undefined;
  const client = new Client(url, {
    lazyConnect: true,
    connectTimeout: connectMs,
    maxRetriesPerRequest: null, // commands wait for a server that restarts
    retryStrategy: (attempt) => Math.min(maxReconnectMs, 20 * attempt),
  });
  client.on("error", (error: Error) => (lastError = error));
  client.on("close", () => (downSince ??= performance.now()));
  client.on("ready", () => (downSince = undefined));
  const unavailable = (problem: string): InferyardError =>
    new InferyardError("QUEUE_UNAVAILABLE", `${withoutSecrets(url)}: ${problem}`, {
      remedy: "start the server, or correct --redis",
      ...(lastError === undefined ? {} : { cause: lastError }),
    });
  const close = async (): Promise<void> => client.disconnect();
  const guard = async <Result>(work: Promise<Result>): Promise<Result> => {
    let timer: NodeJS.Timeout | undefined;
    const outage = new Promise<never>((_resolve, reject) => {
      timer = setInterval(() => {
        if (downSince !== undefined && performance.now() - downSince > maxOutageMs)
          reject(unavailable(`the server has been away for ${maxOutageMs / 1000} s: ${lastError?.message ?? "no connection"}`));
      }, 1000);
    });
    try {
      return await Promise.race([work, outage]);
    } catch (error) {
      throw error instanceof InferyardError ? error : unavailable(getMessage(error));
    } finally {
      clearInterval(timer);
    }
  };
  try {
    await firstConnection(client);
    await refuseOldServer(client, unavailable);
  } catch (error) {
    await close();
    throw error instanceof InferyardError ? error : unavailable(getMessage(lastError ?? error));
  }
  return { client, guard, close };
}

/** Waits for the connection. Throws if it is not ready in time, whatever the attempts that go on. */
async function firstConnection(client: Redis): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${connectMs / 1000} s`)), connectMs);
  });
  try {
    await Promise.race([client.connect(), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function refuseOldServer(client: Redis, unavailable: (problem: string) => InferyardError): Promise<void> {
  const info = await client.info("server");
  const version = /^redis_version:(?<version>[\d.]+)/m.exec(info)?.groups?.["version"];
  if (version === undefined) throw unavailable("the server is neither Redis nor Valkey");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1])) return;
  throw unavailable(`the server is Redis ${version}, and ${minVersion.join(".")} or newer is needed`);
}
