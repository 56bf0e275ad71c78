/** Oniguruma's character sets and escapes, translated to JavaScript regular expressions. */

/** White_Space, for use inside brackets. JavaScript's \s also has U+FEFF and lacks U+0085. */
const space = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const notSpace =
  "\\u0000-\\u0008\\u000e-\\u001f\\u0021-\\u0084\\u0086-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\u{10ffff}";
const wordInClass = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
/** Oniguruma's \w outside brackets, where it also has the numeric signs ²³¹¼½¾. */
const word = `${wordInClass}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be`;

/** Shorthand escapes (\d, \s, \w, ...) outside brackets, as JavaScript sets. */
export const shorthands: ReadonlyMap<string, string> = new Map([
  ["d", "\\p{Nd}"],
  ["D", "\\P{Nd}"],
  ["s", `[${space}]`],
  ["S", `[^${space}]`],
  ["w", `[${word}]`],
  ["W", `[^${word}]`],
  ["h", "[0-9A-Fa-f]"],
  ["H", "[^0-9A-Fa-f]"],
]);

/** Any character, including line terminators. */
export const anyCharacter = "[^]";
/** The character set of \w, as a JavaScript regular expression. */
export const wordCharacter: string = `[${word}]`;
/** The single-character line terminators that \R matches. */
export const lineEnd = "[\\n-\\r\\u0085\\u2028\\u2029]";

/** Shorthand escapes inside brackets (\d, \s, \w, ...), as the members of a JavaScript set. */
export const inClass: ReadonlyMap<string, string> = new Map([
  ["d", "\\p{Nd}"],
  ["D", "\\P{Nd}"],
  ["s", space],
  ["S", notSpace],
  ["w", wordInClass],
  ["h", "0-9A-Fa-f"],
]);

/** Negated shorthand escapes inside brackets (\D, \S, \W, ...), which need a nested JavaScript set. */
export const setsInClass: ReadonlyMap<string, string> = new Map([
  ["W", `[^${wordInClass}]`],
  ["H", "[^0-9A-Fa-f]"],
]);

/** POSIX brackets ([:alpha:], ...), as the members of a JavaScript set. */
export const posixClasses: ReadonlyMap<string, string> = new Map([
  ["alnum", "\\p{Alphabetic}\\p{Nd}"],
  ["alpha", "\\p{Alphabetic}"],
  ["ascii", "\\u0000-\\u007f"],
  ["digit", "\\p{Nd}"],
  ["lower", "\\p{Lowercase}"],
  ["punct", "\\p{P}\\p{S}"],
  ["space", space],
  ["upper", "\\p{Uppercase}"],
  ["word", wordInClass],
  ["xdigit", "0-9A-Fa-f"],
]);

const controls: ReadonlyMap<string, number> = new Map([
  ["n", 10],
  ["r", 13],
  ["t", 9],
  ["f", 12],
  ["v", 11],
  ["a", 7],
  ["e", 27],
  ["0", 0],
]);

/**
 * Parses a Unicode property escape, p{...} or P{...}; `rest` begins after its backslash. Returns undefined if `rest` is no such escape. Throws Error for an
 * unknown property.
 */
export function getCategory(rest: string): { readonly inClass: string; readonly length: number } | undefined {
  const found = /^([pP])\{(\^?)([\w ]+)\}/.exec(rest);
  if (found === null) return undefined;
  const [all, letter, caret, name = ""] = found;
  const negated = (letter === "P") !== (caret === "^");
  const posix = posixClasses.get(name.toLowerCase());
  if (posix !== undefined && !negated) return { inClass: posix, length: all.length };
  for (const property of [name, `Script=${name}`]) {
    const pattern = `\\${negated ? "P" : "p"}{${property}}`;
    if (isPattern(pattern)) return { inClass: pattern, length: all.length };
  }
  throw new Error(`the regular expression has the unknown character property \\p{${name}}`);
}

/**
 * Parses an escape of a single character (\n, \x41, ...); `rest` begins after its backslash. Returns undefined if `rest` is no such escape.
 */
export function escapedPoint(rest: string): { readonly point: number; readonly length: number } | undefined {
  const hex = /^(?:x\{([\dA-Fa-f]{1,6})\}|x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4}))/.exec(rest);
  if (hex !== null) return { point: Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "0", 16), length: hex[0].length };
  const first = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  const control = controls.get(first);
  if (control !== undefined) return { point: control, length: 1 };
  if (rest === "" || /[\dA-Za-z]/.test(first)) return undefined;
  return { point: first.codePointAt(0) ?? 0, length: first.length };
}

/** A code point as a literal in a JavaScript regular expression, valid inside and outside brackets. */
export function literal(point: number): string {
  const character = String.fromCodePoint(point);
  return /[\dA-Za-z ]/.test(character) ? character : `\\u{${point.toString(16)}}`;
}

/** A JavaScript regular expression that matches a code point in upper and lower case. */
export function insensitive(point: number): string {
  const cases = getCases(point);
  return cases.length === 1 ? literal(point) : `[${cases.map(literal).join("")}]`;
}

/** Kelvin sign and long s, which case-fold to k and s. */
const alsoCases: ReadonlyMap<string, string> = new Map([
  ["k", "\u212a"],
  ["s", "\u017f"],
]);

/** The code points that are equal to a code point when case is ignored, itself included. */
export function getCases(point: number): readonly number[] {
  const character = String.fromCodePoint(point);
  const lower = character.toLowerCase();
  const cases = [character, lower, character.toUpperCase(), alsoCases.get(lower) ?? character];
  return [...new Set(cases.filter((one) => Array.from(one).length === 1).map((one) => one.codePointAt(0) ?? point))];
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").source !== "";
  } catch {
    return false;
  }
}
