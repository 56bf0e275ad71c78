/** A text cut into words, as GLiNER's models were trained on them. */

export interface Word {
  readonly text: string;
  /** Position in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Letters, digits and underscores in a row, also joined by hyphens; every other character but white space alone. */
const word = /[\p{L}\p{N}_]+(?:[-_][\p{L}\p{N}_]+)*|\S/gu;

export function splitWords(text: string): Word[] {
  return Array.from(text.matchAll(word), ({ 0: found, index }) => ({ text: found, start: index, end: index + found.length }));
}
