/** Selection of the host that a model lives in: inline, worker thread or child process. */
import type { Capabilities, ModelFiles } from "../../contract/backend.ts";
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

type Kind = Pick<ModelFiles, "format" | "architecture">;

/**
 * The host of a model: the requested one; else `policy.blocking` if the backend blocks its thread and has an entry that another
 * thread can import, or "process" if the backend needs one; else "inline".
 */
export function selectHost(
  policy: HostPolicy,
  { blocking, needsProcess = false }: Capabilities,
  model: Kind,
  hasEntry: boolean,
): HostName {
  const blocks = typeof blocking === "boolean" ? blocking : blocksThread(blocking, model);
  return policy.requested ?? (blocks && hasEntry ? (needsProcess ? "process" : policy.blocking) : "inline");
}

function blocksThread(formats: Capabilities["formats"], { format, architecture }: Kind): boolean {
  const architectures = formats[format] ?? [];
  return architectures === "any" || (architecture !== undefined && architectures.includes(architecture));
}
