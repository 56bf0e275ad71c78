/** How the server behaves. Everything has a default that is safe on a machine others can reach. */
import type { ServerKey } from "../settings/server-section.ts";

export type { ServerKey as ApiKey };

/** What a client may do. "reader": ask models. "admin": also load and unload them, and, with a key, name any reference. */
export type Role = ServerKey["role"];

export interface ServerSettings {
  /** Models clients may name besides `builtin`, by the name they use: references, as of `runtime.load`. Default: the models of the store. */
  readonly models?: Readonly<Record<string, string | ServedModel>>;
  /** The model of requests that name none. Default: "builtin". */
  readonly defaultModel?: string;
  /** Variant of that model, for example "int8". Default: the first one the chosen backend can run. */
  readonly variant?: string;
  /** Models that are loaded when the server starts, beside the default one; it is ready when all of them have run. Default: none. */
  readonly preload?: readonly string[];
  /** Keys clients must present one of. Default: none is asked for; who asks from this machine is an admin, everybody else a reader. */
  readonly keys?: readonly ServerKey[];
  /** Origins of pages that may call, or "*". Default: none. */
  readonly cors?: readonly string[];
  /**
   * Names in `Host` under which the server answers, besides loopback names from this machine and the address it listens on; ".example.com"
   * allows the names below it too. Default: on loopback without keys none besides, else any.
   */
  readonly allowedHosts?: readonly string[];
  /** Whether the last address of x-forwarded-for is the client's: true behind a proxy that writes it. Default: false. */
  readonly trustProxy?: boolean;
  /** Requests of one client (its key, else its address) in a minute. Default: no limit. */
  readonly requestsPerMinute?: number;
  /** Requests that run at once. Default: 256. */
  readonly maxConcurrentRequests?: number;
  /** Requests that wait behind those; what comes after them is refused with 429. Default: 1024. */
  readonly maxQueue?: number;
  /** Longest time from a request to its answer, waiting included: milliseconds, or "30s". Default: "120s". */
  readonly requestTimeout?: number | string;
  /**
   * Longest time a request waits for a model that is not in memory yet; after it the answer is MODEL_LOADING, and the load goes on. 0: it
   * waits for none. Default: as long as the request may take.
   */
  readonly loadingWait?: number | string;
  /** Longest time running requests are waited for when the server ends. Default: "30s". */
  readonly drainTimeout?: number | string;
  /** Largest body of a request in bytes, binary tensors included. Default: 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Largest JSON body, or JSON part of a body, in bytes. Default: 4 MiB. */
  readonly maxJsonBytes?: number;
  /** Deepest nesting of a JSON body. Default: 64. */
  readonly maxJsonDepth?: number;
  /** Most values of a JSON body: scalars, arrays and objects. Default: 4,194,304. */
  readonly maxJsonValues?: number;
  /**
   * Memory for all request bodies that are being received or processed, in bytes; one client may hold half of it at most. Default: an eighth of
   * the heap's limit, or twice the largest body if that is more.
   */
  readonly maxInFlightBodyBytes?: number;
  /**
   * Memory for the answers that are being computed and written, in bytes; one answer may take half of it, and so may one client. Requests wait
   * for their share. Default: an eighth of the memory, at most 1 GiB.
   */
  readonly maxResponseBytes?: number;
  /** Most texts of one request. Default: 4096. */
  readonly maxTexts?: number;
  /** Memory for answers that are kept and given again to who asks the same, in bytes. Default: 0, and none is kept. */
  readonly resultCacheBytes?: number;
  /** Models that are loaded at once for requests; further loads wait. Default: 4. */
  readonly maxLoads?: number;
  /** Of these, for the requests of one client (its key, else its address). Default: 2. */
  readonly maxLoadsPerClient?: number;
  /** Models that requests of one reader may load in a minute; after them RATE_LIMITED. Default: 30. */
  readonly loadsPerMinute?: number;
}

/** Limits of one model, besides those of all; under whatever name it is asked for. */
export interface ModelLimits {
  /** Default: the server's. */
  readonly maxConcurrentRequests?: number;
  /** Default: the server's. */
  readonly maxQueue?: number;
  /** Default: the server's. */
  readonly requestTimeout?: number | string;
}

export interface ServedModel extends ModelLimits {
  readonly reference: string;
}

export function referenceOf(model: string | ServedModel): string {
  return typeof model === "string" ? model : model.reference;
}
