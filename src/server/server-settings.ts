/** Settings of the server, except settings of the socket (`ListenOptions`). */
import type { LongTexts, ServerKey, TokenIds } from "../settings/server-section.ts";

export type { ServerKey as ApiKey };

/** Rights of a client. "reader": run models. "admin": also load and unload them and, with a key, name any reference. */
export type Role = ServerKey["role"];

/** Settings of the handler. The defaults are safe on a machine that others can reach. Times are milliseconds, or durations such as "30s". */
export interface ServerSettings {
  /**
   * Models that clients may use besides `builtin`: references for `Runtime.load` by the name that clients use. Default: the models of the store.
   */
  readonly models?: Readonly<Record<string, string | ServedModel>>;
  /** Model of requests that name none. Default: "builtin". */
  readonly defaultModel?: string;
  /** Variant of the default model, for example "int8". Default: the first one that the chosen backend can run. */
  readonly variant?: string;
  /** Models loaded when the server starts, besides the default model; the server is ready when a probe has run on each. Default: none. */
  readonly preload?: readonly string[];
  /** API keys, one of which a client must present. Default: none; clients on this machine are admins, all others readers. */
  readonly keys?: readonly ServerKey[];
  /** Origins of web pages that may use the server, or "*". Default: none. */
  readonly cors?: readonly string[];
  /**
   * Values of the header `Host` that the server accepts, besides loopback names from this machine and the address it listens on; ".example.com"
   * also allows the names below it. Default: no others on a loopback address without keys, else any.
   */
  readonly allowedHosts?: readonly string[];
  /** Whether the last address of X-Forwarded-For is the client's: true behind a proxy that writes it. Default: false. */
  readonly trustProxy?: boolean;
  /** Maximum requests per minute of one client, identified by its key, else its address. Default: no limit. */
  readonly requestsPerMinute?: number;
  /** Maximum number of requests that run at once. Default: 256. */
  readonly maxConcurrentRequests?: number;
  /** Maximum number of requests that wait; further ones get 429. Default: 1024. */
  readonly maxQueue?: number;
  /** Maximum time from a request to its response, including waiting. Default: "120s". */
  readonly requestTimeout?: number | string;
  /**
   * Maximum time a request waits for a model that is not in memory; then the response is MODEL_LOADING, and the load continues. 0: does not wait.
   * Default: as long as the request may take.
   */
  readonly loadingWait?: number | string;
  /** Maximum time that running requests have to finish when the server shuts down. Default: "30s". */
  readonly drainTimeout?: number | string;
  /** Maximum size of a request body in bytes, binary tensors included. Default: 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Maximum size of a JSON body, or of the JSON part of a body, in bytes. Default: 4 MiB. */
  readonly maxJsonBytes?: number;
  /** Maximum nesting depth of a JSON body. Default: 64. */
  readonly maxJsonDepth?: number;
  /** Maximum number of values in a JSON body: scalars, arrays and objects. Default: 4,194,304. */
  readonly maxJsonValues?: number;
  /**
   * Memory for the request bodies being received or processed, in bytes; one client may hold at most half of it. Default: an eighth of V8's heap
   * limit, or twice the maximum body if that is more.
   */
  readonly maxInFlightBodyBytes?: number;
  /**
   * Memory for the responses being computed and serialized, in bytes; one response may take at most half of it, and so may one client. Requests
   * wait for their share. Default: an eighth of the memory, at most 1 GiB.
   */
  readonly maxResponseBytes?: number;
  /** Maximum number of texts of one request. Default: 4096. */
  readonly maxTexts?: number;
  /**
   * Tokenizer of token ids that clients of OpenAI send instead of texts: "own", the model's own; "cl100k" or "o200k", tokenizers of OpenAI, which js-tiktoken
   * decodes to text. Default: only ids between the special tokens of the model's own tokenizer are accepted.
   */
  readonly tokenIds?: TokenIds;
  /** How the routes of text-embeddings-inference handle texts that exceed the model's maximum length, if the request does not say. Default: "cut". */
  readonly longTexts?: LongTexts;
  /**
   * Whether requests of others' protocols may have no fields that their routes do not know. Default: false; such fields are left out, named in the
   * header `x-inferyard-ignored` and the log, and counted. The routes of our own API refuse them in any case.
   */
  readonly strictFields?: boolean;
  /** Memory for results that are kept and returned to equal requests, in bytes. Default: 0, which disables the cache. */
  readonly resultCacheBytes?: number;
  /** Maximum number of models that requests load at once; further loads wait. Default: 4. */
  readonly maxLoads?: number;
  /** Maximum number of these loads for one client, identified by its key, else its address. Default: 2. */
  readonly maxLoadsPerClient?: number;
  /** Maximum number of loads per minute that the requests of one reader may cause, before RATE_LIMITED. Default: 30. */
  readonly loadsPerMinute?: number;
}

/** Limits of one model in addition to the server's. They hold under each name of the model. */
export interface ModelLimits {
  /** Default: the server's. */
  readonly maxConcurrentRequests?: number;
  /** Default: the server's. */
  readonly maxQueue?: number;
  /** Default: the server's. */
  readonly requestTimeout?: number | string;
}

/** A model with its own limits. */
export interface ServedModel extends ModelLimits {
  readonly reference: string;
}

/** The reference of a configured model. */
export function getReference(model: string | ServedModel): string {
  return typeof model === "string" ? model : model.reference;
}
