/**
 * Listeners of abort signals. Many requests wait on one signal, such as the signal of a call with hundreds of prompts, or of the server's shutdown.
 * All callbacks of a signal share one listener, since Node.js warns of a leak (MaxListenersExceededWarning) from the eleventh listener on.
 */

interface SharedListener {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/**
 * The shared listener of a signal, on the signal itself. A map by signal, weak or not, makes V8 move all objects of requests in progress to the old
 * generation: tables that it outgrew still refer to their entries until the whole heap is collected (measured: 4 times the processor time).
 */
const shared: unique symbol = Symbol("shared abort listener");

type ListenedSignal = AbortSignal & { [shared]?: SharedListener | undefined };

/** Calls `callback` once when the signal is aborted. Does nothing if the signal is undefined or already aborted. */
export function addAbortListener(signal: ListenedSignal | undefined, callback: () => void): void {
  if (signal === undefined || signal.aborted) return;
  const known = signal[shared] ?? share(signal);
  known.callbacks.add(callback);
}

/** Removes a callback. When the last callback of a signal is removed, its listener is removed too. */
export function removeAbortListener(signal: ListenedSignal | undefined, callback: () => void): void {
  const known = signal?.[shared];
  if (signal === undefined || known === undefined) return;
  known.callbacks.delete(callback);
  if (known.callbacks.size > 0) return;
  signal[shared] = undefined;
  signal.removeEventListener("abort", known.listener);
}

function share(signal: ListenedSignal): SharedListener {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of callbacks) callback(); // one that is taken back meanwhile is not called
    signal[shared] = undefined;
  };
  const made = { callbacks, listener };
  signal[shared] = made;
  signal.addEventListener("abort", listener, { once: true });
  return made;
}
