/** Texts of an automaton with a greatest length, without a table of every length in every state. */
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import type { Automaton, Dfa } from "./automaton.ts";

/**
 * UTF-8 texts that an automaton accepts and that have at most `max` code points. A state is the automaton's state plus the number of code points times the
 * number of the automaton's states.
 */
export class CountedText implements Automaton {
  readonly start = 0;
  readonly #content: Dfa;
  readonly #max: number;
  /** By state: the fewest code points that are missing; and that, if at least one byte follows. Infinity: there is no such text. */
  readonly #missing: Float64Array;
  readonly #missingBeyond: Float64Array;
  /** The most that are missing in any state. */
  readonly #mostMissing: number;

  constructor(content: Dfa, max: number) {
    this.#content = content;
    this.#max = max;
    const bytes = content.representatives;
    chargeStates(content.states, content.states * (16 + 12 * bytes.length));
    chargeSteps(2 * content.states * bytes.length);
    this.#missing = new Float64Array(content.states).fill(Number.POSITIVE_INFINITY);
    this.#missingBeyond = this.#missing.slice();
    this.#measure(bytes);
    this.#mostMissing = this.#missing.reduce((most, missing) => Math.max(most, missing), 0);
  }

  /** Whether no text fits. */
  get isEmpty(): boolean {
    return this.#content.isEmpty || (this.#missing[this.start] ?? 0) > this.#max;
  }

  step(state: number, byte: number): number {
    const { states } = this.#content;
    const before = state % states;
    const next = this.#content.step(before, byte);
    if (next < 0) return -1;
    const count = (state - before) / states + toCodePoints(byte);
    return count + (this.#missing[next] ?? 0) > this.#max ? -1 : count * states + next;
  }

  accepts(state: number): boolean {
    return this.#content.accepts(state % this.#content.states);
  }

  continues(state: number): boolean {
    const { states } = this.#content;
    const before = state % states;
    return (state - before) / states + (this.#missingBeyond[before] ?? 0) <= this.#max;
  }

  freeCharacters(state: number): number {
    const { states } = this.#content;
    const before = state % states;
    if (this.#content.freeCharacters(before) === 0) return 0;
    return Math.max(0, this.#max - (state - before) / states - this.#mostMissing);
  }

  /** A search from the accepting states backwards, fewest code points first. */
  #measure(bytes: readonly number[]): void {
    const { states } = this.#content;
    const sources = Array.from({ length: states }, (): number[] => []);
    /** States to look at now, and those with one code point more. */
    let open: number[] = [];
    for (let state = 0; state < states; state += 1) {
      if (this.#content.accepts(state)) {
        this.#missing[state] = 0;
        open.push(state);
      }
      for (const byte of bytes) {
        const next = this.#content.step(state, byte);
        if (next >= 0) sources[next]?.push(2 * state + toCodePoints(byte));
      }
    }
    for (let count = 0; open.length > 0; count += 1) {
      const later: number[] = [];
      for (let state = open.pop(); state !== undefined; state = open.pop()) {
        if (this.#missing[state] !== count) continue;
        for (const source of sources[state] ?? []) {
          const weight = source % 2;
          const before = (source - weight) / 2;
          this.#missingBeyond[before] = Math.min(this.#missingBeyond[before] ?? 0, count + weight);
          if (count + weight >= (this.#missing[before] ?? 0)) continue;
          this.#missing[before] = count + weight;
          (weight === 0 ? open : later).push(before);
        }
      }
      open = later;
    }
  }
}

/** 1 for the first byte of a code point. */
function toCodePoints(byte: number): number {
  return (byte & 0xc0) === 0x80 ? 0 : 1;
}
