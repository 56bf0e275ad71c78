/** Waits that an AbortSignal ends. */
import { abortError, throwIfAborted } from "../contract/errors.ts";

/**
 * Settles as `promise` does, or rejects with ABORTED as soon as the signal is aborted, whichever is first. The work behind the
 * promise is not stopped; `onAbort` is called so that the caller can stop it. A signal that is already aborted rejects at once.
 */
export function abortable<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
  onAbort: () => void = () => {},
): Promise<Result> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      onAbort();
      reject(abortError(signal));
    };
    if (signal.aborted) abort();
    const forget = signal.aborted ? () => {} : onceAborted(signal, abort);
    promise.finally(forget).then(resolve, reject);
  });
}

/** What is called when a signal is aborted. All waits on a signal share one listener: Node warns of a leak from the eleventh on. */
const waits = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `callback` when the signal, which is not aborted yet, is. Returns a function that prevents it. */
function onceAborted(signal: AbortSignal, callback: () => void): () => void {
  const present = waits.get(signal);
  const callbacks = present ?? new Set();
  if (present === undefined) {
    waits.set(signal, callbacks);
    signal.addEventListener("abort", () => callEach(callbacks), { once: true });
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

function callEach(callbacks: ReadonlySet<() => void>): void {
  for (const callback of callbacks) callback();
}

/** Waits for `milliseconds`. Rejects with ABORTED as soon as the signal is aborted. */
export async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  throwIfAborted(signal);
  if (milliseconds <= 0) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await abortable(elapsed, signal, () => clearTimeout(timer));
}
