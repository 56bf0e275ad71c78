/** Runs the tiny model on one device in a child process: a broken driver can abort the process that uses it. */
import { fileURLToPath } from "node:url";
import type { Device } from "../../contract/backend.ts";
import { runReportingChild } from "../../platform/node/report-child.ts";

/** Result of a run of the tiny model. */
export type TinyRun =
  | { readonly ok: true; readonly sentence: string; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string; readonly milliseconds: number };

/** Request to the child process. */
export interface ChildRequest {
  readonly device: Device;
  /** Whether the model runs even if a run passed before on this machine. */
  readonly full: boolean;
}

/** The child's report. */
export type ChildReport = { readonly ok: true; readonly sentence: string } | { readonly ok: false; readonly message: string };

/**
 * Runs the tiny model on a device. On the CPU a run that passed before on this machine is remembered, and only the libraries are loaded; `full` repeats it. Never throws for a failure
 * of the engine.
 */
export async function tinyRun(
  device: Device,
  { full = false, signal }: { readonly full?: boolean; readonly signal?: AbortSignal | undefined } = {},
): Promise<TinyRun> {
  const program = fileURLToPath(new URL("./tiny-run-child.ts", import.meta.url));
  const request: ChildRequest = { device, full };
  const { report, ended, milliseconds } = await runReportingChild<ChildReport>(program, request, signal);
  if (report?.ok === true) return { ok: true, sentence: report.sentence, milliseconds };
  return { ok: false, reason: report?.message ?? ended, milliseconds };
}
