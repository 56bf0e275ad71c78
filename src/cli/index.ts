/** The program's start: the real terminal, Ctrl-C, and a reader of stdout that goes away. */
import { run } from "./main.ts";

/** Time a command has to put its things away after Ctrl-C. */
const shutdownMs = 500;

const interrupt = new AbortController();
const onInterrupt = (): void => {
  interrupt.abort(); // a second Ctrl-C ends at once
  setTimeout(() => process.exit(130), shutdownMs).unref(); // a run under way is waited for by the host's exit gate
};
process.once("SIGINT", onInterrupt);

/** As `Terminal.stay` says. With nobody listening any more the second signal does what signals do. */
function runUntilSignal(): void {
  process.off("SIGINT", onInterrupt);
  const ask = (): void => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, ask);
    interrupt.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, ask);
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    process.exit(1);
  });
}

process.exitCode = await run(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  environment: process.env,
  directory: process.cwd(),
  signal: interrupt.signal,
  runUntilSignal,
});
// A thread that hangs would keep the program alive.
if (interrupt.signal.aborted) setTimeout(() => process.exit(), shutdownMs).unref();
