/** Where a model lives when nobody said so. */
import type { Capabilities, ModelFiles } from "../../backend.ts";
import type { HostName } from "../../hosts/host.ts";

export interface HostPolicy {
  /** What the user demands. */
  readonly requested?: HostName;
  /** Where backends go that hold their thread: where memory is limited, a place that really gives it back. */
  readonly blocking: "worker" | "process";
}

export function hostPolicy(requested: HostName | undefined, blocking: HostPolicy["blocking"]): HostPolicy {
  return { ...(requested === undefined ? {} : { requested }), blocking };
}

type Kind = Pick<ModelFiles, "format" | "architecture">;

/** A backend that holds its thread gets one of its own, or a process; one that has no entry can be nowhere but here. */
export function selectHost(choice: HostPolicy, { blocking }: Capabilities, model: Kind, hasEntry: boolean): HostName {
  const holds = typeof blocking === "boolean" ? blocking : holdsThread(blocking, model);
  return choice.requested ?? (holds && hasEntry ? choice.blocking : "inline");
}

function holdsThread(formats: Capabilities["formats"], { format, architecture }: Kind): boolean {
  const architectures = formats[format] ?? [];
  return architectures === "any" || (architecture !== undefined && architectures.includes(architecture));
}
