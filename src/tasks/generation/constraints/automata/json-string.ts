/** Strings of JSON: a text between quotes, with escapes. */
import { chargeStates } from "../constraint-budget.ts";
import type { Automaton } from "./automaton.ts";
import { stepUtf8 } from "./utf8.ts";

const quote = 0x22;
const backslash = 0x5c;

/** Escapes of one letter (RFC 8259, section 7). */
const shortEscapes: ReadonlyMap<number, number> = new Map(
  ['"\x22', "\\\x5c", "/\x2f", "b\x08", "f\x0c", "n\x0a", "r\x0d", "t\x09"].map((pair) => [
    pair.charCodeAt(0),
    pair.charCodeAt(1),
  ]),
);

/** Code points by the number of their bytes, without surrogates. */
const codePointRanges: readonly (readonly [first: number, last: number])[] = [
  [0, 0x7f],
  [0x80, 0x7ff],
  [0x800, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x10ffff],
];

/** Among the digits of \u; or after the first of two surrogates, where `\`, then `u` follow: `high` is negative after the backslash. */
type Place =
  | { readonly kind: "digits"; readonly value: number; readonly count: number; readonly high: number }
  | { readonly kind: "low"; readonly high: number };

interface State {
  readonly content: number;
  readonly place: Place;
}

/** Places of states, their lowest four bits. 0 to 7 are states of a decoder of UTF-8 in the text; after an escape's `\u`, the rest of the state is a number of a table. */
const [behindBackslash, behindEnd, inEscape, beforeQuote] = [8, 9, 10, 11];

/** Strings of JSON whose text fits an automaton. The opening quote is part of it. States are a state of the text, or a number of an escape, times 16, and a place. */
export class JsonString implements Automaton {
  readonly start: number = beforeQuote;
  readonly #content: Automaton;
  readonly #escapes: State[] = [];
  readonly #numbers = new Map<string, number>();
  /** By state of the content and number of bytes: what `#anyContinuation` found. */
  readonly #continuations = new Map<number, boolean>();

  constructor(content: Automaton) {
    this.#content = content;
    chargeStates(1, 400);
  }

  step(state: number, byte: number): number {
    const place = state & 15;
    const content = getContent(state);
    if (place < behindBackslash) return this.#inText(content, place, byte);
    if (place === beforeQuote) return byte === quote ? 16 * this.#content.start : -1;
    if (place === behindBackslash) return this.#escape(content, byte);
    return place === inEscape ? this.#inEscape(this.#escapes[content], byte) : -1;
  }

  accepts(state: number): boolean {
    return (state & 15) === behindEnd;
  }

  continues(state: number): boolean {
    return (state & 15) !== behindEnd;
  }

  freeCharacters(state: number): number {
    return (state & 15) === 0 ? (this.#content.freeCharacters?.(getContent(state)) ?? 0) : 0;
  }

  /** The state of the text after the closing quote; -1 before it. */
  contentAtEnd(state: number): number {
    return this.accepts(state) ? getContent(state) : -1;
  }

  #escapeState(content: number, place: Place): number {
    const key = place.kind === "low" ? `${content} ${place.high}` : `${content} ${place.value},${place.count},${place.high}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    chargeStates(0, 200);
    const number = (this.#escapes.push({ content, place }) - 1) * 16 + inEscape;
    this.#numbers.set(key, number);
    return number;
  }

  #inEscape(state: State | undefined, byte: number): number {
    if (state === undefined) return -1;
    const { content, place } = state;
    return place.kind === "digits" ? this.#digit(content, place, byte) : this.#second(content, place.high, byte);
  }

  #inText(content: number, utf8: number, byte: number): number {
    if (utf8 === 0) {
      if (byte === quote) return this.#content.accepts(content) ? 16 * content + behindEnd : -1;
      if (byte === backslash) return this.#anyIn(content, 0, 0x10ffff) ? 16 * content + behindBackslash : -1;
      if (byte < 0x20) return -1;
    }
    const next = stepUtf8(utf8, byte);
    const after = next < 0 ? -1 : this.#content.step(content, byte);
    return after < 0 ? -1 : 16 * after + next;
  }

  #escape(content: number, byte: number): number {
    const character = shortEscapes.get(byte);
    if (character !== undefined) return this.#textAfter(content, character);
    return byte === 0x75 ? this.#escapeState(content, { kind: "digits", value: 0, count: 0, high: 0 }) : -1;
  }

  #textAfter(content: number, codePoint: number): number {
    const next = this.#after(content, codePoint);
    return next < 0 ? -1 : 16 * next;
  }

  #digit(content: number, { value, count, high }: Extract<Place, { kind: "digits" }>, byte: number): number {
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (Number.isNaN(digit)) return -1;
    const next = value * 16 + digit;
    const width = 16 ** (3 - count);
    const [first, last] = [next * width, (next + 1) * width - 1];
    if (count < 3) {
      const isPossible = high > 0 ? this.#lowPossible(content, high, first, last) : this.#firstPossible(content, first, last);
      return isPossible ? this.#escapeState(content, { kind: "digits", value: next, count: count + 1, high }) : -1;
    }
    if (high > 0) return next >= 0xdc00 && next <= 0xdfff ? this.#textAfter(content, getPoint(high, next)) : -1;
    if (next >= 0xdc00 && next <= 0xdfff) return -1;
    if (next < 0xd800 || next > 0xdfff) return this.#textAfter(content, next);
    return this.#anyIn(content, getPoint(next, 0xdc00), getPoint(next, 0xdfff))
      ? this.#escapeState(content, { kind: "low", high: next })
      : -1;
  }

  #second(content: number, high: number, byte: number): number {
    if (high > 0) return byte === backslash ? this.#escapeState(content, { kind: "low", high: -high }) : -1;
    return byte === 0x75 ? this.#escapeState(content, { kind: "digits", value: 0, count: 0, high: -high }) : -1;
  }

  #lowPossible(content: number, high: number, first: number, last: number): boolean {
    const [from, to] = [Math.max(first, 0xdc00), Math.min(last, 0xdfff)];
    return from <= to && this.#anyIn(content, getPoint(high, from), getPoint(high, to));
  }

  #firstPossible(content: number, first: number, last: number): boolean {
    if (this.#anyIn(content, first, Math.min(last, 0xd7ff)) || this.#anyIn(content, Math.max(first, 0xe000), last)) return true;
    const [from, to] = [Math.max(first, 0xd800), Math.min(last, 0xdbff)];
    return from <= to && this.#anyIn(content, getPoint(from, 0xdc00), getPoint(to, 0xdfff));
  }

  /** Whether one of these code points may follow. */
  #anyIn(content: number, first: number, last: number): boolean {
    if (first > last || !this.#content.continues(content)) return false;
    if ((this.#content.freeCharacters?.(content) ?? 0) > 0) return true;
    return codePointRanges.some(([from, to]) => {
      const [start, end] = [Math.max(first, from), Math.min(last, to)];
      return start <= end && this.#anyBetween(content, encodeUtf8(start), encodeUtf8(end));
    });
  }

  /** Whether the bytes of a code point between two, which have as many bytes as each other, may follow. */
  #anyBetween(state: number, first: readonly number[], last: readonly number[]): boolean {
    const [from = 0x80, ...firstRest] = first;
    const [to = 0xbf, ...lastRest] = last;
    for (let byte = from; byte <= to; byte += 1) {
      const next = this.#content.step(state, byte);
      if (next < 0) continue;
      const low = byte === from ? firstRest : firstRest.map(() => 0x80);
      const high = byte === to ? lastRest : lastRest.map(() => 0xbf);
      const isAll = low.every((each) => each === 0x80) && high.every((each) => each === 0xbf);
      if (isAll ? this.#anyContinuation(next, low.length) : this.#anyBetween(next, low, high)) return true;
    }
    return false;
  }

  /** Whether some `count` continuation bytes of UTF-8 may follow. */
  #anyContinuation(state: number, count: number): boolean {
    if (count === 0) return true;
    const key = state * 4 + count;
    const known = this.#continuations.get(key);
    if (known !== undefined) return known;
    let isPossible = false;
    for (let byte = 0x80; byte <= 0xbf && !isPossible; byte += 1) {
      const next = this.#content.step(state, byte);
      isPossible = next >= 0 && this.#anyContinuation(next, count - 1);
    }
    this.#continuations.set(key, isPossible);
    return isPossible;
  }

  #after(content: number, codePoint: number): number {
    let state = content;
    for (const byte of encodeUtf8(codePoint)) {
      state = this.#content.step(state, byte);
      if (state < 0) return -1;
    }
    return state;
  }
}

function getContent(state: number): number {
  return state < 2 ** 31 ? state >> 4 : Math.floor(state / 16);
}

function getPoint(high: number, low: number): number {
  return 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
}

/** The bytes of a code point. */
export function encodeUtf8(point: number): readonly number[] {
  if (point < 0x80) return [point];
  const tail = (shift: number): number => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x800) return [0xc0 | (point >> 6), tail(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), tail(6), tail(0)];
  return [0xf0 | (point >> 18), tail(12), tail(6), tail(0)];
}
