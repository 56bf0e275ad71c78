/** `jobs work`: a worker for the jobs of a queue. */
import type { Command } from "commander";
import { addAbortListener } from "../../../concurrency/abort-listeners.ts";
import { openWorkQueue } from "../../../jobs/open-job.ts";
import { runWorker, taskExecutor } from "../../../jobs/work/worker.ts";
import { withSession } from "../../session.ts";
import type { Terminal } from "../../terminal.ts";
import { openJobs, queueAddress, redisOption } from "./job-folder.ts";

interface WorkFlags {
  readonly redis?: string;
}

/** Adds `jobs work`. */
export function addWork(command: Command, terminal: Terminal): void {
  command
    .command("work")
    .description("work on the jobs of this machine, or of a Redis or Valkey server, until a signal")
    .addOption(redisOption())
    .action(async (flags: WorkFlags) => {
      terminal.runUntilSignal?.();
      const stop = new AbortController();
      addAbortListener(terminal.signal, () => stop.abort());
      // A worker that `jobs run` has started ends with it.
      process.once("disconnect", () => stop.abort());
      const queue = await openWorkQueue(queueAddress(openJobs(terminal), flags.redis, terminal));
      const never = new AbortController().signal;
      try {
        await withSession(terminal, flags, undefined, async ({ runtime }) =>
          runWorker(queue, taskExecutor(runtime), { stop: stop.signal, abort: never }),
        );
      } finally {
        await queue.close();
      }
    });
}
