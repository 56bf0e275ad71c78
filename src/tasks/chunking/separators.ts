/** Break opportunities of plain text: starts of paragraphs, lines and sentences, with priorities in the caller's order. */
import type { Separator } from "../text-threads/chunked-text.ts";
import { boundaries } from "../../tokenizers/unicode/segmentation.ts";
import { type BreakOpportunity, breakPriorities } from "./structure.ts";

/** All separators, in the default order of preference. */
export const separatorNames: readonly Separator[] = ["paragraphs", "lines", "sentences", "words"];

/** Priority of a break at a separator; one that is not in the list has the priority of a word boundary without a space. */
export function separatorPriority(separators: readonly Separator[], name: Separator): number {
  const index = separators.indexOf(name);
  return index < 0 ? breakPriorities.segment : breakPriorities.separators + separators.length - 1 - index;
}

/** Starts of lines, paragraphs (lines after a blank line) and sentences, ascending. */
export function textBreaks(text: string, separators: readonly Separator[]): BreakOpportunity[] {
  const line = separatorPriority(separators, "lines");
  const paragraph = Math.max(line, separatorPriority(separators, "paragraphs"));
  const lines = lineStarts(text).map(({ position, blankBefore }) => ({ position, priority: blankBefore ? paragraph : line }));
  if (!separators.includes("sentences")) return lines;
  const sentence = separatorPriority(separators, "sentences");
  return mergeBreaks(
    lines,
    Array.from(boundaries(text, "sentence"), (position) => ({ position, priority: sentence })),
  );
}

/** The start of a line. */
export interface LineStart {
  /** UTF-16 code units from the start of the text. */
  readonly position: number;
  /** Whether the line before is blank. */
  readonly blankBefore: boolean;
}

/** All line starts except the one at 0. Lines are terminated by LF, CR LF or CR. */
export function lineStarts(text: string): LineStart[] {
  const starts: LineStart[] = [];
  let lineStart = 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
    const position = index + end.length;
    if (position < text.length) starts.push({ position, blankBefore: isBlank(text, lineStart, index) });
    lineStart = position;
  }
  return starts;
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let position = from; position < to; position += 1) {
    const unit = text.charCodeAt(position);
    if (unit !== 0x20 && unit !== 0x09) return false;
  }
  return true;
}

/** Merges two ascending lists. Of two breaks at one position the higher priority is kept. */
export function mergeBreaks(first: readonly BreakOpportunity[], second: readonly BreakOpportunity[]): BreakOpportunity[] {
  const merged: BreakOpportunity[] = [];
  let at = 0;
  const add = (opportunity: BreakOpportunity): void => {
    const last = merged.at(-1);
    if (last === undefined || last.position < opportunity.position) merged.push(opportunity);
    else if (last.priority < opportunity.priority) merged[merged.length - 1] = opportunity;
  };
  for (const opportunity of first) {
    for (let other = second[at]; other !== undefined && other.position <= opportunity.position; other = second[at]) {
      add(other);
      at += 1;
    }
    add(opportunity);
  }
  for (; at < second.length; at += 1) {
    const other = second[at];
    if (other !== undefined) add(other);
  }
  return merged;
}
