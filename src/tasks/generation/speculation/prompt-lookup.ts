/**
 * Prompt look-up (Saxena 2023, https://github.com/apoorvumang/prompt-lookup-decoding): if the last tokens of a text occurred before, the tokens that followed
 * are drafted again.
 */
import { at } from "../../../contract/checked.ts";
import type { Drafter } from "./speculation.ts";

/** Lengths of the ends of a text that are looked for, longest first. A single token occurs too often. */
const endLengths = [4, 3, 2] as const;

/** Drafts the tokens that followed an earlier occurrence of the last tokens of a text. */
export class PromptLookup implements Drafter {
  readonly longest: number;
  readonly #source: readonly number[];

  /** `source`: the encoder's tokens, which are searched too; empty for models without one. */
  constructor(longest: number, source: readonly number[]) {
    this.longest = longest;
    this.#source = source;
  }

  async draft(tokens: readonly number[], count: number): Promise<readonly number[]> {
    const text = [...this.#source, ...tokens];
    for (const length of endLengths) {
      const start = lastOccurrence(text, length);
      if (start !== undefined) return continued(text.slice(start + length), count);
    }
    return [];
  }
}

/** The first `count` of the tokens, and then from the first on again: a text that has begun to repeat itself goes on so. */
function continued(tokens: readonly number[], count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => at(tokens, index % tokens.length));
}

/** Where the last `length` tokens occurred before; undefined if nowhere. */
function lastOccurrence(tokens: readonly number[], length: number): number | undefined {
  const end = tokens.length - length;
  for (let start = end - 1; start >= 0; start -= 1) {
    let same = 0;
    while (same < length && tokens[start + same] === tokens[end + same]) same += 1;
    if (same === length) return start;
  }
  return undefined;
}
