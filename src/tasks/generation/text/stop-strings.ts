/** Looks for stop strings in a text that arrives in parts. */

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
  readonly #longest: number;
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops;
    this.#longest = Math.max(0, ...stops.map(({ length }) => length));
  }

  /** Adds a part, and returns what can be shown. */
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

  /** What was held back, once the text has ended. */
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
