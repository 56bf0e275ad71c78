/** Waits with a time limit. */

/** Maximum delay of a timer in milliseconds (2^31 - 1, 24.8 days). A longer delay would fire at once. */
export const maxTimerMs: number = 2 ** 31 - 1;

/** Waits until the promise is fulfilled or the time is over, whichever comes first. Rejects if the promise rejects first. */
export async function waitAtMost(promise: Promise<void>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.min(milliseconds, maxTimerMs))));
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
