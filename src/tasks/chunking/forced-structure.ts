/** Plain text with places where a chunk must end. */
import { type Separator, mergeBreaks, separatorPriority, textBreaks } from "./separators.ts";
import { type TextStructure, breakPriorities } from "./structure.ts";

/** `ends` are in order, in UTF-16 units. */
export function structureWithForcedBreaks(
  text: string,
  separators: readonly Separator[],
  ends: readonly number[],
): TextStructure {
  const forced = ends.map((position) => ({ position, rank: breakPriorities.forced }));
  return {
    marks: mergeBreaks(textBreaks(text, separators), forced),
    wordRank: separatorPriority(separators, "words"),
    blocks: [],
  };
}
