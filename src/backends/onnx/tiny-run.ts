/**
 * Runs the tiny graph on one provider in a child process. onnxruntime prints the cause of a provider's failure on stderr only,
 * and a broken driver can abort the process that uses it; both require a process.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Device } from "../../backend.ts";
import { cleanMessage } from "../onnxruntime/failures.ts";

/** Time limit in milliseconds. The first use of a GPU can compile for seconds. */
const timeLimitMs = 30_000;

/** Result of a run of the tiny graph. */
export type TinyRun =
  | { readonly ok: true; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string; readonly milliseconds: number };

/** The child's report, printed as its last line. */
export type ChildReport = { readonly ok: true; readonly milliseconds: number } | { readonly ok: false; readonly message: string };

/** Runs the tiny graph on a device. Never throws for a failure of the engine. */
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
      (error, stdout, stderr) => {
        const milliseconds = performance.now() - started;
        const report = parseReport(stdout);
        if (report?.ok === true) return resolve({ ok: true, milliseconds: report.milliseconds });
        const ended =
          error?.killed === true
            ? `no answer within ${timeLimitMs / 1000} s`
            : `the process ended with ${error?.signal ?? error?.code}`;
        resolve({ ok: false, milliseconds, reason: causeIn(stderr) ?? cleanMessage(report?.message ?? ended) });
      },
    );
  });
}

function parseReport(stdout: string): ChildReport | undefined {
  const last = stdout.trim().split("\n").at(-1) ?? "";
  return last.startsWith("{") ? (JSON.parse(last) as ChildReport) : undefined;
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
