/** GLiNER's `WhitespaceTokenSplitter`: the words that its models were trained on. */

/** A word of a text. */
export interface Word {
  readonly text: string;
  /** Range in the text, in UTF-16 code units: start included, end excluded. */
  readonly start: number;
  readonly end: number;
}

/** Runs of letters, digits and underscores, hyphens allowed inside; any other character except white space is a word of its own. */
const word = /[\p{L}\p{N}_]+(?:[-_][\p{L}\p{N}_]+)*|\S/gu;

/** Splits a text into words, in order. White space is left out. */
export function splitWords(text: string): Word[] {
  return Array.from(text.matchAll(word), ({ 0: found, index }) => ({ text: found, start: index, end: index + found.length }));
}
