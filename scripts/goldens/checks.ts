/** What was compared with the goldens, how far it was off, and what did not hold. */
import type { Tolerance } from "./tolerances.ts";

export interface Summary {
  /** How many of each thing were compared: { "token ids": 46 }. */
  readonly compared: Readonly<Record<string, number>>;
  /** The difference that came nearest to its tolerance, or went furthest beyond; null where nothing has a tolerance. */
  readonly largest: { readonly what: string; readonly difference: number; readonly tolerance: number } | null;
  /** Sentences, in the order they were found. */
  readonly failures: readonly string[];
}

export class Checks {
  readonly #compared = new Map<string, number>();
  readonly #failures: string[] = [];
  #largest: Summary["largest"] = null;

  /** Holds where both are the same, compared as JSON. `place`: which one, for people. */
  equal(what: string, place: string, actual: unknown, golden: unknown): void {
    this.#count(what);
    const [own, wanted] = [JSON.stringify(actual), JSON.stringify(golden)];
    if (own !== wanted) this.#failures.push(`${what} of ${place}: ${clip(own)}, and the golden is ${clip(wanted)}`);
  }

  /** Holds where no number is further off than the tolerance. NaN and another length never hold. */
  close(tolerance: Tolerance, place: string, actual: ArrayLike<number>, golden: ArrayLike<number>): void {
    const { what, most } = tolerance;
    this.#count(what);
    if (actual.length !== golden.length) {
      this.#failures.push(`${what} of ${place}: ${actual.length} numbers, and the golden has ${golden.length}`);
      return;
    }
    let difference = 0;
    for (let index = 0; index < golden.length && !Number.isNaN(difference); index += 1)
      difference = Math.max(difference, Math.abs((actual[index] ?? Number.NaN) - (golden[index] ?? Number.NaN)));
    const share = difference / most;
    const before = this.#largest === null ? -1 : this.#largest.difference / this.#largest.tolerance;
    if (!(share <= before)) this.#largest = { what, difference, tolerance: most };
    if (!(difference <= most))
      this.#failures.push(
        `${what} of ${place} are off by ${difference.toExponential(1)}, and ${most.toExponential()} is allowed`,
      );
  }

  summary(): Summary {
    return { compared: Object.fromEntries(this.#compared), largest: this.#largest, failures: this.#failures };
  }

  #count(what: string): void {
    this.#compared.set(what, (this.#compared.get(what) ?? 0) + 1);
  }
}

function clip(text: string | undefined): string {
  return text === undefined ? "nothing" : text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
