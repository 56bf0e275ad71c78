/**
 * Listeners of abort signals. Many requests wait on one signal: that of a call with hundreds of prompts, or of the server's end. They share one listener of the signal, since Node.js
 * warns of a leak (MaxListenersExceededWarning) from the eleventh on.
 */

interface SharedListener {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/** Those that are set, by signal. */
const shared = new WeakMap<AbortSignal, SharedListener>();

/** Calls `callback` once when the signal is aborted. Does nothing without a signal, and for one that is aborted already. */
export function addAbortListener(signal: AbortSignal | undefined, callback: () => void): void {
  if (signal === undefined || signal.aborted) return;
  const known = shared.get(signal) ?? share(signal);
  known.callbacks.add(callback);
}

/** Takes back a callback. The signal keeps no listener for callbacks that are all taken back. */
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
