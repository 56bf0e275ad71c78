/** `jobs work`: a worker for the jobs of a queue. */
import { addAbortListener } from "../../../concurrency/abort-listeners.ts";
import { openWorkerQueue } from "../../../jobs/open-job.ts";
import { runWorker, taskExecutor } from "../../../jobs/work/worker.ts";
import type { WorkerActivity } from "../../../jobs/work/worker-processes.ts";
import { withSession } from "../../session.ts";
import type { Terminal } from "../../terminal.ts";
import { openJobs, queueAddress } from "./job-folder.ts";

/** `jobs work`: works until a signal, or until the `jobs run` ends that started it. */
export async function workCommand(flags: { readonly redis?: string }, terminal: Terminal): Promise<void> {
  terminal.runUntilSignal?.();
  const stop = new AbortController();
  addAbortListener(terminal.signal, () => stop.abort());
  process.once("disconnect", () => stop.abort());
  const queue = await openWorkerQueue(queueAddress(openJobs(terminal), flags.redis, terminal));
  const never = new AbortController().signal;
  const tell = (activity: WorkerActivity): void => {
    if (process.connected) process.send?.(activity, () => {}); // its starter may just have ended
  };
  try {
    await withSession(terminal, flags, undefined, async ({ runtime }) =>
      runWorker(queue, taskExecutor(runtime), { stop: stop.signal, abort: never }, tell),
    );
  } finally {
    await queue.close();
  }
}
