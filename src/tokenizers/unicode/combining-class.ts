/**
 * Order of combining marks by canonical combining class (Unicode Standard, section 3.11). JavaScript has no access to the class, but NFD sorts
 * adjacent marks by it, so that the order of two marks can be found by normalizing them.
 */
import { combiningMarks } from "./unicode-tables.ts";

/** One mark per combining class, ascending (1, 7, 8, 9, 10 to 36, 84, ... 240). */
const representatives: readonly string[] = Array.from(
  "\u0334\u093c\u3099\u094d\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc\u05bd\u05bf\u05c1\u05c2\ufb1e" +
    "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0670\u0711\u0c55\u0c56\u0e38\u0e48\u0eb8\u0ec8\u0f71\u0f72\u0f74\u0321" +
    "\u1dce\u031b\u1dfa\u0316\u059a\u302e\u{1d16d}\u05ae\u0301\u0315\u035c\u035d\u0345",
);

/** Ranks combining marks by their canonical combining class, by which normalization orders adjacent marks. Ranks are cached. */
export class CombiningClasses {
  /** Cached ranks by character. */
  readonly #known = new Map<string, number>();

  /** Rank of a character: 0 for a starter (class 0); marks of one class have equal ranks, marks of a higher class a higher rank. */
  of(character: string): number {
    // Marks of newer Unicode versions are starters in the Rust library.
    if ((character.length === 1 && character < "\u0300") || !combiningMarks.has(character.codePointAt(0) ?? 0)) return 0;
    const known = this.#known.get(character) ?? findRank(character);
    this.#known.set(character, known);
    return known;
  }
}

function findRank(character: string): number {
  const highest = representatives.at(-1) ?? "";
  const [lowest = ""] = representatives;
  if (!swaps(highest, character) && !swaps(character, lowest)) return 0;
  let [low, high] = [0, representatives.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = representatives[middle] ?? "";
    if (swaps(character, other)) low = middle + 1;
    else if (swaps(other, character)) high = middle;
    else return 2 * middle + 1;
  }
  // A class between those of two representatives.
  return 2 * low;
}

/** Whether NFD swaps two marks. */
function swaps(first: string, second: string): boolean {
  return (first + second).normalize("NFD") === second.normalize("NFD") + first.normalize("NFD") && first !== second;
}
