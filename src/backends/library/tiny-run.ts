/** Runs the tiny model with a library on one device in a child process: a library of the user's can end the process that uses it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Device } from "../../backend.ts";
import type { LibrarySource } from "./open-library.ts";

/** Time limit in milliseconds. The first use of a GPU can compile for seconds. */
const timeLimitMs = 30_000;

/** What the child is asked. */
export interface TinyRunRequest {
  readonly source: LibrarySource;
  readonly device: Device;
}

/** Result of a run of the tiny model. */
export type TinyRun =
  | { readonly ok: true; readonly sentence: string; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string; readonly milliseconds: number };

/** The child's report, printed as its last line. */
export type ChildReport = { readonly ok: true; readonly sentence: string } | { readonly ok: false; readonly message: string };

/** Runs the tiny model. Never throws for a failure of the library. */
export async function tinyRun(request: TinyRunRequest, signal?: AbortSignal): Promise<TinyRun> {
  const started = performance.now();
  const program = fileURLToPath(new URL("./tiny-run-child.js", import.meta.url));
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, JSON.stringify(request)],
      {
        timeout: timeLimitMs,
        killSignal: "SIGKILL",
        windowsHide: true,
        maxBuffer: 1 << 20,
        ...(signal === undefined ? {} : { signal }),
      },
      (error, stdout, stderr) => {
        const milliseconds = performance.now() - started;
        const last = stdout.trim().split("\n").at(-1) ?? "";
        const report = last.startsWith("{") ? (JSON.parse(last) as ChildReport) : undefined;
        if (report?.ok === true) return resolve({ ok: true, sentence: report.sentence, milliseconds });
        const said = stderr.trim().split("\n").at(-1) ?? "";
        const ended =
          error?.killed === true
            ? `no answer within ${timeLimitMs / 1000} s`
            : `a process that uses it ended with ${error?.signal ?? error?.code}${said === "" ? "" : `, saying: ${said}`}`;
        resolve({ ok: false, reason: report?.message ?? ended, milliseconds });
      },
    );
  });
}
