/** Plain text with places where a chunk must end. */
import { type Separator, mergeMarks, separatorRank, textMarks } from "./separators.ts";
import { type Structure, ranks } from "./structure.ts";

/** `ends` are in order, in UTF-16 units. */
export function forcedStructure(text: string, separators: readonly Separator[], ends: readonly number[]): Structure {
  const forced = ends.map((position) => ({ position, rank: ranks.forced }));
  return {
    marks: mergeMarks(textMarks(text, separators), forced),
    wordRank: separatorRank(separators, "words"),
    blocks: [],
  };
}
