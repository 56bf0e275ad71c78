/** What looking for one kind of accelerator came to. */
import type { Accelerator } from "../../backend.ts";
import type { MachineSources } from "../sources.ts";

/** The devices of one kind, at least one, in the engine's numbering; or why there is none. */
export type ProbeResult = { readonly devices: readonly Accelerator[] } | { readonly absent: string };

/** Looks for one kind of accelerator. Absence is an answer, never a throw. */
export type Probe = (sources: MachineSources) => Promise<ProbeResult>;

/** No device of this kind. The reason becomes one line without a full stop, whatever a tool printed. */
export function absent(reason: string): ProbeResult {
  return { absent: reason.replaceAll(/\s+/g, " ").trim().replace(/\.+$/, "") };
}

/** The devices, or the reason when there are none. */
export function found(devices: readonly Accelerator[], otherwise: string): ProbeResult {
  return devices.length === 0 ? absent(otherwise) : { devices };
}
