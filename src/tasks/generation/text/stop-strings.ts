/** Looks for stop strings in a text that arrives in parts. */
import { findDelimiter, getHeldLength } from "./delimiters.ts";

/** What can be shown of a text so far. */
export interface StoppedText {
  readonly text: string;
  /** The stop string that was found. Undefined: none so far. */
  readonly stop?: string;
  /** What follows the stop string in the part that it ends in. */
  readonly rest?: string;
}

/**
 * Passes a text on without what may be the beginning of a stop string. The stop string that ends first counts; of those that end together the longest.
 * Neither it nor what follows is part of the text.
 */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Adds a part, and returns what can be shown. */
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

  /** What was held back, once the text has ended. */
  end(): string {
    const text = this.#held;
    this.#held = "";
    return text;
  }
}
