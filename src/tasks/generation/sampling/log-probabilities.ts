/** Log probabilities of tokens. */
import { exponentialSum, highestLogit } from "./filters.ts";

/** A token with the natural logarithm of its probability. */
export interface TokenLogprob {
  readonly token: number;
  readonly logprob: number;
}

/** The log probabilities of a choice. */
export interface ChoiceLogprobs {
  /** Of the chosen token. */
  readonly logprob: number;
  /** The most probable tokens, best first. */
  readonly top: readonly TokenLogprob[];
}

/**
 * Log probabilities by the model's own logits, before settings change them: of the chosen token, and of the `count` most probable ones; equal ones are in the
 * order of their ids.
 */
export function choiceLogprobs(logits: Float32Array, chosen: number, count: number): ChoiceLogprobs {
  const highest = highestLogit(logits);
  const logSum = Math.log(exponentialSum(logits, highest));
  const getLogprob = (id: number): number => (logits[id] ?? Number.NEGATIVE_INFINITY) - highest - logSum;
  const top: number[] = [];
  for (let id = 0; id < (count === 0 ? 0 : logits.length); id += 1) {
    const logit = getLogprob(id);
    if (top.length === count && logit <= getLogprob(top.at(-1) ?? id)) continue;
    let place = top.length;
    while (place > 0 && getLogprob(top[place - 1] ?? id) < logit) place -= 1;
    top.splice(place, 0, id);
    if (top.length > count) top.pop();
  }
  return { logprob: getLogprob(chosen), top: top.map((token) => ({ token, logprob: getLogprob(token) })) };
}
