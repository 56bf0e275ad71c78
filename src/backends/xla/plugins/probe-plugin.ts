/** Tries PJRT plugins in child processes: a plugin can end the process that loads it. */
import { fileURLToPath } from "node:url";
import type { Device } from "../../../contract/backend.ts";
import { runReportingChild } from "../../../platform/node/report-child.ts";

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

/** The child's report. */
export type ProbeReport = { readonly ok: true; readonly facts: PluginFacts } | { readonly ok: false; readonly reason: string };

/** The outcome of a probe. */
export type PluginProbe = ProbeReport & { readonly milliseconds: number };

/** Time limit in milliseconds: the first program on a GPU takes some 10 s, and many start more slowly. */
const limitMs = 120_000;

/**
 * Loads a plugin in a child process, and compiles and runs a tiny program on the device, or on the plugin's first device. Never throws for a failure of the plugin.
 */
export async function probePlugin(path: string, device?: Device, signal?: AbortSignal): Promise<PluginProbe> {
  const program = fileURLToPath(new URL("./probe-plugin-child.ts", import.meta.url));
  const request: ProbeRequest = device === undefined ? { path } : { path, device };
  const { report, ended, milliseconds } = await runReportingChild<ProbeReport>(program, request, signal, limitMs);
  return { ...(report ?? { ok: false, reason: ended }), milliseconds };
}
