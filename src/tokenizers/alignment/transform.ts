/**
 * The Rust library's way to say how a text changes, by which it finds the alignment of what the Unicode forms and character maps
 * write: each new character comes with a number. 0: it replaces the next old character. Below 0: the same, and so many more old
 * characters go. Above 0: it is put in, and stands for whatever the old character before it stands for.
 */
import { type AlignedText, characterLength } from "./aligned-text.ts";
import type { Rewriter } from "./rewriter.ts";

export interface CharacterChange {
  readonly character: string;
  readonly change: number;
}

/** Writes the changed characters of units [from, to). */
export function transform(
  source: AlignedText,
  from: number,
  to: number,
  changed: Iterable<CharacterChange>,
  rewriter: Rewriter,
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
