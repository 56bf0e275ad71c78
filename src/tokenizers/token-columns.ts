/** The tokens of one text, before anything is cut or put around them: one column for each thing known of a token. */

export class TokenColumns {
  readonly ids: number[] = [];
  /** UTF-16 units of the original text, flattened: start, end, ... */
  readonly offsets: number[] = [];
  /** Which piece of the text the token belongs to, counted from 0. */
  readonly words: number[] = [];
  /** Texts of tokens that are not shown by their vocabulary entry, by index. */
  readonly shown: Map<number, string> = new Map();

  get length(): number {
    return this.ids.length;
  }

  push(id: number, start: number, end: number, word: number): void {
    this.ids.push(id);
    this.offsets.push(start, end);
    this.words.push(word);
  }
}
