/** Waiting that can be cancelled. */
import { abortError, throwIfAborted } from "../errors.ts";

/** The result of a promise, or ABORTED as soon as the signal is aborted; the work behind the promise goes on. */
export async function abortable<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return promise;
  throwIfAborted(signal);
  let stop: (() => void) | undefined;
  const cancelled = new Promise<never>((_resolve, reject) => {
    stop = () => reject(abortError(signal));
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, cancelled]);
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
  }
}
