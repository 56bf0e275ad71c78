/** Break opportunities of plain text with additional forced breaks. */
import { mergeBreaks, separatorPriority, textBreaks } from "./separators.ts";
import type { Separator } from "../text-threads/chunked-text.ts";
import { type TextStructure, breakPriorities } from "./structure.ts";

/** The separators of a text, and forced breaks at `ends` (UTF-16 code units, ascending). */
export function structureWithForcedBreaks(
  text: string,
  separators: readonly Separator[],
  ends: readonly number[],
): TextStructure {
  const forced = ends.map((position) => ({ position, priority: breakPriorities.forced }));
  return {
    breaks: mergeBreaks(textBreaks(text, separators), forced),
    wordPriority: separatorPriority(separators, "words"),
    blocks: [],
  };
}
