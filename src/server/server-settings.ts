/** Settings of the server, without those of the socket (`ListenOptions`). */
import type { HandlerSettings } from "../settings/generated-server-settings.ts";
import type { ServerKey } from "../settings/server-maps.ts";

export type { ServerKey as ApiKey };

/** Rights of a client. "reader": run models. "admin": also load and unload them and, with a key, name any reference. */
export type Role = ServerKey["role"];

/** Settings of the handler. The defaults are safe on a machine that others can reach. Times are milliseconds, or durations such as "30s". */
export interface ServerSettings extends HandlerSettings {
  /**
   * Models that clients may use besides `builtin`: references for `Runtime.load` by the name that clients use. Default: the models of the store.
   */
  readonly models?: Readonly<Record<string, string | ServedModel>>;
  /** Model of requests that name none. Default: "builtin". */
  readonly defaultModel?: string;
  /** Variant of the default model, for example "int8". Default: the first one that the chosen backend can run. */
  readonly variant?: string;
}

/** Limits of one model in addition to the server's. They hold under each name of the model. */
export interface ModelLimits {
  /** Maximum number of requests of this model that run at once. Default: the server's. */
  readonly maxConcurrentRequests?: number;
  /** Maximum number of requests of this model that wait. Default: the server's. */
  readonly maxQueue?: number;
  /** Maximum time of a request of this model. Default: the server's. */
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
