/** Break opportunities of Markdown: headings have the highest priority; fenced code, lists and tables are blocks, kept whole if they fit. */
import { lineStarts, mergeBreaks, separatorPriority, textBreaks } from "./separators.ts";
import type { Separator } from "../text-threads/chunked-text.ts";
import { type BreakOpportunity, type TextStructure, breakPriorities } from "./structure.ts";

interface Line {
  readonly start: number;
  readonly end: number;
  /** Without the line terminator. */
  readonly content: string;
}

const fenceStart = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const underline = /^ {0,3}(?:(=+)|-+)[ \t]*$/;
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const tableCellRule = /^[ \t]*:?-+:?[ \t]*$/;

/** Finds headings (ATX and setext), fenced code, lists and tables of a Markdown text. Never fails: anything else is plain text. */
export function markdownStructure(text: string, separators: readonly Separator[]): TextStructure {
  const lines = getLines(text);
  const headings: BreakOpportunity[] = [];
  const blocks: (readonly [number, number])[] = [];
  const getEnd = (line: number): number => lines[line]?.end ?? text.length;
  let index = 0;
  let listEnd = 0;
  while (index < lines.length) {
    const line = lines[index];
    if (line === undefined) break;
    if (index >= listEnd && listItem.test(line.content) && !fenceStart.test(line.content)) {
      listEnd = endOfList(lines, index);
      blocks.push([line.start, getEnd(listEnd - 1)]);
    }
    const fence = fenceStart.exec(line.content)?.[1];
    if (fence !== undefined) {
      const after = endOfFence(lines, index + 1, fence);
      blocks.push([line.start, getEnd(after - 1)]);
      index = after;
      continue;
    }
    const level = headingLevel(lines, index);
    if (level !== undefined) {
      headings.push({ position: line.start, priority: breakPriorities.heading + 6 - level });
      const content = firstContent(lines, index + (heading.test(line.content) ? 1 : 2));
      // The block includes the first character of the content, so that a heading is not separated from it.
      blocks.push([line.start, Math.min((lines[content]?.start ?? text.length) + 1, text.length)]);
    } else if (line.content.includes("|") && isTableRule(lines[index + 1])) {
      const after = endOfTable(lines, index + 2);
      blocks.push([line.start, getEnd(after - 1)]);
      index = after;
      continue;
    }
    index += 1;
  }
  return {
    breaks: mergeBreaks(textBreaks(text, separators), headings),
    wordPriority: separatorPriority(separators, "words"),
    blocks,
  };
}

function getLines(text: string): Line[] {
  const starts = [0, ...lineStarts(text).map(({ position }) => position)];
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? text.length;
    return { start, end, content: text.slice(start, end).replace(/[\r\n]+$/, "") };
  });
}

function headingLevel(lines: readonly Line[], index: number): number | undefined {
  const content = lines[index]?.content ?? "";
  const marks = heading.exec(content)?.[1];
  if (marks !== undefined) return marks.length;
  // Setext heading: a paragraph of one line, underlined with = or -.
  const alone = content.trim() !== "" && (lines[index - 1]?.content ?? "").trim() === "" && !listItem.test(content);
  const under = alone && !content.includes("|") ? underline.exec(lines[index + 1]?.content ?? "") : null;
  if (under === null) return undefined;
  return under[1] === undefined ? 2 : 1;
}

function firstContent(lines: readonly Line[], from: number): number {
  let index = from;
  while (index < lines.length && lines[index]?.content.trim() === "") index += 1;
  return index;
}

/** The line after a fenced code block; an unclosed fence extends to the end of the text. */
function endOfFence(lines: readonly Line[], from: number, fence: string): number {
  for (let index = from; index < lines.length; index += 1) {
    if (closes(lines[index]?.content ?? "", fence)) return index + 1;
  }
  return lines.length;
}

function closes(content: string, fence: string): boolean {
  const closing = content.replace(/^[\s>]+/, "").trimEnd();
  return closing.length >= fence.length && closing === fence.charAt(0).repeat(closing.length);
}

/** The line after a list. A list ends at a heading, or at a line after a blank one that is neither an item nor indented. */
function endOfList(lines: readonly Line[], first: number): number {
  let fence: string | undefined;
  for (let index = first + 1; index < lines.length; index += 1) {
    const content = lines[index]?.content ?? "";
    if (fence !== undefined) {
      if (closes(content, fence)) fence = undefined;
      continue;
    }
    fence = fenceStart.exec(content)?.[1];
    const isAfterBlank = (lines[index - 1]?.content ?? "").trim() === "";
    const continues = content.trim() === "" || listItem.test(content) || /^\s/.test(content);
    if (heading.test(content) || (isAfterBlank && !continues)) return index;
  }
  return lines.length;
}

function isTableRule(line: Line | undefined): boolean {
  if (line === undefined || !line.content.includes("|")) return false;
  // Matched per cell: one regular expression for the whole line takes quadratic time.
  const cells = line.content
    .replace(/^[\s>]+/, "")
    .replace(/^\|/, "")
    .split("|");
  if (cells.length > 1 && cells.at(-1)?.trim() === "") cells.pop();
  return cells.every((cell) => tableCellRule.test(cell));
}

function endOfTable(lines: readonly Line[], from: number): number {
  let index = from;
  while (lines[index]?.content.includes("|") === true) index += 1;
  return index;
}
