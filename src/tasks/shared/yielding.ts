/** Keeps the event loop free during long work on the calling thread. */
import { yieldToEventLoop } from "../../platform/event-loop.ts";

/** Work goes on for this long before others get a turn. */
const sliceMs = 5;

/** A function to await between pieces of work; it gives others a turn when the slice is used up. */
export function createYielder(): () => Promise<void> | undefined {
  let sliceEnd = performance.now() + sliceMs;
  return () => {
    if (performance.now() < sliceEnd) return undefined;
    return yieldToEventLoop().then(() => {
      sliceEnd = performance.now() + sliceMs;
    });
  };
}
