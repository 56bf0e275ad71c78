/** Where a model lives when nobody said so. */
import type { HostName } from "../hosts/host.ts";

export interface HostChoice {
  /** What the user demands. */
  readonly asked?: HostName;
  /** Whether memory is limited: then a model that leaves must really give it back, which only a process does. */
  readonly limited: boolean;
}

/** A backend that holds its thread gets one of its own, or a process; one that has no entry can be nowhere but here. */
export function hostFor({ asked, limited }: HostChoice, blocking: boolean, hasEntry: boolean): HostName {
  if (asked !== undefined) return asked;
  if (!blocking || !hasEntry) return "inline";
  return limited ? "process" : "worker";
}
