/**
 * Regular expressions of tokenizer.json, which are written for Oniguruma (https://github.com/kkos/oniguruma, doc/RE), as JavaScript's.
 * What JavaScript lacks is written otherwise (possessive quantifiers, atomic groups, ignoring case in a part); what cannot be is refused.
 */
import { RegexClass } from "./regex-class.ts";
import { categoryOf, escapedPoint, insensitive, literal, shorthands } from "./regex-characters.ts";

/** With the flags g and u, or v where classes are intersected. Throws Error. */
export function translateRegex(source: string): RegExp {
  const translation = new Translation(source);
  const pattern = translation.whole();
  try {
    return new RegExp(pattern, translation.needsSets ? "gv" : "gu");
  } catch (error) {
    throw new Error(`the regular expression ${JSON.stringify(source)} is not understood`, { cause: error });
  }
}

/** What groups may open with, and what they are in JavaScript. */
const groupOpenings: readonly (readonly [oniguruma: string, javascript: string])[] = [
  ["?:", "(?:"],
  ["?=", "(?="],
  ["?!", "(?!"],
  ["?<=", "(?<="],
  ["?<!", "(?<!"],
];

class Translation {
  needsSets = false;
  readonly #source: string;
  #at = 0;
  #ignoreCase = false;
  #atomic = 0;

  constructor(source: string) {
    this.#source = source;
  }

  whole(): string {
    const pattern = this.#alternatives();
    if (this.#at < this.#source.length) throw this.#refused("an unmatched )");
    return pattern;
  }

  /** Up to the closing parenthesis or the end. */
  #alternatives(): string {
    const outside = this.#ignoreCase;
    let result = "";
    while (this.#at < this.#source.length && this.#source[this.#at] !== ")") {
      if (this.#source[this.#at] === "|") {
        this.#at++;
        result += "|";
      } else result += this.#quantified(this.#atom());
    }
    this.#ignoreCase = outside;
    return result;
  }

  #quantified(atom: string): string {
    let result = atom;
    for (;;) {
      const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})/.exec(this.#source.slice(this.#at, this.#at + 16))?.[0];
      if (quantifier === undefined) return result;
      this.#at += quantifier.length;
      result = `${result === atom ? atom : `(?:${result})`}${quantifier.replace("{,", "{0,")}`;
      const mode = this.#source[this.#at];
      if (mode === "?") {
        this.#at++;
        result += "?";
      } else if (mode === "+" && !quantifier.startsWith("{")) {
        this.#at++;
        result = this.#withoutReturn(result);
      }
    }
  }

  /** Takes the first way a part matches and never another: what a lookahead found is fixed once it is left. */
  #withoutReturn(pattern: string): string {
    const name = `a${this.#atomic++}`;
    return `(?:(?=(?<${name}>${pattern}))\\k<${name}>)`;
  }

  #atom(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    switch (character) {
      case "(":
        return this.#group();
      case "[": {
        const set = new RegexClass(this.#source, this.#at, this.#ignoreCase);
        this.#at = set.end;
        this.needsSets ||= set.needsSets;
        return set.pattern;
      }
      case "\\":
        return this.#escape();
      case ".":
        return "[^\\n]";
      // Lines, not the whole text: Ruby's way, which the Rust library sets.
      case "^":
        return "(?<![^\\n])";
      case "$":
        return "(?![^\\n])";
      default:
        return this.#character(character.codePointAt(0) ?? 0);
    }
  }

  #character(point: number): string {
    return this.#ignoreCase ? insensitive(point) : literal(point);
  }

  #group(): string {
    const rest = this.#source.slice(this.#at);
    if (rest.startsWith("?#")) {
      const end = this.#source.indexOf(")", this.#at);
      this.#at = end < 0 ? this.#source.length : end + 1;
      return "";
    }
    const options = /^\?(-?i|i-?)([:)])/.exec(rest);
    if (options !== null) {
      this.#at += options[0].length;
      const outside = this.#ignoreCase;
      this.#ignoreCase = !options[1]?.startsWith("-");
      if (options[2] === ")") return "";
      const inside = this.#closed("(?:");
      this.#ignoreCase = outside;
      return inside;
    }
    if (rest.startsWith("?>")) {
      this.#at += 2;
      return this.#withoutReturn(this.#closed("(?:"));
    }
    for (const [oniguruma, javascript] of groupOpenings) {
      if (!rest.startsWith(oniguruma)) continue;
      this.#at += oniguruma.length;
      return this.#closed(javascript);
    }
    const name = /^\?<[A-Za-z_]\w*>/.exec(rest)?.[0];
    if (name !== undefined) this.#at += name.length;
    else if (rest.startsWith("?") || rest.startsWith("*")) throw this.#refused(`a group (${rest.slice(0, 4)}`);
    return this.#closed("(?:");
  }

  #closed(opening: string): string {
    const inside = this.#alternatives();
    if (this.#source[this.#at] !== ")") throw this.#refused("a group without its )");
    this.#at++;
    return `${opening}${inside})`;
  }

  #escape(): string {
    const shorthand = shorthands.get(this.#source[this.#at] ?? "");
    if (shorthand !== undefined) {
      this.#at++;
      return shorthand;
    }
    const rest = this.#source.slice(this.#at);
    const category = categoryOf(rest) ?? escapedPoint(rest);
    if (category === undefined) throw this.#refused(`\\${rest.slice(0, 1)}`);
    this.#at += category.length;
    return "point" in category ? this.#character(category.point) : `[${category.inClass}]`;
  }

  #refused(what: string): Error {
    return new Error(`the regular expression ${JSON.stringify(this.#source)} has ${what}, which is not supported`);
  }
}
