/**
 * Character equivalence classes of a regular expression: characters that are in the same sets of the expression behave equally and share a
 * class. Computed when a character is first seen.
 */
import type { CharacterSetNode } from "./syntax.ts";

/** Maximum number of classes. */
const maxClasses = 4096;

/**
 * Maps code points to classes: code points that no character set of the automaton distinguishes share a class, so that transition
 * tables stay small.
 */
export class EquivalenceClasses {
  /** By class and set: 1 if the characters of the class are in the set. Class 0 is the end of a text. */
  readonly members: Uint8Array[];
  readonly #tests: readonly RegExp[];
  readonly #byMembers = new Map<string, number>();
  /** By code point of the basic multilingual plane: its class; 0 if not computed yet. */
  readonly #units = new Uint16Array(0x10000);
  readonly #beyond = new Map<number, number>();

  constructor(sets: readonly CharacterSetNode[]) {
    this.#tests = sets.map(({ source, flag }) => new RegExp(`^${source}`, flag));
    this.members = [new Uint8Array(sets.length)];
  }

  /** The class of a code point. Throws Error beyond the maximum number of classes. */
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
