/**
 * Measures how many threads compute fastest. More threads than free cores make llama.cpp many times slower, since its threads wait for each other by
 * spinning, and which cores are free cannot be asked for.
 */

/** Result of the measurement. */
export interface ThreadCalibration {
  readonly threads: number;
  /** Median duration of the timed work in milliseconds, by number of threads. */
  readonly milliseconds: ReadonlyMap<number, number>;
}

/** After this time no further number of threads is tried. */
const maxMs = 1500;
/** Another thread must gain this much, since it is taken from others. */
const minGain = 0.95;

/** Numbers of threads that are tried: powers of two up to the maximum, and the maximum. */
function candidates(max: number): readonly number[] {
  const powers = Array.from({ length: Math.floor(Math.log2(max)) + 1 }, (_, power) => 2 ** power);
  return [...new Set([...powers, max])];
}

/** Times work with 1 to `maxThreads` threads: `time` returns its median in milliseconds. Undefined if there is no choice. Throws errors of `time`. */
export async function calibrateThreads(
  maxThreads: number,
  time: (threads: number) => Promise<number>,
): Promise<ThreadCalibration | undefined> {
  if (maxThreads <= 1) return undefined;
  const milliseconds = new Map<number, number>();
  const started = performance.now();
  let best = 1;
  for (const threads of candidates(maxThreads)) {
    if (performance.now() - started > maxMs) break;
    const took = await time(threads);
    milliseconds.set(threads, took);
    if (took < minGain * (milliseconds.get(best) ?? 0)) best = threads;
  }
  return { threads: best, milliseconds };
}

/** The result as a sentence. `work`: what was timed, such as "a token". */
export function threadSentence({ threads, milliseconds }: ThreadCalibration, work: string): string {
  const measured = [...milliseconds].map(([count, each]) => `${each.toFixed(1)} ms with ${count}`);
  return `${threads} ${threads === 1 ? "thread is" : "threads are"} fastest: ${work} took ${measured.join(", ")}`;
}
