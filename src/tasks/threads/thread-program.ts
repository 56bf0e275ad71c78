/** What the programs of worker threads share. */
import { parentPort } from "node:worker_threads";
import { getHeapStatistics } from "node:v8";
import { InferyardError, type SerializedError, getMessage } from "../../contract/errors.ts";
import { startIdleHeapCollection } from "../../platform/node/idle-collection.ts";
import { lowerPriority } from "../../platform/node/lower-priority.ts";

/** Message from a thread: the result of its call, or the error. */
export type ResultMessage<Result> = (
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: SerializedError }
) & {
  /** Time that the call took, in milliseconds. */
  readonly tookMs: number;
  /** Heap that the thread has taken from the system, in use or not, in bytes. */
  readonly heapBytes: number;
};

/** First message of a program: the thread is loaded. */
export interface ReadyMessage {
  readonly isReady: true;
}

/** Code of a program. */
export interface ThreadProgram<Message, Result> {
  /** Name for the error of who runs it as a main program. */
  readonly name: string;
  readonly perform: (message: Message) => Result | Promise<Result>;
  /** Whether nobody waits for the result. Default: somebody does. */
  readonly isUnanswered?: (message: Message) => boolean;
  /** Buffers of a result to transfer instead of copy. Default: none. */
  readonly getBuffers?: (result: Result) => ArrayBuffer[];
}

/** Performs the calls of the pool, and replies to each. Throws CONTRACT_VIOLATION in a main program. */
export function runProgram<Message, Result>({
  name,
  perform,
  isUnanswered = () => false,
  getBuffers = () => [],
}: ThreadProgram<Message, Result>): void {
  const port = parentPort;
  if (port === null)
    throw new InferyardError("CONTRACT_VIOLATION", `${name} is the program of a worker thread, not a main program`);
  lowerPriority("thread");
  startIdleHeapCollection();
  port.on("message", async (message: Message) => {
    const started = performance.now();
    const outcome = await settle(() => perform(message));
    if (isUnanswered(message)) return;
    const reply: ResultMessage<Result> = {
      ...outcome,
      tookMs: performance.now() - started,
      heapBytes: getHeapStatistics().total_heap_size,
    };
    port.postMessage(reply, outcome.ok ? getBuffers(outcome.result) : []);
  });
  port.postMessage({ isReady: true } satisfies ReadyMessage);
}

async function settle<Result>(
  perform: () => Result | Promise<Result>,
): Promise<{ readonly ok: true; readonly result: Result } | { readonly ok: false; readonly error: SerializedError }> {
  try {
    return { ok: true, result: await perform() };
  } catch (error) {
    const failure = error instanceof InferyardError ? error : new InferyardError("CONTRACT_VIOLATION", getMessage(error));
    return { ok: false, error: failure.toJSON() };
  }
}
