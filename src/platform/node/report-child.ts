/** A child process that tries something which may end it, and reports by its last line of stdout. */
import { omitUndefined } from "../../contract/checked.ts";
import { likelyCause, messageLines } from "./stderr-cause.ts";

/** Default time limit in milliseconds. The first use of a GPU can compile for seconds. */
const defaultLimitMs = 30_000;

/** Result of the child process. */
export interface ChildOutcome<Report> {
  /** The report; undefined if the child ended without one. */
  readonly report: Report | undefined;
  /** How the process ended, with the likely cause from its stderr: "the process ended with SIGABRT, saying: ...". */
  readonly ended: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

/**
 * Runs a program of this package in a child process. `request` is its argument, as JSON; its last line of stdout, if that is a JSON object, is the
 * report. Failures of the child are returned, not thrown. `signal`: ends the child. `timeLimitMs`: time in milliseconds after which the child is
 * killed; Infinity: no limit.
 */
export async function runReportingChild<Report>(
  program: string,
  request: unknown,
  signal?: AbortSignal,
  timeLimitMs: number = defaultLimitMs,
): Promise<ChildOutcome<Report>> {
  const started = performance.now();
  const { execFile } = await import("node:child_process"); // a load starts none of these children
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, JSON.stringify(request)],
      {
        timeout: Number.isFinite(timeLimitMs) ? timeLimitMs : 0,
        killSignal: "SIGKILL",
        windowsHide: true,
        maxBuffer: 1 << 20,
        ...omitUndefined({ signal }),
      },
      (error, stdout, stderr) => {
        const last = stdout.trim().split("\n").at(-1) ?? "";
        const cause = likelyCause(messageLines(stderr));
        const ended =
          error?.killed === true
            ? `no answer within ${timeLimitMs / 1000} s`
            : `the process ended with ${error?.signal ?? error?.code ?? "code 0"}${cause === undefined ? "" : `, saying: ${cause}`}`;
        resolve({
          report: last.startsWith("{") ? (JSON.parse(last) as Report) : undefined,
          ended,
          stderr,
          milliseconds: performance.now() - started,
        });
      },
    );
  });
}
