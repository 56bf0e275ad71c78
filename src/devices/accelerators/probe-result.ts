/** The result of looking for one kind of accelerator. */
import type { Accelerator } from "../../contract/backend.ts";
import type { MachineSources } from "../sources.ts";

/** One or more devices of a kind, in the engine's numbering; or the reason why there are none. */
export type ProbeResult = { readonly devices: readonly Accelerator[] } | { readonly absent: string };

/** Looks for one kind of accelerator. Never throws: absence is a result. */
export type Probe = (sources: MachineSources) => Promise<ProbeResult>;

/** A result without devices. The reason, which a tool may have printed, is reduced to one line without a full stop. */
export function absent(reason: string): ProbeResult {
  return { absent: reason.replaceAll(/\s+/g, " ").trim().replace(/\.+$/, "") };
}

/** A result with these devices, or with the reason if there are none. */
export function found(devices: readonly Accelerator[], otherwise: string): ProbeResult {
  return devices.length === 0 ? absent(otherwise) : { devices };
}
