/**
 * Runs the tiny graph on one provider in a child process. onnxruntime prints the cause of a provider's failure on stderr only,
 * and a broken driver can abort the process that uses it; both require a process.
 */
import type { Device } from "../../contract/backend.ts";
import { runReportingChild } from "../../platform/node/report-child.ts";
import { cleanMessage } from "../onnxruntime/failures.ts";

/** Result of a run of the tiny graph. */
export type TinyRun =
  | { readonly ok: true; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string; readonly milliseconds: number };

/** Runs the tiny graph on a device. Never throws for a failure of the engine. */
export async function tinyRun(device: Device, signal?: AbortSignal): Promise<TinyRun> {
  const run = await runReportingChild<number>(new URL("./tiny-run-child.ts", import.meta.url), device, { signal });
  if (run.ok) return { ok: true, milliseconds: run.value };
  const { milliseconds, stderr, error } = run;
  return { ok: false, milliseconds, reason: causeIn(stderr) ?? cleanMessage(error.message) };
}

/**
 * The cause of a failure in the engine's output. A message of the dynamic linker takes precedence, since it names the missing
 * library.
 */
export function causeIn(stderr: string): string | undefined {
  const lines = stderr.split("\n").filter((line) => /\[[EF]:onnxruntime|error|fail/i.test(line));
  const linker = lines
    .map((line) => /with error: (?:\/\S*\/)?([^/\s]+: cannot open shared object file.*|.+)$/.exec(line)?.[1])
    .find(Boolean);
  const words = linker ?? lines[0];
  return words === undefined ? undefined : cleanMessage(words);
}
