/** Tries PJRT plugins in child processes: a plugin can end the process that loads it. */
import type { Device } from "../../../contract/backend.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { type ChildOutcome, runReportingChild } from "../../../platform/node/report-child.ts";

/** Facts that a plugin reports after a tiny program ran on its device. */
export interface PluginFacts {
  /** Type of its devices, as targets name it: "cpu", "cuda", "rocm" or "tpu". */
  readonly deviceType: string;
  /** The kind of its first device, such as "NVIDIA H200". */
  readonly deviceKind: string;
  /** Version of the PJRT API, such as "0.106". */
  readonly apiVersion: string;
  /** Version of StableHLO that it compiles, such as "1.16.1". Empty if it does not state one. */
  readonly stableHloVersion: string;
}

/** Request to the child process: it tries a device, or the first one of the plugin. */
export interface ProbeRequest {
  /** Absolute path of the plugin. */
  readonly path: string;
  readonly device?: Device;
}

/** Time limit in milliseconds: the first program on a GPU takes some 10 s, and many start more slowly. */
const limitMs = 120_000;

/**
 * Loads a plugin in a child process, and compiles and runs a tiny program on the device, or on the plugin's first device. Never throws for a failure of the plugin.
 */
export async function probePlugin(path: string, device?: Device, signal?: AbortSignal): Promise<ChildOutcome<PluginFacts>> {
  const request: ProbeRequest = { path, ...omitUndefined({ device }) };
  return await runReportingChild<PluginFacts>(new URL("./probe-plugin-child.ts", import.meta.url), request, { signal, limitMs });
}
