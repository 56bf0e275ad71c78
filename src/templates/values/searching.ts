/** Searching and measuring texts, in time that is linear in them and counted. */
import type { Budget } from "../budget.ts";

/** Longest text that is searched for by the machine's own search, whose time is its length times the text's at worst. */
const maxPlainSearch = 16;

/** Finds a text in others. */
export class Searcher {
  readonly #wanted: string;
  readonly #budget: Budget;
  #borders: Int32Array | undefined;

  constructor(wanted: string, budget: Budget) {
    this.#wanted = wanted;
    this.#budget = budget;
  }

  /** Index of the first occurrence at or after `from`, or -1. */
  find(text: string, from = 0): number {
    const wanted = this.#wanted;
    if (wanted.length > text.length - from) return -1;
    if (wanted.length <= maxPlainSearch) {
      const at = text.indexOf(wanted, from);
      this.#budget.text((at === -1 ? text.length : at + wanted.length) - from);
      return at;
    }
    return this.#knuthMorrisPratt(text, from);
  }

  /** Knuth, Morris and Pratt 1977: no character is looked at twice. */
  #knuthMorrisPratt(text: string, from: number): number {
    const wanted = this.#wanted;
    const borders = (this.#borders ??= this.#makeBorders());
    let matched = 0;
    for (let at = from; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
      if (wanted.charCodeAt(matched) === unit) matched += 1;
      if (matched === wanted.length) {
        this.#budget.text(4 * (at + 1 - from));
        return at + 1 - matched;
      }
      // Counted on the way, since a text may be large.
      if ((at & 0xff_ff) === 0) this.#budget.step();
    }
    this.#budget.text(4 * (text.length - from));
    return -1;
  }

  /** For each beginning of the wanted text: the length of its longest proper beginning that is its end too. */
  #makeBorders(): Int32Array {
    const wanted = this.#wanted;
    this.#budget.text(4 * wanted.length);
    const borders = new Int32Array(wanted.length);
    let matched = 0;
    for (let at = 1; at < wanted.length; at += 1) {
      while (matched > 0 && wanted.charCodeAt(matched) !== wanted.charCodeAt(at)) matched = borders[matched - 1] ?? 0;
      if (wanted.charCodeAt(matched) === wanted.charCodeAt(at)) matched += 1;
      borders[at] = matched;
    }
    return borders;
  }
}

/** Index of the last occurrence that begins at or before `from`, or -1. */
export function findLast(text: string, wanted: string, budget: Budget, from: number = text.length): number {
  const searcher = new Searcher(reversed(wanted), budget);
  budget.text(2 * text.length);
  const start = Math.max(0, text.length - from - wanted.length);
  if (wanted.length <= maxPlainSearch) return text.lastIndexOf(wanted, from);
  const at = searcher.find(reversed(text), start);
  return at === -1 ? -1 : text.length - at - wanted.length;
}

function reversed(text: string): string {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) units[at] = text.charCodeAt(text.length - 1 - at);
  const parts: string[] = [];
  for (let at = 0; at < units.length; at += 8192) parts.push(String.fromCharCode(...units.subarray(at, at + 8192)));
  return parts.join("");
}

const surrogate = /[\ud800-\udbff]/;

/** Whether a text has characters of two UTF-16 units, so that an index of a unit is no index of a character. */
export function hasPairs(text: string, budget: Budget): boolean {
  budget.text(text.length);
  return surrogate.test(text);
}

/** Number of characters of a text: len(). */
export function lengthOfText(text: string, budget: Budget): number {
  if (!hasPairs(text, budget)) return text.length;
  budget.text(4 * text.length);
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

/** Characters of a text. */
export function toCharacters(text: string, budget: Budget): string[] {
  budget.step(text.length);
  budget.items(text.length);
  return Array.from(text);
}

/** Part of a text between two indices of its characters, which lie within it. */
export function sliceOfText(text: string, start: number, stop: number, budget: Budget): string {
  if (stop <= start) return "";
  if (!hasPairs(text, budget)) {
    budget.text(stop - start);
    return text.slice(start, stop);
  }
  return toCharacters(text, budget).slice(start, stop).join("");
}
