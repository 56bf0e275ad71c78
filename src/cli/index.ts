/** Entry point of the program: connects it to the real terminal and handles Ctrl-C and closed output pipes. */
import { getMessage } from "../contract/errors.ts";
import { getSingleProgram } from "../platform/node/start-thread.ts";
import { run } from "./main.ts";

/** Time a command has to clean up after Ctrl-C, in milliseconds. */
const shutdownMs = 500;

const interrupt = new AbortController();
const onInterrupt = (): void => {
  interrupt.abort(); // a second Ctrl-C ends the program at once
  setTimeout(() => process.exit(130), shutdownMs).unref(); // the host delays the exit until a run under way has ended
};
process.once("SIGINT", onInterrupt);

/** See `Terminal.runUntilSignal`. After the first signal the handlers are removed, so that a second one has its default effect. */
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

/** A single program with engines inside unpacks them before its first command; `--help` and `--version` need none. */
if (getSingleProgram() !== undefined && !process.argv.slice(2).every((argument) => argument.startsWith("-"))) {
  const { unpackEmbeddedEngines } = await import("../libraries/npm/embedded-engines.ts");
  await unpackEmbeddedEngines(process.env, (folder) => {
    process.stderr.write(`inferyard: unpacking engines into ${folder}, once\n`);
  }).catch((error: unknown) => {
    process.stderr.write(`inferyard: ${getMessage(error)}; engines that are not unpacked are not available\n`);
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
// A hanging thread would keep the program alive.
if (interrupt.signal.aborted) setTimeout(() => process.exit(), shutdownMs).unref();
