/** Characters and kinds of characters in a regular expression, by the names Oniguruma has for them. */

/** White_Space, for use inside brackets. JavaScript's \s has U+FEFF besides and lacks U+0085. */
const space = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const notSpace =
  "\\u0000-\\u0008\\u000e-\\u001f\\u0021-\\u0084\\u0086-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\u{10ffff}";
const wordInClass = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
/** Outside brackets, and only there, Oniguruma takes six signs that are numbers for characters of words. */
const word = `${wordInClass}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be`;

/** Escapes that stand for a kind of character, outside brackets: sets of JavaScript. */
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

/** Any character, characters of words, and those that end a line. */
export const anyCharacter = "[^]";
export const wordCharacter: string = `[${word}]`;
export const lineEnd = "[\\n-\\r\\u0085\\u2028\\u2029]";

/** The same inside brackets, as far as they have a meaning there. */
export const inClass: ReadonlyMap<string, string> = new Map([
  ["d", "\\p{Nd}"],
  ["D", "\\P{Nd}"],
  ["s", space],
  ["S", notSpace],
  ["w", wordInClass],
  ["h", "0-9A-Fa-f"],
]);

/** Those that can only be a set within the set. */
export const setsInClass: ReadonlyMap<string, string> = new Map([
  ["W", `[^${wordInClass}]`],
  ["H", "[^0-9A-Fa-f]"],
]);

/** [:alpha:] and the like. */
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

/** Reads p{...} or P{...}, which follows a backslash. */
export function categoryOf(rest: string): { readonly inClass: string; readonly length: number } | undefined {
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
  throw new Error(`the regular expression names the characters \\p{${name}}, which are not known`);
}

/** Reads what follows a backslash and stands for one character. */
export function escapedPoint(rest: string): { readonly point: number; readonly length: number } | undefined {
  const hex = /^(?:x\{([\dA-Fa-f]{1,6})\}|x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4}))/.exec(rest);
  if (hex !== null) return { point: Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "0", 16), length: hex[0].length };
  const first = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  const control = controls.get(first);
  if (control !== undefined) return { point: control, length: 1 };
  if (rest === "" || /[\dA-Za-z]/.test(first)) return undefined;
  return { point: first.codePointAt(0) ?? 0, length: first.length };
}

/** A character that stands for itself, inside brackets and outside. */
export function literal(point: number): string {
  const character = String.fromCodePoint(point);
  return /[\dA-Za-z ]/.test(character) ? character : `\\u{${point.toString(16)}}`;
}

/** A character in all its cases. */
export function insensitive(point: number): string {
  const cases = casesOf(point);
  return cases.length === 1 ? literal(point) : `[${cases.map(literal).join("")}]`;
}

/** The two signs besides k and s that are k and s in another case. */
const alsoCases: ReadonlyMap<string, string> = new Map([
  ["k", "\u212a"],
  ["s", "\u017f"],
]);

export function casesOf(point: number): readonly number[] {
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
