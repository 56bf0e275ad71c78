/** Waiting with a limit. */

/** Timers take no more (2^31 - 1 ms, 24 days); longer ones would fire at once. */
export const maxTimerMs: number = 2 ** 31 - 1;

/** Waits for the promise, at most so many milliseconds. */
export async function waitAtMost(promise: Promise<void>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.min(milliseconds, maxTimerMs))));
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
