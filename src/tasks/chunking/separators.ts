/** The marks of plain text: paragraphs, lines and sentences, in the order the caller prefers. */
import { boundaries } from "../../tokenizers/unicode/segmentation.ts";
import { type BreakOpportunity, breakPriorities } from "./structure.ts";

export type Separator = "paragraphs" | "lines" | "sentences" | "words";

/** The default order, too. */
export const separatorNames: readonly Separator[] = ["paragraphs", "lines", "sentences", "words"];

/** The rank of a cut at this separator; one that was not asked for is no better than a cut between words that no space parts. */
export function separatorPriority(separators: readonly Separator[], name: Separator): number {
  const place = separators.indexOf(name);
  return place < 0 ? breakPriorities.segment : breakPriorities.separators + separators.length - 1 - place;
}

/** Line starts, paragraph starts (after a blank line) and sentence starts. */
export function textBreaks(text: string, separators: readonly Separator[]): BreakOpportunity[] {
  const line = separatorPriority(separators, "lines");
  const paragraph = Math.max(line, separatorPriority(separators, "paragraphs"));
  const lines = lineStarts(text).map(({ position, blankBefore }) => ({ position, rank: blankBefore ? paragraph : line }));
  if (!separators.includes("sentences")) return lines;
  const sentence = separatorPriority(separators, "sentences");
  return mergeBreaks(
    lines,
    Array.from(boundaries(text, "sentence"), (position) => ({ position, rank: sentence })),
  );
}

export interface LineStart {
  readonly position: number;
  /** Whether the line before is blank. */
  readonly blankBefore: boolean;
}

/** Every line start but that at 0. Lines end at LF, CR LF or CR; the start after the last of several blank lines counts as after one. */
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

/** Two lists of marks in order as one; where both have a position, the higher rank stays. */
export function mergeBreaks(first: readonly BreakOpportunity[], second: readonly BreakOpportunity[]): BreakOpportunity[] {
  const merged: BreakOpportunity[] = [];
  let at = 0;
  const add = (mark: BreakOpportunity): void => {
    const last = merged.at(-1);
    if (last === undefined || last.position < mark.position) merged.push(mark);
    else if (last.rank < mark.rank) merged[merged.length - 1] = mark;
  };
  for (const mark of first) {
    for (let other = second[at]; other !== undefined && other.position <= mark.position; other = second[at]) {
      add(other);
      at += 1;
    }
    add(mark);
  }
  for (; at < second.length; at += 1) {
    const other = second[at];
    if (other !== undefined) add(other);
  }
  return merged;
}
