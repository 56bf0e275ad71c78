/** Cooperative yielding: long computations on the calling thread let the event loop run in between. */
import { yieldToEventLoop } from "../../platform/event-loop.ts";

/** Maximum time in milliseconds between two yields. */
const maxSliceMs = 5;

/**
 * Returns a function to await between pieces of work. It yields to the event loop if more than `sliceMs` have passed since the last yield, and
 * returns undefined otherwise. `sliceMs`: less for work that nobody waits for. Default: 5 ms.
 */
export function createYielder(sliceMs: number = maxSliceMs): () => Promise<void> | undefined {
  let sliceEnd = performance.now() + sliceMs;
  return () => {
    if (performance.now() < sliceEnd) return undefined;
    return yieldToEventLoop().then(() => {
      sliceEnd = performance.now() + sliceMs;
    });
  };
}
