/** Looks for stop strings in a text that arrives in parts. */

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
  readonly #longest: number;
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops;
    this.#longest = Math.max(0, ...stops.map(({ length }) => length));
  }

  /** Adds a part, and returns the text that can be shown. */
  push(part: string): StoppedText {
    this.#held += part;
    const found = this.#find();
    if (found !== undefined) {
      const text = this.#held.slice(0, found.start);
      const rest = this.#held.slice(found.start + found.stop.length);
      this.#held = "";
      return { text, stop: found.stop, rest };
    }
    const kept = this.#heldLength();
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

  #find(): { readonly start: number; readonly stop: string } | undefined {
    let found: { readonly start: number; readonly end: number; readonly stop: string } | undefined;
    for (const stop of this.#stops) {
      const start = this.#held.indexOf(stop);
      if (start === -1) continue;
      const end = start + stop.length;
      if (found === undefined || end < found.end || (end === found.end && start < found.start)) found = { start, end, stop };
    }
    return found;
  }

  /** Length of the longest end of the text that begins a stop string. */
  #heldLength(): number {
    for (let length = Math.min(this.#held.length, this.#longest - 1); length > 0; length -= 1) {
      const end = this.#held.slice(this.#held.length - length);
      if (this.#stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }
}
