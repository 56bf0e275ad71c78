/** Strings of JSON: a text between quotes, with escapes. */
import { type Automaton, stepUtf8 } from "./automaton.ts";

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

/** Where in a string: within the text, after a backslash, among the digits of \u, or behind its end. */
type Place =
  | { readonly kind: "text"; readonly utf8: number }
  | { readonly kind: "backslash" }
  | { readonly kind: "digits"; readonly value: number; readonly count: number; readonly high: number }
  /** Behind the first of two surrogates: `\`, then `u`. */
  | { readonly kind: "low"; readonly high: number }
  | { readonly kind: "end" };

interface State {
  readonly content: number;
  readonly place: Place;
}

/** Strings of JSON whose text fits an automaton. The opening quote is part of it. */
export class JsonString implements Automaton {
  readonly start = 0;
  readonly #content: Automaton;
  readonly #states: (State | undefined)[] = [undefined];
  readonly #numbers = new Map<string, number>();
  readonly #next: (Int32Array | undefined)[] = [];
  /** By state of the content and number of bytes: what `#anyContinuation` found. */
  readonly #continuations = new Map<number, boolean>();

  constructor(content: Automaton) {
    this.#content = content;
  }

  step(state: number, byte: number): number {
    const row = (this.#next[state] ??= new Int32Array(256).fill(-2));
    const known = row[byte] ?? -2;
    if (known !== -2) return known;
    const next = this.#compute(this.#states[state], byte);
    const number = next === undefined ? -1 : this.#numberOf(next);
    row[byte] = number;
    return number;
  }

  accepts(state: number): boolean {
    return this.#states[state]?.place.kind === "end";
  }

  continues(state: number): boolean {
    return !this.accepts(state);
  }

  freeCharacters(state: number): number {
    const { content, place } = this.#states[state] ?? {};
    return content !== undefined && place?.kind === "text" && place.utf8 === 0 ? this.#content.freeCharacters(content) : 0;
  }

  #numberOf({ content, place }: State): number {
    const detail =
      place.kind === "text"
        ? place.utf8
        : place.kind === "digits"
          ? `${place.value},${place.count},${place.high}`
          : place.kind === "low"
            ? place.high
            : "";
    const key = `${content} ${place.kind} ${detail}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#states.push({ content, place }) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  #compute(state: State | undefined, byte: number): State | undefined {
    if (state === undefined)
      return byte === quote ? { content: this.#content.start, place: { kind: "text", utf8: 0 } } : undefined;
    const { content, place } = state;
    switch (place.kind) {
      case "text":
        return this.#inText(content, place.utf8, byte);
      case "backslash":
        return this.#escape(content, byte);
      case "digits":
        return this.#digit(content, place, byte);
      case "low":
        return this.#second(content, place.high, byte);
      case "end":
        return undefined;
      default:
        return place satisfies never;
    }
  }

  #inText(content: number, utf8: number, byte: number): State | undefined {
    if (utf8 === 0) {
      if (byte === quote) return this.#content.accepts(content) ? { content, place: { kind: "end" } } : undefined;
      if (byte === backslash) return this.#anyIn(content, 0, 0x10ffff) ? { content, place: { kind: "backslash" } } : undefined;
      if (byte < 0x20) return undefined;
    }
    const next = stepUtf8(utf8, byte);
    const after = next < 0 ? -1 : this.#content.step(content, byte);
    return after < 0 ? undefined : { content: after, place: { kind: "text", utf8: next } };
  }

  #escape(content: number, byte: number): State | undefined {
    const character = shortEscapes.get(byte);
    if (character !== undefined) return this.#textAfter(content, character);
    return byte === 0x75 ? { content, place: { kind: "digits", value: 0, count: 0, high: 0 } } : undefined;
  }

  #textAfter(content: number, codePoint: number): State | undefined {
    const next = this.#after(content, codePoint);
    return next < 0 ? undefined : { content: next, place: { kind: "text", utf8: 0 } };
  }

  #digit(content: number, { value, count, high }: Extract<Place, { kind: "digits" }>, byte: number): State | undefined {
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (Number.isNaN(digit)) return undefined;
    const next = value * 16 + digit;
    const width = 16 ** (3 - count);
    const [first, last] = [next * width, (next + 1) * width - 1];
    if (count < 3) {
      const isPossible = high > 0 ? this.#lowPossible(content, high, first, last) : this.#firstPossible(content, first, last);
      return isPossible ? { content, place: { kind: "digits", value: next, count: count + 1, high } } : undefined;
    }
    if (high > 0) return next >= 0xdc00 && next <= 0xdfff ? this.#textAfter(content, pointOf(high, next)) : undefined;
    if (next >= 0xdc00 && next <= 0xdfff) return undefined;
    if (next < 0xd800 || next > 0xdfff) return this.#textAfter(content, next);
    return this.#anyIn(content, pointOf(next, 0xdc00), pointOf(next, 0xdfff))
      ? { content, place: { kind: "low", high: next } }
      : undefined;
  }

  #second(content: number, high: number, byte: number): State | undefined {
    // `high` is negative behind the backslash.
    if (high > 0) return byte === backslash ? { content, place: { kind: "low", high: -high } } : undefined;
    return byte === 0x75 ? { content, place: { kind: "digits", value: 0, count: 0, high: -high } } : undefined;
  }

  #lowPossible(content: number, high: number, first: number, last: number): boolean {
    const [from, to] = [Math.max(first, 0xdc00), Math.min(last, 0xdfff)];
    return from <= to && this.#anyIn(content, pointOf(high, from), pointOf(high, to));
  }

  #firstPossible(content: number, first: number, last: number): boolean {
    if (this.#anyIn(content, first, Math.min(last, 0xd7ff)) || this.#anyIn(content, Math.max(first, 0xe000), last)) return true;
    const [from, to] = [Math.max(first, 0xd800), Math.min(last, 0xdbff)];
    return from <= to && this.#anyIn(content, pointOf(from, 0xdc00), pointOf(to, 0xdfff));
  }

  /** Whether one of these code points may follow. */
  #anyIn(content: number, first: number, last: number): boolean {
    if (first > last || !this.#content.continues(content)) return false;
    if (this.#content.freeCharacters(content) > 0) return true;
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

function pointOf(high: number, low: number): number {
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
