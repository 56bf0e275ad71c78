/** Delimiters in a text that arrives in parts. */

/** A delimiter, and where it begins. */
export interface FoundDelimiter {
  readonly start: number;
  readonly delimiter: string;
}

/** The delimiter that ends first; if several end at the same place, the longest. Undefined if there is none. */
export function findDelimiter(text: string, delimiters: readonly string[]): FoundDelimiter | undefined {
  let found: FoundDelimiter | undefined;
  for (const delimiter of delimiters) {
    const start = text.indexOf(delimiter);
    if (start === -1) continue;
    const later = found === undefined ? -1 : start + delimiter.length - (found.start + found.delimiter.length);
    if (found === undefined || later < 0 || (later === 0 && start < found.start)) found = { start, delimiter };
  }
  return found;
}

/** Length of the longest end of a text that begins a delimiter and is none itself. */
export function getHeldLength(text: string, delimiters: readonly string[]): number {
  const longest = Math.max(0, ...delimiters.map(({ length }) => length));
  for (let length = Math.min(text.length, longest - 1); length > 0; length -= 1) {
    const end = text.slice(text.length - length);
    if (delimiters.some((delimiter) => delimiter.startsWith(end))) return length;
  }
  return 0;
}
