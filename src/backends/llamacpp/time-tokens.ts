/** Times tokens of a model, to find how many threads are fastest. */
import { median } from "../../platform/statistics.ts";
import { evaluate } from "./evaluate.ts";
import type { LlamaModel } from "./library.ts";

/** Tokens that are timed for each number of threads; the first one, which is not timed, makes the memory resident. */
const timedTokens = 5;

/** Median milliseconds of decoding one token with this many threads. */
export async function timeTokens(
  model: LlamaModel,
  threads: number,
  vocabulary: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const context = await model.createContext({
    contextSize: 64,
    sequences: 1,
    batchSize: 64,
    threads,
    swaFullCache: true,
    failedCreationRemedy: false,
  });
  try {
    const sequence = context.getSequence();
    const times: number[] = [];
    for (let token = 0; token <= timedTokens; token += 1) {
      const start = performance.now();
      await evaluate(sequence, [token], { count: 1, candidates: 1 }, vocabulary, signal);
      if (token > 0) times.push(performance.now() - start);
    }
    return median(times);
  } finally {
    await context.dispose();
  }
}
