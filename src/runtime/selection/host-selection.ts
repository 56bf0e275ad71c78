/** Selection of the host that a model lives in: inline, worker thread or child process. */
import type { SupportedModels } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { HostName } from "../../hosts/host-name.ts";

/** Which host (inline, worker or process) a loaded model gets. */
export interface HostPolicy {
  /** The host that the user requested. Default: chosen by the backend's capabilities. */
  readonly requested?: HostName;
  /**
   * The host of backends that block their thread. With a memory budget it is one whose memory is returned to the system when
   * the model is unloaded.
   */
  readonly blocking: "worker" | "process";
}

/** Creates a policy for hosts. `requested`: the host that the user asked for, if any. `blocking`: the host of blocking backends otherwise. */
export function hostPolicy(requested: HostName | undefined, blocking: HostPolicy["blocking"]): HostPolicy {
  return { ...omitUndefined({ requested }), blocking };
}

/**
 * The host of a model: the requested one; else "inline" if its calls do not block their thread or the backend has no entry that another thread can import;
 * else "process" if the backend needs one, and `policy.blocking` if not. `support`: what the backend says of such models.
 */
export function selectHost(policy: HostPolicy, support: SupportedModels | undefined, hasEntry: boolean): HostName {
  const { runsIn = "thread" } = support ?? {};
  if (policy.requested !== undefined) return policy.requested;
  if (runsIn === "caller" || !hasEntry) return "inline";
  return runsIn === "process" ? "process" : policy.blocking;
}
