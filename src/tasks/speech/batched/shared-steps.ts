/** Decoding of several texts at once: each is decoded as if it were alone, and their steps are computed in one call of the model. */
import type { DecodeStep } from "../../../contract/language-model.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { throwIfAborted } from "../../../contract/errors.ts";
import type { SpeechModel } from "../whisper/decode-window.ts";

/** Steps of one text that wait for those of the others. */
interface WaitingSteps {
  readonly steps: readonly DecodeStep[];
  readonly resolve: (logits: readonly Float32Array[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs all of `work` at the same time with a model whose `decode` waits until each work that has not ended waits as well, and then computes the steps of all
 * in one call. The results are in the order of `work`. After a failure the others are aborted through the signal that they get; when all have ended, the first
 * failure is thrown, or ABORTED if `signal` is aborted.
 */
export async function runWithSharedSteps<Result>(
  model: SpeechModel,
  work: readonly ((shared: SpeechModel, signal: AbortSignal) => Promise<Result>)[],
  signal: AbortSignal | undefined,
): Promise<readonly Result[]> {
  const failure = new AbortController();
  const either = signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]);
  let open = work.length;
  let waiting: WaitingSteps[] = [];
  const computeIfAllWait = (): void => {
    if (waiting.length === 0 || waiting.length < open) return;
    const taken = waiting;
    waiting = [];
    void computeTogether(model, taken, either);
  };
  const shared: SpeechModel = {
    limits: model.limits,
    library: model.library,
    createSequence: (options) => model.createSequence(options),
    forkSequence: (sequence) => model.forkSequence(sequence),
    truncateSequence: (sequence, length) => model.truncateSequence(sequence, length),
    releaseSequence: (sequence) => model.releaseSequence(sequence),
    decode: (steps) =>
      new Promise((resolve, reject) => {
        waiting.push({ steps, resolve, reject });
        computeIfAllWait();
      }),
    ...omitUndefined({ crossAttention: model.crossAttention?.bind(model) }),
  };
  const results = await Promise.allSettled(
    work.map(async (each) => {
      try {
        return await each(shared, either);
      } catch (error) {
        failure.abort(error);
        throw error;
      } finally {
        open -= 1;
        computeIfAllWait();
      }
    }),
  );
  throwIfAborted(signal);
  // The signal keeps the reason of the first abort.
  if (failure.signal.aborted) throw failure.signal.reason;
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

/** Computes the steps of all in one call, and gives each the logits of its own. */
async function computeTogether(model: SpeechModel, taken: readonly WaitingSteps[], signal: AbortSignal): Promise<void> {
  try {
    const logits = await model.decode(
      taken.flatMap(({ steps }) => steps),
      { signal },
    );
    let first = 0;
    for (const { steps, resolve } of taken) {
      resolve(logits.slice(first, first + steps.length));
      first += steps.length;
    }
  } catch (error) {
    for (const { reject } of taken) reject(error);
  }
}
