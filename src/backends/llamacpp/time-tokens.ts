/** Times tokens of a model, to find how many threads are fastest. */
import { timeRuns } from "../../platform/statistics.ts";
import { evaluate } from "./evaluate.ts";
import type { LlamaModel } from "./library.ts";

/** Tokens that are timed for each number of threads. */
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
    return await timeRuns(timedTokens, (token) => evaluate(sequence, [token], { count: 1, candidates: 1 }, vocabulary, signal));
  } finally {
    await context.dispose();
  }
}
