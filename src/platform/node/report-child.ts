/** A child process that tries something which may end it, and reports by its last line of stdout: `answerParent` in `child-report.ts`. */
import type { ExecFileException } from "node:child_process";
import { fileURLToPath } from "node:url";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, type SerializedError } from "../../contract/errors.ts";
import { likelyCause, messageLines } from "./stderr-cause.ts";

/** Default time limit in milliseconds. The first use of a GPU can compile for seconds. */
const defaultLimitMs = 30_000;

/** What a child prints. */
export type ChildReport<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: SerializedError };

/** What became of a child: what it returned, or why it returned nothing. */
export type ChildOutcome<Value> =
  | { readonly ok: true; readonly value: Value; readonly milliseconds: number }
  | {
      readonly ok: false;
      /** What the child threw; HOST_DIED with the likely cause from its stderr if it ended without a report. */
      readonly error: InferyardError;
      readonly stderr: string;
      readonly milliseconds: number;
    };

/** How a child is run. */
export interface ChildOptions {
  /** Ends the child when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Time in milliseconds after which the child is killed; Infinity: no limit. Default: 30 seconds. */
  readonly limitMs?: number;
}

/** Runs a program of this package in a child process. `request` is its argument, as JSON. Failures of the child are returned, not thrown. */
export async function runReportingChild<Value>(
  program: URL,
  request: unknown,
  { signal, limitMs = defaultLimitMs }: ChildOptions = {},
): Promise<ChildOutcome<Value>> {
  const started = performance.now();
  const { execFile } = await import("node:child_process"); // a load starts none of these children
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [fileURLToPath(program), JSON.stringify(request)],
      {
        timeout: Number.isFinite(limitMs) ? limitMs : 0,
        killSignal: "SIGKILL",
        windowsHide: true,
        maxBuffer: 1 << 20,
        ...omitUndefined({ signal }),
      },
      (failure, stdout, stderr) => {
        const milliseconds = performance.now() - started;
        const last = stdout.trim().split("\n").at(-1) ?? "";
        const report = last.startsWith("{") ? (JSON.parse(last) as ChildReport<Value>) : undefined;
        if (report?.ok === true) return resolve({ ...report, milliseconds });
        const error =
          report === undefined
            ? new InferyardError("HOST_DIED", howItEnded(failure, stderr, limitMs))
            : InferyardError.fromJSON(report.error);
        resolve({ ok: false, error, stderr, milliseconds });
      },
    );
  });
}

/** A sentence without a full stop, such as "the process ended with SIGABRT, saying: ...". */
function howItEnded(failure: ExecFileException | null, stderr: string, limitMs: number): string {
  if (failure?.killed === true) return `no answer within ${limitMs / 1000} s`;
  const cause = likelyCause(messageLines(stderr));
  return `the process ended with ${failure?.signal ?? failure?.code ?? "code 0"}${cause === undefined ? "" : `, saying: ${cause}`}`;
}
