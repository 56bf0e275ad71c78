/** Runs the tiny model with a library on one device in a child process: a library of the user's can end the process that uses it. */
import { fileURLToPath } from "node:url";
import type { Device } from "../../contract/backend.ts";
import { runReportingChild } from "../../platform/node/report-child.ts";
import type { LibrarySource } from "./open-library.ts";

/** Request to the child process. */
export interface TinyRunRequest {
  readonly source: LibrarySource;
  readonly device: Device;
}

/** Result of a run of the tiny model. */
export type TinyRun =
  | { readonly ok: true; readonly sentence: string; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string; readonly milliseconds: number };

/** The child's report. */
export type ChildReport = { readonly ok: true; readonly sentence: string } | { readonly ok: false; readonly message: string };

/** Runs the tiny model. Never throws for a failure of the library. */
export async function tinyRun(request: TinyRunRequest, signal?: AbortSignal): Promise<TinyRun> {
  const program = fileURLToPath(new URL("./tiny-run-child.ts", import.meta.url));
  const { report, ended, milliseconds } = await runReportingChild<ChildReport>(program, request, signal);
  if (report?.ok === true) return { ok: true, sentence: report.sentence, milliseconds };
  return { ok: false, reason: report?.message ?? ended, milliseconds };
}
