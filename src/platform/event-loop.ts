/** Access to the event loop that works in Node.js and in browsers. */

/**
 * Yields to the event loop: resolves after the tasks that are pending now have run. Uses setImmediate in Node.js and a
 * MessageChannel in browsers, which delay timers by 4 ms.
 */
export function yieldToEventLoop(): Promise<void> {
  if (typeof setImmediate === "function") return new Promise((resolve) => void setImmediate(resolve));
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}

/** Calls `work` once after `milliseconds`, unless cleared. The timer does not keep a Node.js process alive. */
export function unrefTimeout(work: () => void, milliseconds: number): ReturnType<typeof setTimeout> {
  const timer: ReturnType<typeof setTimeout> | number = setTimeout(work, milliseconds);
  if (typeof timer === "object") timer.unref();
  return timer;
}
