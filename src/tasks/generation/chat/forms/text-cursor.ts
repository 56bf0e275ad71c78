/** A text that arrives in parts, read by generators that pause where they need more of it. */
import { findDelimiter, getHeldLength } from "../../text/delimiters.ts";

/** Reads from a cursor; yields when more text is needed to decide. */
export type CursorReading<Result> = Generator<undefined, Result, undefined>;

/** A text that was read up to a delimiter. */
export interface Delimited {
  readonly text: string;
  /** The delimiter that was read. Undefined: the text has ended without one. */
  readonly delimiter: string | undefined;
}

/** A position in a growing text. The text since the mark can be read again. Reading takes time linear in the text, however small its parts are. */
export class CallCursor {
  /** What is not read yet. */
  #rest = "";
  /** What was read since the mark. */
  #read = "";
  #hasEnded = false;
  #isCut = false;

  /** Adds a part of the text. */
  push(text: string): void {
    this.#rest += text;
  }

  /** Marks the end of the text. `isCut`: the limit of tokens ended it, so that open parts are incomplete. */
  finish(isCut: boolean): void {
    this.#hasEnded = true;
    this.#isCut = isCut;
  }

  /** Whether the text is read to its end and the limit of tokens has ended it. */
  get isCut(): boolean {
    return this.isAtEnd && this.#isCut;
  }

  /** Whether all of the text is read. */
  get isAtEnd(): boolean {
    return this.#hasEnded && this.#rest === "";
  }

  /** Text since the mark. */
  get sinceMark(): string {
    return this.#read;
  }

  /** Sets the mark here. */
  mark(): void {
    this.#read = "";
  }

  /** Goes back to the mark. */
  rewind(): void {
    this.#rest = this.#read + this.#rest;
    this.#read = "";
  }

  /** The next character, not read; undefined at the end. */
  *peek(): CursorReading<string | undefined> {
    while (this.#rest === "" && !this.#hasEnded) yield;
    return this.#rest[0];
  }

  /** Reads a number of characters that are there. */
  #take(length: number): string {
    const text = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    this.#read += text;
    return text;
  }

  /** Reads a word if it is next. */
  *take(word: string): CursorReading<boolean> {
    if (!(yield* this.isNext(word))) return false;
    this.#take(word.length);
    return true;
  }

  /** Reads the first of several words that is next. */
  *takeOneOf(words: readonly string[]): CursorReading<string | undefined> {
    for (const word of words) if (yield* this.take(word)) return word;
    return undefined;
  }

  /** Goes back before a word that was read last. */
  unread(word: string): void {
    this.#read = this.#read.slice(0, this.#read.length - word.length);
    this.#rest = word + this.#rest;
  }

  /** Whether one of several words is next. */
  *isNextOneOf(words: readonly string[]): CursorReading<boolean> {
    for (const word of words) if (yield* this.isNext(word)) return true;
    return false;
  }

  /** Whether a word is next. */
  *isNext(word: string): CursorReading<boolean> {
    for (;;) {
      if (this.#rest.startsWith(word)) return true;
      if (this.#hasEnded || !word.startsWith(this.#rest)) return false;
      yield;
    }
  }

  /** Reads characters as long as an expression matches each of them. */
  *takeWhile(expression: RegExp): CursorReading<string> {
    let text = "";
    for (let next = yield* this.peek(); next !== undefined && expression.test(next); next = yield* this.peek()) {
      let length = 1;
      while (length < this.#rest.length && expression.test(this.#rest[length] ?? "")) length += 1;
      text += this.#take(length);
    }
    return text;
  }

  /** Reads white space. */
  *space(): CursorReading<string> {
    return yield* this.takeWhile(/\s/);
  }

  /** Reads up to the first of several delimiters, and that; all of the text if there is none. `show` is given the text as it becomes known. */
  *until(delimiters: readonly string[], show?: (text: string) => void): CursorReading<Delimited> {
    let text = "";
    const read = (length: number): void => {
      if (length === 0) return;
      const part = this.#take(length);
      text += part;
      show?.(part);
    };
    for (;;) {
      const found = findDelimiter(this.#rest, delimiters);
      if (found !== undefined) {
        read(found.start);
        this.#take(found.delimiter.length);
        return { text, delimiter: found.delimiter };
      }
      if (this.#hasEnded) {
        read(this.#rest.length);
        return { text, delimiter: undefined };
      }
      read(this.#rest.length - getHeldLength(this.#rest, delimiters));
      yield;
    }
  }

  /**
   * Whether one of several lists of words is next, each word after any white space, and none of them read. An empty word is the end of a text that was not cut.
   */
  *follows(lists: readonly (readonly string[])[]): CursorReading<boolean> {
    for (;;) {
      const answers = new Set(lists.map((words) => this.#matches(words)));
      if (answers.has(true)) return true;
      if (!answers.has(undefined)) return false;
      yield;
    }
  }

  /** Undefined: more text decides. */
  #matches(words: readonly string[]): boolean | undefined {
    let at = 0;
    for (const word of words) {
      while (/\s/.test(this.#rest[at] ?? "")) at += 1;
      const rest = this.#rest.slice(at, at + word.length);
      if (word === "")
        return this.#hasEnded ? at === this.#rest.length && !this.#isCut : at === this.#rest.length ? undefined : false;
      if (rest !== word)
        return word.startsWith(rest) && at + rest.length === this.#rest.length && !this.#hasEnded ? undefined : false;
      at += word.length;
    }
    return true;
  }
}
