/** Texts up to a delimiter, by the automaton of Knuth, Morris and Pratt (1977). */
import { chargeStates } from "../constraint-budget.ts";
import { type Automaton, type Dfa, explore } from "./automaton.ts";
import { getClasses } from "./byte-classes.ts";
import { stepUtf8, utf8States } from "./utf8.ts";

/** Finds a word: states are the number of its bytes that the text ends with. */
class WordSearch {
  readonly word: Uint8Array;
  /** By number of bytes: the longest shorter beginning of the word that they end with. */
  readonly #shorter: Int32Array;

  constructor(text: string) {
    this.word = new TextEncoder().encode(text);
    this.#shorter = new Int32Array(this.word.length + 1);
    chargeStates(this.word.length, 5 * this.word.length + 200);
    for (let index = 1, length = 0; index < this.word.length; index += 1) {
      length = this.step(length, this.word[index] ?? 0);
      this.#shorter[index + 1] = length;
    }
  }

  step(state: number, byte: number): number {
    let length = state;
    while (length > 0 && this.word[length] !== byte) length = this.#shorter[length] ?? 0;
    return this.word[length] === byte ? length + 1 : 0;
  }
}

/** Any text and the delimiter that ends it, which it contains nowhere else. The delimiter begins with a byte of ASCII. States: 8 for each of its bytes, as `stepUtf8` has them. */
export class DelimitedText implements Automaton {
  readonly start = 0;
  readonly #search: WordSearch;

  constructor(delimiter: string) {
    this.#search = new WordSearch(delimiter);
  }

  step(state: number, byte: number): number {
    if (this.accepts(state)) return -1;
    const utf8 = stepUtf8(state % utf8States, byte);
    return utf8 < 0 ? -1 : this.#search.step(Math.floor(state / utf8States), byte) * utf8States + utf8;
  }

  accepts(state: number): boolean {
    return Math.floor(state / utf8States) === this.#search.word.length;
  }

  continues(state: number): boolean {
    return !this.accepts(state);
  }
}

/** Texts that do not contain a word. */
export function textsWithout(text: string): Dfa {
  const search = new WordSearch(text);
  return explore<number>({
    start: 0,
    key: (state) => state,
    classes: getClasses([...search.word].map((byte): readonly [number, number] => [byte, byte])),
    step(state, byte) {
      const next = search.step(state, byte);
      return next === search.word.length ? undefined : next;
    },
    accepts: () => true,
  });
}
