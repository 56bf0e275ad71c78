/** Turns of the event loop, in Node.js and in a browser alike. */

/** Settles after everything that waits now has had its turn. Timers would do it too, but browsers delay them by 4 ms. */
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

/** Calls `work` once after a while, unless cleared. In Node.js a program that has nothing else to do ends without waiting for it. */
export function unrefTimeout(work: () => void, milliseconds: number): ReturnType<typeof setTimeout> {
  const timer: ReturnType<typeof setTimeout> | number = setTimeout(work, milliseconds);
  if (typeof timer === "object") timer.unref();
  return timer;
}
