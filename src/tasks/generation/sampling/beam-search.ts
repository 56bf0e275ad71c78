/** Beam search as transformers 4.57 does it (`GenerationMixin._beam_search`), as a machine that is handed the logits of each step. Scores are float32. */
import { exponentialSum, highestLogit } from "./filters.ts";
import { type LogitsProcessor, createLogitsProcessors } from "./logits-processors.ts";
import type { SamplingSettings } from "./sampling-settings.ts";
import { processLogits } from "./token-sampler.ts";

/** Settings of beam search. */
export interface BeamSettings {
  /** Number of beams, at least 2. */
  readonly numBeams: number;
  /** Exponent of the length by which the score of a finished text is divided; above 0 longer texts are preferred. */
  readonly lengthPenalty: number;
  /**
   * When the search ends: true, as soon as there are as many finished texts as beams; false, when no better one is likely by a heuristic; "never", only
   * when there cannot be a better one.
   */
  readonly earlyStopping: boolean | "never";
}

/** A text of the search. */
export interface Beam {
  /** The decoder's tokens: the prompt's and the generated ones. */
  readonly tokens: readonly number[];
  /** Sum of the log probabilities; divided by the length penalty once the text is finished. */
  readonly score: number;
}

/** One beam of the next step: the beam that it continues, and the token that follows. */
export interface BeamStep {
  readonly parent: number;
  readonly token: number;
}

interface Candidate extends BeamStep {
  readonly score: number;
}

interface FinishedBeam extends Beam {
  readonly isFinished: boolean;
}

const impossible = -1e9;

/** A search for the texts with the highest score. */
export class BeamSearch {
  readonly #settings: BeamSettings;
  readonly #sampling: SamplingSettings;
  readonly #processors: readonly LogitsProcessor[];
  readonly #promptLength: number;
  readonly #source: readonly number[];
  #running: readonly Beam[];
  #finished: readonly FinishedBeam[];
  #canImprove = true;

  /** Starts with one beam, the prompt. `sampling.maxLength` must be finite. */
  constructor(settings: BeamSettings, sampling: SamplingSettings, prompt: readonly number[], source: readonly number[]) {
    this.#settings = settings;
    this.#sampling = sampling;
    this.#processors = createLogitsProcessors(sampling);
    this.#promptLength = prompt.length;
    this.#source = source;
    this.#running = [{ tokens: prompt, score: 0 }];
    this.#finished = Array.from({ length: settings.numBeams }, () => ({
      tokens: prompt,
      score: Number.NEGATIVE_INFINITY,
      isFinished: false,
    }));
  }

  /** The running beams, which need logits, in this order. */
  get running(): readonly Beam[] {
    return this.#running;
  }

  /** Finished texts, best first; before the search has ended possibly none. */
  get finished(): readonly Beam[] {
    return this.#finished.filter(({ isFinished }) => isFinished);
  }

  /**
   * Takes the logits of each running beam, which it overwrites, and returns the beams of the next step: the index of the beam that each continues, and its
   * token. Undefined when the search has ended.
   */
  advance(logits: readonly Float32Array[]): readonly BeamStep[] | undefined {
    const { numBeams, earlyStopping } = this.#settings;
    const { endTokens, maxLength } = this.#sampling;
    const candidates = this.#bestCandidates(logits, Math.max(2, 1 + endTokens.length) * numBeams);
    const isLast = (this.#running[0]?.tokens.length ?? 0) + 1 >= maxLength;
    const ends = candidates.map(({ token }) => isLast || endTokens.includes(token));
    const next = best(
      candidates.map((each, index) => (ends[index] === true ? { ...each, score: Math.fround(each.score + impossible) } : each)),
      numBeams,
    );
    this.#finish(candidates.slice(0, numBeams).filter((_, index) => ends[index] === true));
    this.#running = next.map((each) => this.#getBeam(each));
    this.#updateCanImprove();
    const isFull = earlyStopping === true && this.#finished.every(({ isFinished }) => isFinished);
    return this.#canImprove && !isFull && !ends.every(Boolean) ? next : undefined;
  }

  #getBeam({ parent, token, score }: Candidate): Beam {
    return { tokens: [...(this.#running[parent]?.tokens ?? []), token], score };
  }

  /** The continuations of all running beams with the highest scores, best first. */
  #bestCandidates(logits: readonly Float32Array[], count: number): readonly Candidate[] {
    const found: Candidate[] = [];
    for (const [parent, { tokens, score }] of this.#running.entries()) {
      const row = logits[parent];
      if (row === undefined) continue;
      toLogProbabilities(row);
      processLogits(row, { tokens, promptLength: this.#promptLength, source: this.#source }, this.#processors);
      for (const [token, logprob] of row.entries()) {
        const sum = Math.fround(logprob + score);
        const lowest = found.length < count ? Number.NEGATIVE_INFINITY : (found.at(-1)?.score ?? Number.NEGATIVE_INFINITY);
        if (!(sum > lowest)) continue;
        let place = found.length;
        while (place > 0 && (found[place - 1]?.score ?? 0) < sum) place -= 1;
        found.splice(place, 0, { parent, token, score: sum });
        if (found.length > count) found.pop();
      }
    }
    return found;
  }

  #finish(ended: readonly Candidate[]): void {
    const { numBeams, lengthPenalty, earlyStopping } = this.#settings;
    const isFull = earlyStopping === true && this.#finished.every(({ isFinished }) => isFinished);
    if (isFull || !this.#canImprove) return;
    const texts = ended.map((candidate): FinishedBeam => {
      const { tokens, score } = this.#getBeam(candidate);
      return { tokens, score: Math.fround(score / (tokens.length - this.#promptLength) ** lengthPenalty), isFinished: true };
    });
    this.#finished = best([...this.#finished, ...texts], numBeams);
  }

  #updateCanImprove(): void {
    const { lengthPenalty, earlyStopping } = this.#settings;
    const length = this.#running[0]?.tokens.length ?? 0;
    const bestLength = earlyStopping === "never" && lengthPenalty > 0 ? this.#sampling.maxLength : length;
    const possible = (this.#running[0]?.score ?? impossible) / (bestLength - this.#promptLength) ** lengthPenalty;
    const worst = Math.min(...this.#finished.map(({ score }) => score));
    this.#canImprove &&= this.#finished.some(({ isFinished }) => possible > (isFinished ? worst : impossible));
  }
}

/** The `count` items with the highest scores, best first; of equal ones those that come first. */
function best<Item extends { readonly score: number }>(items: readonly Item[], count: number): readonly Item[] {
  return items.toSorted((left, right) => right.score - left.score).slice(0, count);
}

function toLogProbabilities(logits: Float32Array): void {
  const highest = highestLogit(logits);
  const logSum = Math.log(exponentialSum(logits, highest));
  for (const [id, logit] of logits.entries()) logits[id] = logit - highest - logSum;
}
