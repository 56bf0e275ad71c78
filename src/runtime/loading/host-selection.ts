/** Where a model lives when nobody said so. */
import type { Capabilities, ModelFiles } from "../../backend.ts";
import type { HostName } from "../../hosts/host.ts";

export interface HostChoice {
  /** What the user demands. */
  readonly asked?: HostName;
  /** Where backends go that hold their thread: where memory is limited, a place that really gives it back. */
  readonly blocking: "worker" | "process";
}

export function hostChoiceOf(asked: HostName | undefined, blocking: HostChoice["blocking"]): HostChoice {
  return { ...(asked === undefined ? {} : { asked }), blocking };
}

type Kind = Pick<ModelFiles, "format" | "architecture">;

/** A backend that holds its thread gets one of its own, or a process; one that has no entry can be nowhere but here. */
export function hostFor(choice: HostChoice, { blocking }: Capabilities, model: Kind, hasEntry: boolean): HostName {
  const holds = typeof blocking === "boolean" ? blocking : holdsThread(blocking, model);
  return choice.asked ?? (holds && hasEntry ? choice.blocking : "inline");
}

function holdsThread(formats: Capabilities["formats"], { format, architecture }: Kind): boolean {
  const architectures = formats[format] ?? [];
  return architectures === "any" || (architecture !== undefined && architectures.includes(architecture));
}
