/**
 * `NormalizedString::transform` of the Rust library: applies a list of characters, each with a change. 0: the character replaces the next one of
 * the source. -n: it replaces the next one, and n more are removed. Above 0: it is inserted, aligned to the character of the source before it.
 */
import { type AlignedText, characterLength } from "./aligned-text.ts";
import type { AlignedRewriter } from "./rewriter.ts";

/** A character that a normalizer writes, and how it relates to the characters of the source. */
export interface CharacterChange {
  readonly character: string;
  readonly change: number;
}

/** Writes the characters `changed` to `rewriter` as the replacement of the UTF-16 code units [from, to) of the source. */
export function transform(
  source: AlignedText,
  from: number,
  to: number,
  changed: Iterable<CharacterChange>,
  rewriter: AlignedRewriter,
): void {
  const { text } = source;
  let unit = from;
  for (const { character, change } of changed) {
    if (change > 0 || unit >= to) {
      rewriter.insert(character, unit);
      continue;
    }
    const next = unit + characterLength(text, unit);
    rewriter.replace(character, unit, next);
    unit = next;
    for (let removed = change; removed < 0 && unit < to; removed++) unit += characterLength(text, unit);
  }
}
