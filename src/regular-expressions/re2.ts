/**
 * Regular expressions in RE2's syntax (https://github.com/google/re2/wiki/Syntax), for matches of whole texts. They are written in Oniguruma's syntax, so that the
 * parser and the automaton of this folder serve both. Groups do not capture, since only whole matches are of interest.
 */
import { getMessage } from "../contract/errors.ts";
import { compileRegex } from "./automaton.ts";
import { parseRegex, quoted } from "./parse.ts";
import { RegexSearch } from "./search.ts";
import { type RegexNode, toStarNormalForm } from "./syntax.ts";

/** Maximum count of a repeat, as in RE2. */
const maxRepeats = 1000;
/** Maximum number of states with repeats expanded. */
const maxStates = 20_000;

const atEnd = parseRegex(String.raw`\z`);

/** Returns a function that tests whether a whole text matches. Throws Error if the pattern is invalid in RE2 or not supported. */
export function fullMatcher(pattern: string): (text: string) => boolean {
  try {
    const node: RegexNode = { kind: "sequence", parts: [parseRegex(new Translator(pattern).whole()), atEnd] };
    const search = new RegexSearch(compileRegex(toStarNormalForm(node), maxStates));
    return (text) => search.matchesStart(text);
  } catch (error) {
    throw new Error(`the pattern ${quoted(pattern)} is refused: ${getMessage(error)}`, { cause: error });
  }
}

/** What the flags of a group say: i is left to Oniguruma, s and m decide what is written for `.`, `^` and `$`. */
interface Flags {
  readonly ignoresCase: boolean;
  readonly dotAll: boolean;
  readonly lines: boolean;
}

/** RE2's classes, which are of ASCII alone, as members of a set. */
const classes: Readonly<Record<string, string>> = { d: "0-9", w: "0-9A-Za-z_", s: String.raw`\t\n\f\r\x20` };
const posixClasses: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: String.raw`\x00-\x7f`,
  blank: String.raw`\t\x20`,
  cntrl: String.raw`\x00-\x1f\x7f`,
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: String.raw`\x20-~`,
  punct: String.raw`!-/:-@\[-\x60{-~`,
  space: String.raw`\t\n\v\f\r\x20`,
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
const word = "[0-9A-Za-z_]";
const atWordStart = `(?<!${word})(?=${word})`;
const atWordEnd = `(?<=${word})(?!${word})`;
const assertions: Readonly<Record<string, string>> = {
  A: String.raw`\A`,
  z: String.raw`\z`,
  b: `(?:${atWordStart}|${atWordEnd})`,
  B: `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`,
};

/** Writes a pattern of RE2 in Oniguruma's syntax. */
class Translator {
  readonly #pattern: string;
  #at = 0;
  #flags: Flags = { ignoresCase: false, dotAll: false, lines: false };
  /** The flags outside of each open group. */
  readonly #outside: Flags[] = [];
  /** Whether a quantifier may follow. */
  #mayRepeat = false;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  whole(): string {
    let written = "";
    while (this.#at < this.#pattern.length) written += this.#part();
    if (this.#outside.length > 0) throw new Error("it has a group without its )");
    return written;
  }

  #part(): string {
    const quote = this.#match(/\\Q([^]*?)(?:\\E|$)/y)?.[1];
    if (quote !== undefined) {
      this.#mayRepeat = quote !== "";
      return Array.from(quote, (character) => literal(character.codePointAt(0) ?? 0)).join("");
    }
    const quantifier = this.#match(/(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/y);
    if (quantifier !== undefined) return this.#quantifier(quantifier);
    this.#mayRepeat = true;
    const point = this.#next();
    switch (String.fromCodePoint(point)) {
      case "(":
        return this.#group();
      case ")":
        this.#flags = this.#outside.pop() ?? fail("it has an unmatched )");
        return ")";
      case "|":
        this.#mayRepeat = false;
        return "|";
      case "[":
        return this.#set();
      case ".":
        return this.#flags.dotAll ? String.raw`[\s\S]` : ".";
      case "^":
        return this.#flags.lines ? "^" : String.raw`\A`;
      case "$":
        return this.#flags.lines ? "$" : String.raw`\z`;
      case "\\": {
        const assertion = this.#match(/[AzbB]/y)?.[0];
        if (assertion !== undefined) return assertions[assertion] ?? "";
        const escape = this.#escape();
        return typeof escape === "number" ? literal(escape) : `[${escape}]`;
      }
      default:
        return literal(point);
    }
  }

  #quantifier([written, min, max]: RegExpExecArray): string {
    if (!this.#mayRepeat) fail(`it has the quantifier ${written} without an operand, or behind another one`);
    this.#mayRepeat = false;
    const counts = [min, max === "" ? undefined : max].flatMap((count) => (count === undefined ? [] : [Number(count)]));
    const [from = 0, to = from] = counts;
    if (to < from || Math.max(0, ...counts) > maxRepeats) fail(`it has the invalid count ${written}`);
    return written;
  }

  /** The opening of a group, or the flags that hold from here to the end of the group around. */
  #group(): string {
    const outside = this.#flags;
    const found = this.#match(/\?(?:P?<\w*>|([imsU]*)(?:-([imsU]*))?([:)]))/y);
    if (found === undefined && this.#pattern[this.#at] === "?") fail("it has a group of an unknown kind");
    const [, on = "", off = "", end = ":"] = found ?? [];
    const flag = (letter: string, before: boolean): boolean => !off.includes(letter) && (before || on.includes(letter));
    this.#flags = {
      ignoresCase: flag("i", outside.ignoresCase),
      dotAll: flag("s", outside.dotAll),
      lines: flag("m", outside.lines),
    };
    const { ignoresCase } = this.#flags;
    const change = ignoresCase === outside.ignoresCase ? "" : ignoresCase ? "i" : "-i";
    this.#mayRepeat = false;
    if (end === ")") return change === "" ? "" : `(?${change})`;
    this.#outside.push(outside);
    return `(?${change}:`;
  }

  /** An escape that sets have too: a code point, or members of a set. */
  #escape(): number | string {
    const [, braced, two, octal] = this.#match(/x\{([\dA-Fa-f]{1,6})\}|x([\dA-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{2})/y) ?? [];
    if (octal !== undefined) return Number.parseInt(octal, 8);
    const hexadecimal = braced ?? two;
    if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16);
    const [, property, caret = "", name, letter] = this.#match(/([pP])(?:\{(\^?)([A-Za-z_]+)\}|([A-Za-z]))/y) ?? [];
    if (property !== undefined) return `\\${property}{${caret}${name ?? letter ?? ""}}`;
    const point = this.#next();
    const escaped = String.fromCodePoint(point);
    const members = classes[escaped.toLowerCase()];
    if (members !== undefined) return escaped === escaped.toLowerCase() ? members : `[^${members}]`;
    if (!/[\dA-Za-z]/.test(escaped)) return point;
    return controls[escaped] ?? fail(`it has the escape \\${escaped}, which is not supported`);
  }

  #set(): string {
    let members = this.#match(/\^/y)?.[0] ?? "";
    for (let isFirst = true; isFirst || this.#match(/\]/y) === undefined; isFirst = false) {
      const [all, caret, posix = ""] = this.#match(/\[:(\^?)([a-z]*):\]/y) ?? [];
      if (all !== undefined) {
        const named = Object.hasOwn(posixClasses, posix) ? posixClasses[posix] : fail(`it has the unknown class ${all}`);
        members += caret === "" ? (named ?? "") : `[^${named ?? ""}]`;
        continue;
      }
      const from = this.#member();
      const to = this.#match(/-(?!\]|$)/y) === undefined ? from : this.#member();
      if (typeof from === "string" && to === from) members += from;
      else if (typeof from === "string" || typeof to === "string" || to < from) fail("it has an invalid range");
      else members += to === from ? literal(from) : `${literal(from)}-${literal(to)}`;
    }
    return `[${members}]`;
  }

  #member(): number | string {
    const point = this.#next();
    return point === 0x5c ? this.#escape() : point;
  }

  #next(): number {
    const point = this.#pattern.codePointAt(this.#at) ?? fail("it ends too early");
    this.#at += point > 0xffff ? 2 : 1;
    return point;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** A code point in Oniguruma's syntax, in and out of sets. */
function literal(point: number): string {
  const character = String.fromCodePoint(point);
  return /[!-/:-@[-^`{-~]/.test(character) ? `\\${character}` : character;
}

function fail(problem: string): never {
  throw new Error(problem);
}
