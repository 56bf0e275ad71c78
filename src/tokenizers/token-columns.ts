/** The tokens of one text before truncation and special tokens, as a table of columns. */

/** The tokens of a text as parallel arrays with one entry per token; `offsets` has two, start and end. */
export class TokenColumns {
  readonly ids: number[] = [];
  /** Ranges in the original text in UTF-16 code units, flattened: start, end, start, end, ... */
  readonly offsets: number[] = [];
  /** Index of the word (pre-tokenizer piece) that the token belongs to, from 0. */
  readonly words: number[] = [];
  /** By token index: text of a token that `Encoding.tokens` shows in place of its vocabulary entry. */
  readonly textOverrides: Map<number, string> = new Map();

  get length(): number {
    return this.ids.length;
  }

  push(id: number, start: number, end: number, word: number): void {
    this.ids.push(id);
    this.offsets.push(start, end);
    this.words.push(word);
  }
}
