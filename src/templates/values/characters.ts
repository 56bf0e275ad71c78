/** Classes of characters as Python has them. */

/** White space of `str.isspace`, `str.strip` and `\s`, as the inside of a character class. */
export const spaceClass = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const space = new RegExp(`[${spaceClass}]`);

/** Whether a character, a UTF-16 unit, is white space. */
export function isSpace(character: string): boolean {
  return character === " " || character === "\n" || space.test(character);
}

/** Index of the first character that is not white space, at or after `from`. */
export function skipSpace(text: string, from = 0): number {
  let at = from;
  while (at < text.length && isSpace(text.charAt(at))) at += 1;
  return at;
}

/** Index after the last character before `to` that is not white space. */
export function skipSpaceBack(text: string, to: number = text.length): number {
  let at = to;
  while (at > 0 && isSpace(text.charAt(at - 1))) at -= 1;
  return at;
}
