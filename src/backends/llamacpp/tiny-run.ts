/** Runs the tiny model on one device in a child process: a broken driver can abort the process that uses it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Device } from "../../backend.ts";

/** Time limit in milliseconds. The first use of a GPU can compile for seconds. */
const timeLimitMs = 30_000;

/** Result of a run of the tiny model. */
export type TinyRun =
  | { readonly ok: true; readonly sentence: string; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string; readonly milliseconds: number };

/** The child's report, printed as its last line. */
export type ChildReport = { readonly ok: true; readonly sentence: string } | { readonly ok: false; readonly message: string };

/** Runs the tiny model on a device. Never throws for a failure of the engine. */
export async function tinyRun(device: Device, signal?: AbortSignal): Promise<TinyRun> {
  const started = performance.now();
  const program = fileURLToPath(new URL("./tiny-run-child.js", import.meta.url));
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, JSON.stringify(device)],
      {
        timeout: timeLimitMs,
        killSignal: "SIGKILL",
        windowsHide: true,
        maxBuffer: 1 << 20,
        ...(signal === undefined ? {} : { signal }),
      },
      (error, stdout) => {
        const milliseconds = performance.now() - started;
        const last = stdout.trim().split("\n").at(-1) ?? "";
        const report = last.startsWith("{") ? (JSON.parse(last) as ChildReport) : undefined;
        if (report?.ok === true) return resolve({ ok: true, sentence: report.sentence, milliseconds });
        const ended =
          error?.killed === true
            ? `no answer within ${timeLimitMs / 1000} s`
            : `the process ended with ${error?.signal ?? error?.code}`;
        resolve({ ok: false, reason: report?.message ?? ended, milliseconds });
      },
    );
  });
}
