/** Waits that an AbortSignal ends. */
import { abortError, throwIfAborted } from "../contract/errors.ts";
import { addAbortListener, removeAbortListener } from "./abort-listeners.ts";

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
    addAbortListener(signal, abort);
    promise.finally(() => removeAbortListener(signal, abort)).then(resolve, reject);
  });
}

/**
 * Waits for a turn. `enter` joins the queue with a function that gives the turn, and returns one that leaves the queue; it is called if the signal is aborted
 * before the turn. Then rejects with ABORTED.
 */
export function waitForTurn(signal: AbortSignal | undefined, enter: (giveTurn: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = enter(() => {
      removeAbortListener(signal, abort);
      resolve();
    });
    const abort = (): void => {
      leave();
      if (signal !== undefined) reject(abortError(signal));
    };
    addAbortListener(signal, abort);
  });
}

/** Waits for `milliseconds`. Rejects with ABORTED as soon as the signal is aborted. */
export async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  throwIfAborted(signal);
  if (milliseconds <= 0) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await abortable(elapsed, signal, () => clearTimeout(timer));
}
