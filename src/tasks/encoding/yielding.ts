/** Cooperative yielding: long computations on the calling thread let the event loop run in between. */
import { yieldToEventLoop } from "../../platform/event-loop.ts";

/** Maximum time in milliseconds between two yields. */
const maxSliceMs = 5;

/**
 * Returns a function to await between pieces of work. It yields to the event loop if more than 5 ms have passed since the last yield, and
 * returns undefined otherwise.
 */
export function createYielder(): () => Promise<void> | undefined {
  let sliceEnd = performance.now() + maxSliceMs;
  return () => {
    if (performance.now() < sliceEnd) return undefined;
    return yieldToEventLoop().then(() => {
      sliceEnd = performance.now() + maxSliceMs;
    });
  };
}
