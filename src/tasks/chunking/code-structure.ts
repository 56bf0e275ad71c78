/** The structure of source code of any language, by its brackets, its indentation and its blank lines. */
import { lineStarts } from "./separators.ts";
import { type BreakOpportunity, type TextStructure, breakPriorities } from "./structure.ts";

/** A line is a gladder cut the less deep it lies. Above all separators: at a depth of 0. */
const outermost = 1000;
const deepest = outermost - breakPriorities.heading;
/** A bracket counts like so many columns of indentation. */
const bracketColumns = 4;
const tabColumns = 4;

/**
 * Brackets are counted wherever they stand, in strings and comments too: no language is known here. Only the depths of neighbouring
 * lines are compared, so that a bracket without its other half does no harm beyond where it stands.
 */
export function codeStructure(text: string): TextStructure {
  const marks: BreakOpportunity[] = [];
  const units: number[] = [0];
  let depth = 0;
  let counted = 0;
  for (const { position, blankBefore } of lineStarts(text)) {
    depth = depthAfter(text, counted, position, depth);
    counted = position;
    const line = indentation(text, position);
    if (line.blank) continue;
    const isClosing = line.first === "}" || line.first === ")" || line.first === "]";
    const cost = Math.min(deepest, depth * bracketColumns + line.columns);
    marks.push({ position, rank: outermost - cost + (blankBefore ? 0.5 : 0) });
    if (cost === 0 && blankBefore && !isClosing) units.push(position);
  }
  const blocks = units.map((start, index) => [start, units[index + 1] ?? text.length] as const);
  return { marks, wordRank: breakPriorities.separators, blocks };
}

function depthAfter(text: string, from: number, to: number, before: number): number {
  let depth = before;
  for (let position = from; position < to; position += 1) {
    const character = text[position];
    if (character === "{" || character === "(" || character === "[") depth += 1;
    else if ((character === "}" || character === ")" || character === "]") && depth > 0) depth -= 1;
  }
  return depth;
}

function indentation(text: string, start: number): { columns: number; blank: boolean; first: string } {
  let columns = 0;
  let position = start;
  for (; text[position] === " " || text[position] === "\t"; position += 1) columns += text[position] === "\t" ? tabColumns : 1;
  const first = text[position] ?? "";
  return { columns, first, blank: first === "" || first === "\n" || first === "\r" };
}
