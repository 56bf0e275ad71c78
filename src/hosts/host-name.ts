/** Names of hosts and kinds of loaded models. */
import type { LoadedModel } from "../contract/backend.ts";

/** "inline": the calling thread. "worker": a worker thread for each model. "process": a child process for each model. */
export type HostName = "inline" | "worker" | "process";

/** Names of all hosts. */
export const hostNames: readonly HostName[] = ["inline", "worker", "process"];

/** Interface under which a model is loaded. */
export type ModelKind = LoadedModel["kind"];
