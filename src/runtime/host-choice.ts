/** Where a model lives when nobody said so. */
import type { Capabilities, ModelFormat } from "../backend.ts";
import type { HostName } from "../hosts/host.ts";

export interface HostChoice {
  /** What the user demands. */
  readonly asked?: HostName;
  /** Where backends go that hold their thread: where memory is limited, a place that really gives it back. */
  readonly blocking: "worker" | "process";
}

/** A backend that holds its thread gets one of its own, or a process; one that has no entry can be nowhere but here. */
export function hostFor(choice: HostChoice, { blocking }: Capabilities, format: ModelFormat, hasEntry: boolean): HostName {
  const holds = typeof blocking === "boolean" ? blocking : blocking.includes(format);
  return choice.asked ?? (holds && hasEntry ? choice.blocking : "inline");
}
