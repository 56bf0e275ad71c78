/** Looks for stop strings in a text that arrives in parts. */
import { findDelimiter, getHeldLength } from "./delimiters.ts";

/** The part of a text that can be shown. */
export interface StoppedText {
  readonly text: string;
  /** The stop string that was found. Undefined: none. */
  readonly stop?: string;
  /** The text after the stop string in the part with its end. */
  readonly rest?: string;
}

/**
 * Passes a text on and holds back the beginning of a possible stop string. The stop string that ends first applies; if several end at the same place, the
 * longest. Neither it nor the text after it is part of the result.
 */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Adds a part, and returns the text that can be shown. */
  push(part: string): StoppedText {
    this.#held += part;
    const found = findDelimiter(this.#held, this.#stops);
    if (found !== undefined) {
      const { start, delimiter: stop } = found;
      const text = this.#held.slice(0, start);
      const rest = this.#held.slice(start + stop.length);
      this.#held = "";
      return { text, stop, rest };
    }
    const kept = getHeldLength(this.#held, this.#stops);
    const text = this.#held.slice(0, this.#held.length - kept);
    this.#held = this.#held.slice(this.#held.length - kept);
    return { text };
  }

  /** The text that was held back, once the input has ended. */
  end(): string {
    const text = this.#held;
    this.#held = "";
    return text;
  }
}
