/** Where the command line keeps jobs, and how it reaches their queue. */
import { join } from "node:path";
import { dataFolder } from "../../../storage/data-folder.ts";
import { withoutSecrets } from "../../../jobs/queue/redis-url.ts";
import { JobStore } from "../../../jobs/store/job-store.ts";
import type { QueueAddress } from "../../../jobs/open-job.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import type { Terminal } from "../../terminal.ts";

/** The store of jobs in the data folder. */
export function openJobs({ environment }: Terminal): JobStore {
  return new JobStore(join(dataFolder({ environment }), "jobs"));
}

/** The queue that the flag names, with the password of the environment if the URL has none. */
export function queueAddress(store: JobStore, redis: string | undefined, { environment }: Terminal): QueueAddress {
  if (redis === undefined) return { spool: store.spool };
  const url = parseRedis(redis);
  const password = environment["REDIS_PASSWORD"];
  if (url.password === "" && password !== undefined && password !== "") url.password = encodeURIComponent(password);
  return { spool: store.spool, ...omitUndefined({ redis: url.href }) };
}

/** The URL of the flag without its password, to be recorded or shown. Throws INPUT_INVALID if it is none. */
export function withoutPassword(redis: string): string {
  return withoutSecrets(parseRedis(redis).href);
}

function parseRedis(redis: string): URL {
  const url = URL.canParse(redis) ? new URL(redis) : undefined;
  if (url !== undefined && /^rediss?:$/.test(url.protocol)) return url;
  throw invalidInput("--redis is no URL of a Redis server", "--redis redis://host:6379, or rediss:// for TLS");
}
