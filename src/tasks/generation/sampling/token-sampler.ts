/** Chooses the next token of a text from its logits. */
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import { exponential } from "./exponential.ts";
import { exponentialSum, filterLogits, highestLogit } from "./filters.ts";
import { type LogitsProcessor, createLogitsProcessors } from "./logits-processors.ts";
import type { Random } from "./random.ts";
import type { SamplingSettings, TextSoFar } from "./sampling-settings.ts";

/** Chooses tokens by settings. */
export class TokenSampler {
  readonly #settings: SamplingSettings;
  readonly #processors: readonly LogitsProcessor[];
  readonly #random: Random;
  /** The logits that the last token was chosen from. */
  #last: Float32Array = new Float32Array();
  /** The random number that the last token was drawn with. */
  #uniform = 0;
  /** Distance of that number from the nearest one that draws another token; undefined if nothing was drawn. */
  #margin: number | undefined;

  /** `random` is used if the settings ask for random sampling. */
  constructor(settings: SamplingSettings, random: Random) {
    this.#settings = settings;
    this.#processors = createLogitsProcessors(settings);
    this.#random = random;
  }

  /**
   * The next token. `allowed`: a bit for each token that may be chosen, the lowest bit of the first word for token 0; default: all may. Throws
   * RUN_FAILED for logits that are not numbers, and INPUT_INVALID if the settings leave no token.
   */
  choose(logits: Float32Array, text: TextSoFar, allowed?: Uint32Array): number {
    return this.#choose(logits, { text, allowed, draw: () => this.#random.uniform() });
  }

  /** Repeats the choice with recomputed logits and the same random number. */
  chooseAgain(logits: Float32Array, text: TextSoFar, allowed?: Uint32Array): number {
    return this.#choose(logits, { text, allowed, draw: () => this.#uniform });
  }

  #choose(
    logits: Float32Array,
    { text, allowed, draw }: { readonly text: TextSoFar; readonly allowed: Uint32Array | undefined; readonly draw: () => number },
  ): number {
    const changed = logits.slice();
    processLogits(changed, text, this.#processors, allowed);
    this.#last = changed;
    this.#margin = undefined;
    // Nothing is drawn where a constraint leaves no choice.
    if (!this.#settings.doSample || hasNoChoice(allowed)) return firstHighest(changed);
    filterLogits(changed, this.#settings);
    this.#uniform = draw();
    return this.#draw(changed, this.#uniform);
  }

  /** Number of highest logits that a choice without a constraint depends on; undefined: all. */
  get candidates(): number | undefined {
    const { doSample, topK } = this.#settings;
    if (this.#processors.length > 0) return undefined;
    if (!doSample) return 1;
    return topK > 0 ? topK : undefined;
  }

  /**
   * By how much the logits could change, as a fraction of their spread, before another token were chosen: the lead of the highest logit over the second, or for a token
   * that was drawn the distance of the random number from the nearest token that it would have drawn otherwise, as a probability.
   */
  get lead(): number {
    let [highest, second, lowest] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const logit of this.#last) {
      if (logit > highest) [highest, second] = [logit, highest];
      else if (logit > second) second = logit;
      if (logit < lowest && logit !== Number.NEGATIVE_INFINITY) lowest = logit;
    }
    if (second === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY; // no other token may come next
    if (this.#margin !== undefined) return this.#margin / Math.max(1, highest - lowest);
    return highest === lowest ? 0 : (highest - second) / (highest - lowest);
  }

  /** Draws a token with the probabilities that the logits state: the first, by id, whose cumulative probability exceeds the random number. */
  #draw(logits: Float32Array, uniform: number): number {
    const highest = highestLogit(logits);
    const sum = exponentialSum(logits, highest);
    const drawn = uniform * sum;
    let cumulative = 0;
    let last = 0;
    for (const [id, logit] of logits.entries()) {
      if (logit === Number.NEGATIVE_INFINITY) continue;
      const before = cumulative;
      cumulative += exponential(logit - highest);
      last = id;
      if (cumulative <= drawn) continue;
      this.#margin = Math.min(before === 0 ? Number.POSITIVE_INFINITY : drawn - before, cumulative - drawn) / sum;
      return id;
    }
    this.#margin = 0;
    return last;
  }
}

/** Applies processors in place, and removes the tokens whose bit in `allowed` is not set. Throws as `TokenSampler.choose`. */
export function processLogits(
  logits: Float32Array,
  text: TextSoFar,
  processors: readonly LogitsProcessor[],
  allowed?: Uint32Array,
): void {
  for (const process of processors) process(logits, text);
  if (allowed !== undefined) removeForbidden(logits, allowed);
  const highest = highestLogit(logits);
  if (Number.isFinite(highest) && !logits.some((logit) => Number.isNaN(logit))) return;
  if (highest === Number.NEGATIVE_INFINITY && logits.every((logit) => logit === Number.NEGATIVE_INFINITY)) {
    throw invalidInput(
      "the settings leave no token that may come next",
      "loosen the settings that ban tokens (badWords, suppressTokens, logitBias, noRepeatNgramSize), or the constraint",
    );
  }
  throw new InferyardError("RUN_FAILED", "the model computed logits that are not finite numbers", {
    remedy: "load another variant of the model, or run it on another target",
  });
}

function removeForbidden(logits: Float32Array, allowed: Uint32Array): void {
  for (let id = 0; id < logits.length; id += 1) {
    if ((((allowed[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 0) logits[id] = Number.NEGATIVE_INFINITY;
  }
}

/** Whether a single token is allowed. */
function hasNoChoice(allowed: Uint32Array | undefined): boolean {
  if (allowed === undefined) return false;
  const index = allowed.findIndex((word) => word !== 0);
  const word = allowed[index] ?? 0;
  return (word & (word - 1)) === 0 && allowed.findLastIndex((other) => other !== 0) === index;
}

function firstHighest(logits: Float32Array): number {
  return logits.indexOf(highestLogit(logits));
}
