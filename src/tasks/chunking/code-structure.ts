/** Break opportunities of source code in any language, from brackets, indentation and blank lines. */
import { lineStarts } from "./separators.ts";
import { type BreakOpportunity, type TextStructure, breakPriorities } from "./structure.ts";

/** Priority of a break before a line at nesting depth 0; it falls with the depth, but stays above all separators. */
const outermost = 1000;
const deepest = outermost - breakPriorities.heading;
/** Columns of indentation that one level of brackets counts as. */
const bracketColumns = 4;
const tabColumns = 4;

/**
 * Every line start is a break opportunity, with a higher priority the less it is nested. Top-level units separated by blank lines are blocks.
 * Brackets in strings and comments are counted too, since no grammar is known; only depths of nearby lines are compared, so that an unbalanced
 * bracket has a local effect.
 */
export function codeStructure(text: string): TextStructure {
  const breaks: BreakOpportunity[] = [];
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
    breaks.push({ position, priority: outermost - cost + (blankBefore ? 0.5 : 0) });
    if (cost === 0 && blankBefore && !isClosing) units.push(position);
  }
  const blocks = units.map((start, index) => [start, units[index + 1] ?? text.length] as const);
  return { breaks, wordPriority: breakPriorities.separators, blocks };
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
