/** Times of repeated calls. */

const minCalls = 3;
const warmUpMs = 200;
const budgetMs = 400;

/** Times calls for a while, in milliseconds, after a while in which V8 optimizes their code. `call` gets the number of the call. */
export function timeCalls(call: (index: number) => void): { readonly median: number; readonly best: number } {
  for (const started = performance.now(); performance.now() - started < warmUpMs;) call(0);
  const times: number[] = [];
  for (const started = performance.now(); times.length < minCalls || performance.now() - started < budgetMs;) {
    const start = performance.now();
    call(times.length + 1);
    times.push(performance.now() - start);
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { median: sorted[sorted.length >> 1] ?? 0, best: sorted[0] ?? 0 };
}
