/**
 * The section `server` of inferyard.yaml. The types are written by hand and checked against the schema by the compiler, so that reading settings
 * does not load the schema library.
 */
import type { Strategy } from "../runtime/options/runtime-settings.ts";

/** The section. `server-schema.ts` describes each setting. */
export interface ServerSection {
  readonly address?: string;
  readonly port?: number;
  readonly allowAnonymous?: boolean;
  readonly keys?: readonly ServerKey[];
  readonly keysFile?: string;
  readonly cors?: readonly string[];
  readonly allowedHosts?: readonly string[];
  readonly trustProxy?: boolean;
  readonly models?: Readonly<Record<string, string | ServerModel>>;
  readonly preload?: readonly string[];
  readonly maxConcurrentRequests?: number;
  readonly maxQueue?: number;
  readonly requestsPerMinute?: number;
  readonly maxBodyBytes?: number;
  readonly maxJsonBytes?: number;
  readonly maxJsonDepth?: number;
  readonly maxJsonValues?: number;
  readonly maxInFlightBodyBytes?: number;
  readonly maxTexts?: number;
  readonly maxTextCharacters?: number;
  readonly tokenIds?: TokenIds;
  readonly longTexts?: LongTexts;
  readonly strictFields?: boolean;
  readonly resultCacheBytes?: number;
  readonly maxLoads?: number;
  readonly maxLoadsPerClient?: number;
  readonly loadsPerMinute?: number;
  readonly requestTimeout?: number | string;
  readonly textTimeout?: number | string;
  readonly templateTimeout?: number | string;
  readonly constraintTimeout?: number | string;
  readonly constraintTimePerMinute?: number | string;
  readonly constraintCacheBytes?: number;
  readonly maxConstraintStates?: number;
  readonly maxConstraintBytes?: number;
  readonly maxConstraintSteps?: number;
  readonly loadingWait?: number | string;
  readonly headersTimeout?: number | string;
  readonly bodyTimeout?: number | string;
  readonly stallTimeout?: number | string;
  readonly maxResponseBytes?: number;
  readonly maxUnreadBytes?: number;
  readonly maxConnections?: number;
  readonly maxConnectionsPerClient?: number;
  readonly drainTimeout?: number | string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly logLevel?: LogLevel;
}

/** An API key as the settings have it: its name, its digest, and the role that it grants. */
export interface ServerKey {
  /** Name of the key in logs and metrics. */
  readonly name: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly sha256: string;
  readonly role: "reader" | "admin";
  /** Maximum requests per minute with this key. Default: the server's limit. */
  readonly requestsPerMinute?: number;
}

/** A model with its own limits. */
export interface ServerModel {
  readonly reference: string;
  /** When it is loaded and evicted; see `ModelSettings.strategy`. Default: "lazy". */
  readonly strategy?: Strategy;
  /** Limits of this model, in addition to the server's. */
  readonly maxConcurrentRequests?: number;
  readonly maxQueue?: number;
  /** Request timeout of this model: milliseconds, or "30s". Default: the server's timeout. */
  readonly requestTimeout?: number | string;
}

/** Tokenizer of token ids that clients send instead of texts: the model's own, or an encoding of OpenAI's tiktoken. */
export type TokenIds = "own" | "cl100k" | "o200k";

/** All values of `TokenIds`. */
export const tokenIdSources: readonly TokenIds[] = ["own", "cl100k", "o200k"];

/** Least severe level of log lines that the server writes; "silent" writes none. */
export type LogLevel = "silent" | "error" | "warn" | "info" | "debug";

/** All log levels, from the least to the most verbose. */
export const logLevels: readonly LogLevel[] = ["silent", "error", "warn", "info", "debug"];

/** Treatment of texts that exceed the model's maximum length: "cut" truncates them, "error" refuses them. */
export type LongTexts = "cut" | "error";

/** All values of `LongTexts`. */
export const longTextModes: readonly LongTexts[] = ["cut", "error"];

/** Names of the settings that have a default. */
type Defaulted =
  | "address"
  | "port"
  | "allowAnonymous"
  | "trustProxy"
  | "maxConcurrentRequests"
  | "maxQueue"
  | "maxBodyBytes"
  | "maxJsonBytes"
  | "maxJsonDepth"
  | "maxJsonValues"
  | "maxTexts"
  | "maxTextCharacters"
  | "longTexts"
  | "strictFields"
  | "resultCacheBytes"
  | "maxLoads"
  | "maxLoadsPerClient"
  | "loadsPerMinute"
  | "requestTimeout"
  | "textTimeout"
  | "templateTimeout"
  | "constraintTimeout"
  | "constraintTimePerMinute"
  | "constraintCacheBytes"
  | "maxConstraintStates"
  | "maxConstraintBytes"
  | "maxConstraintSteps"
  | "headersTimeout"
  | "bodyTimeout"
  | "stallTimeout"
  | "maxConnections"
  | "drainTimeout"
  | "logLevel";

/** The defaults, for `inferyard serve` and for the server as a library. */
export const serverDefaults: Required<Pick<ServerSection, Defaulted>> = {
  address: "127.0.0.1",
  port: 8080,
  allowAnonymous: false,
  trustProxy: false,
  maxConcurrentRequests: 256,
  maxQueue: 1024,
  maxBodyBytes: 33_554_432,
  maxJsonBytes: 4_194_304,
  maxJsonDepth: 64,
  maxJsonValues: 4_194_304,
  maxTexts: 4096,
  maxTextCharacters: 1_000_000,
  longTexts: "cut",
  strictFields: false,
  resultCacheBytes: 0,
  maxLoads: 4,
  maxLoadsPerClient: 2,
  loadsPerMinute: 30,
  requestTimeout: "120s",
  textTimeout: "30s",
  templateTimeout: "10s",
  constraintTimeout: "30s",
  constraintTimePerMinute: "60s",
  constraintCacheBytes: 33_554_432,
  maxConstraintStates: 500_000,
  maxConstraintBytes: 67_108_864,
  maxConstraintSteps: 5_000_000,
  headersTimeout: "10s",
  bodyTimeout: "60s",
  stallTimeout: "30s",
  maxConnections: 1024,
  drainTimeout: "30s",
  logLevel: "info",
};
