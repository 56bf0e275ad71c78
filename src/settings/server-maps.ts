/** Maps in the section `server` of inferyard.yaml. */
import type { Strategy } from "../runtime/options/runtime-settings.ts";

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
