/** Which of a program's sets each character is in, as a small number per combination. Found when a character is first met. */
import type { CharacterSetNode } from "./syntax.ts";

/** Combinations of sets. */
const maxClasses = 4096;

export class EquivalenceClasses {
  /** Per class and set: 1 where the characters of the class are in it. Class 0 is no character: the end of a text. */
  readonly members: Uint8Array[];
  readonly #tests: readonly RegExp[];
  readonly #byMembers = new Map<string, number>();
  /** Per unit of the 16-bit plane: its class; 0 where it is not known yet. */
  readonly #units = new Uint16Array(0x10000);
  readonly #beyond = new Map<number, number>();

  constructor(sets: readonly CharacterSetNode[]) {
    this.#tests = sets.map(({ source, flag }) => new RegExp(`^${source}`, flag));
    this.members = [new Uint8Array(sets.length)];
  }

  /** The class of a code point. */
  of(point: number): number {
    const known = point < 0x10000 ? (this.#units[point] as number) : (this.#beyond.get(point) ?? 0);
    return known === 0 ? this.#find(point) : known;
  }

  #find(point: number): number {
    const character = String.fromCodePoint(point);
    const members = Uint8Array.from(this.#tests, (test) => (test.test(character) ? 1 : 0));
    const key = members.join("");
    const found = this.#byMembers.get(key) ?? this.members.push(members) - 1;
    if (found >= maxClasses) throw new Error(`a regular expression tells more than ${maxClasses} kinds of characters apart`);
    this.#byMembers.set(key, found);
    if (point < 0x10000) this.#units[point] = found;
    else this.#beyond.set(point, found);
    return found;
  }
}
