/**
 * Listeners of abort signals. Many requests wait on one signal, such as the signal of a call with hundreds of prompts, or of the server's shutdown.
 * All callbacks of a signal share one listener, since Node.js warns of a leak (MaxListenersExceededWarning) from the eleventh listener on.
 */

interface SharedListener {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/** Active shared listeners, by signal. */
const shared = new WeakMap<AbortSignal, SharedListener>();

/** Calls `callback` once when the signal is aborted. Does nothing if the signal is undefined or already aborted. */
export function addAbortListener(signal: AbortSignal | undefined, callback: () => void): void {
  if (signal === undefined || signal.aborted) return;
  const known = shared.get(signal) ?? share(signal);
  known.callbacks.add(callback);
}

/** Removes a callback. When the last callback of a signal is removed, its listener is removed too. */
export function removeAbortListener(signal: AbortSignal | undefined, callback: () => void): void {
  const known = signal && shared.get(signal);
  if (signal === undefined || known === undefined) return;
  known.callbacks.delete(callback);
  if (known.callbacks.size > 0) return;
  shared.delete(signal);
  signal.removeEventListener("abort", known.listener);
}

function share(signal: AbortSignal): SharedListener {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of callbacks) callback(); // one that is taken back meanwhile is not called
    shared.delete(signal);
  };
  const made = { callbacks, listener };
  shared.set(signal, made);
  signal.addEventListener("abort", listener, { once: true });
  return made;
}
