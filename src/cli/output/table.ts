/** Tables of plain text. */

/**
 * Rows under an optional head, with two spaces before the first column and between columns. The last column is not padded. `notes`: a line below
 * a row, aligned with its last cell.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  head?: readonly string[],
  notes: readonly (string | undefined)[] = [],
): string {
  const all = head === undefined ? rows : [head, ...rows];
  const columns = Math.max(0, ...all.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_column, index) =>
    all.reduce((max, row) => Math.max(max, displayWidth(row[index] ?? "")), 0),
  );
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, index) => pad(cell, index === row.length - 1 ? 0 : (widths[index] ?? 0))).join("  ")}`.trimEnd();
  const indent = " ".repeat(2 + widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0));
  const body = rows.flatMap((row, index) => (notes[index] === undefined ? [line(row)] : [line(row), `${indent}${notes[index]}`]));
  return [...(head === undefined ? [] : [line(head)]), ...body].join("\n");
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - displayWidth(cell)));
}

/** Number of terminal columns of the text: two for East Asian characters and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length; // most texts: making a segmenter takes milliseconds
  let width = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    width +=
      /\p{Extended_Pictographic}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u.test(
        segment,
      )
        ? 2
        : 1;
  }
  return width;
}

/** UTF-16 units of a text examined per column, since the time of Intl.Segmenter in Node.js 20 is quadratic in the length. */
const unitsPerColumn = 32;

/** Characters that control the terminal or change the direction of writing. */
const steering = /[\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Untrusted text made safe to print: on one line, without control characters, shortened to `width` columns. */
export function printable(text: string, width = 60): string {
  const most = width * unitsPerColumn;
  const line = text.slice(0, most).replaceAll(/\s+/g, " ").replaceAll(steering, "?");
  if (text.length <= most && displayWidth(line) <= width) return line;
  let kept = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(line)) {
    if (displayWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
