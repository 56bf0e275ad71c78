/** Letter case and lines of texts, as Python has them. */

/** capitalize(): the first character in title case, the others in lower case. */
export function capitalize(text: string): string {
  const [first = ""] = text;
  return titleLetter(first) + text.slice(first.length).toLowerCase();
}

function titleLetter(letter: string): string {
  const upper = letter.toUpperCase();
  // "ß" becomes "Ss", and "ǆ" the one letter "ǅ".
  if (/^[ǄǅǆǇǈǉǊǋǌǱǲǳ]$/.test(letter))
    return String.fromCodePoint(0x1_c4 + 3 * Math.floor(((letter.codePointAt(0) ?? 0) - 0x1_c4) / 3) + 1);
  return upper.length > letter.length ? upper.charAt(0) + upper.slice(1).toLowerCase() : upper;
}

/** title(): each letter that no letter precedes in title case, the others in lower case. */
export function titleCase(text: string): string {
  return text.replaceAll(/[\p{L}\p{M}]+/gu, (word) => capitalize(word));
}

/** swapcase() */
export function swapCase(text: string): string {
  return text.replaceAll(/\p{L}/gu, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));
}

/** Whether a text has a letter of upper or lower case. */
export function isCased(text: string): boolean {
  return /[\p{Lu}\p{Ll}\p{Lt}]/u.test(text);
}

// oxlint-disable-next-line no-control-regex -- Python ends lines at separators of ASCII too
const lineEnd = /\r\n|[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/g;

/** splitlines() */
export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = [];
  let from = 0;
  for (const { 0: end, index } of text.matchAll(lineEnd)) {
    lines.push(text.slice(from, keepEnds ? index + end.length : index));
    from = index + end.length;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
}
