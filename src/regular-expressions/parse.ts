/**
 * Parser of the regular expressions in tokenizer.json, which have Oniguruma's syntax (https://github.com/kkos/oniguruma, doc/RE). Refused is what
 * cannot be matched in linear time by `search.ts`: backreferences, lookbehind of more than one character, and atomic groups or possessive
 * quantifiers over more than one character set.
 */
import { assertions, lineEndPosition, lineStart, setNode } from "./assertions.ts";
import { getCategory, escapedPoint, insensitive, literal, shorthands } from "./character-sets.ts";
import { BracketExpression } from "./bracket-expression.ts";
import { type CharacterSetNode, type RegexNode, emptyNode } from "./syntax.ts";

/** Maximum length of an expression in UTF-16 code units, and maximum nesting depth of groups. */
const maxLength = 16_384;
const maxDepth = 200;

/**
 * Parses a regular expression in Oniguruma's syntax. Throws Error for one that is invalid, longer than 16,384 characters, or not
 * supported.
 */
export function parseRegex(source: string): RegexNode {
  if (source.length > maxLength)
    throw new Error(`a regular expression has ${source.length} characters, and may have ${maxLength}: ${quoted(source)}`);
  const parser = new Parser(source);
  return parser.whole();
}

/** Kinds of groups, by their opening. */
const groupKinds: ReadonlyMap<string, "plain" | "lookahead" | "lookbehind"> = new Map([
  ["?:", "plain"],
  ["?=", "lookahead"],
  ["?!", "lookahead"],
  ["?<=", "lookbehind"],
  ["?<!", "lookbehind"],
]);

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #ignoreCase = false;

  constructor(source: string) {
    this.#source = source;
  }

  whole(): RegexNode {
    const node = this.#alternatives();
    if (this.#at < this.#source.length) throw this.#refused("an unmatched )");
    return node;
  }

  /** Parses alternatives up to a closing parenthesis or the end. */
  #alternatives(): RegexNode {
    const outside = this.#ignoreCase;
    const options: RegexNode[] = [];
    let parts: RegexNode[] = [];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ")") {
      if (this.#source[this.#at] === "|") {
        this.#at++;
        options.push(sequenceOf(parts));
        parts = [];
      } else parts.push(this.#quantified(this.#atom()));
    }
    this.#ignoreCase = outside;
    options.push(sequenceOf(parts));
    const [only = emptyNode, ...others] = options;
    return others.length === 0 ? only : { kind: "alternatives", options };
  }

  #quantified(atom: RegexNode): RegexNode {
    let result = atom;
    for (;;) {
      const found = /^(?:([*+?])|\{(\d{0,9})(?:(,)(\d{0,9}))?\})/.exec(this.#source.slice(this.#at, this.#at + 24));
      const [quantifier = "", sign, from = "", comma, to = ""] = found ?? [];
      if (found === null || (sign === undefined && from === "" && to === "")) return result;
      this.#at += quantifier.length;
      const min = sign === undefined ? Number(from) : sign === "+" ? 1 : 0;
      const max =
        sign === "?" ? 1 : sign !== undefined ? Infinity : comma === undefined ? min : to === "" ? Infinity : Number(to);
      if (max < min) throw this.#refused(`the quantifier ${quantifier}`);
      const mode = this.#source[this.#at];
      if (mode === "?") this.#at++;
      result = { kind: "repeat", body: result, min, max, greedy: mode !== "?" };
      if (mode === "+" && sign !== undefined) {
        this.#at++;
        result = this.#atomic(result);
      }
    }
  }

  /**
   * Makes a part atomic: once matched, it is not backtracked into. A repeated character set is rewritten without atomicity, as a run that no
   * further character of the set follows.
   */
  #atomic(node: RegexNode): RegexNode {
    if (node.kind === "set") return node;
    if (node.kind === "repeat" && node.body.kind === "set" && node.greedy) {
      const end: RegexNode = { kind: "lookahead", negated: true, body: node.body };
      if (node.max === Infinity) return sequenceOf([node, end]);
      if (node.min === 0 && node.max === 1) return { kind: "alternatives", options: [node.body, end] };
    }
    throw this.#refused("an atomic group or possessive quantifier over more than one set of characters");
  }

  #atom(): RegexNode {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    switch (character) {
      case "(":
        return this.#group();
      case "[": {
        const set = new BracketExpression(this.#source, this.#at, this.#ignoreCase);
        this.#at = set.end;
        return this.#set(set.pattern, set.needsSets ? "v" : "u");
      }
      case "\\":
        return this.#escape();
      case ".":
        return setNode("[^\\n]");
      case "^":
        return lineStart;
      case "$":
        return lineEndPosition;
      case "*":
      case "+":
      case "?":
        throw this.#refused(`a ${character} with nothing before it`);
      default:
        return this.#character(character.codePointAt(0) ?? 0);
    }
  }

  #character(point: number): CharacterSetNode {
    return setNode(this.#ignoreCase ? insensitive(point) : literal(point));
  }

  #set(pattern: string, flag: "u" | "v"): CharacterSetNode {
    try {
      return setNode(new RegExp(pattern, flag).source, flag);
    } catch (error) {
      throw new Error(`the regular expression ${quoted(this.#source)} has an invalid character set`, { cause: error });
    }
  }

  #group(): RegexNode {
    const rest = this.#source.slice(this.#at, this.#at + 100);
    if (rest.startsWith("?#")) {
      const end = this.#source.indexOf(")", this.#at);
      this.#at = end < 0 ? this.#source.length : end + 1;
      return emptyNode;
    }
    const options = /^\?(-?i|i-?)([:)])/.exec(rest);
    if (options !== null) {
      this.#at += options[0].length;
      const outside = this.#ignoreCase;
      this.#ignoreCase = !options[1]?.startsWith("-");
      if (options[2] === ")") return emptyNode;
      const inside = this.#closed();
      this.#ignoreCase = outside;
      return inside;
    }
    if (rest.startsWith("?>")) {
      this.#at += 2;
      return this.#atomic(this.#closed());
    }
    for (const [opening, kind] of groupKinds) {
      if (!rest.startsWith(opening)) continue;
      this.#at += opening.length;
      const body = this.#closed();
      return kind === "plain" ? body : this.#look(kind, opening.endsWith("!"), body);
    }
    const name = /^\?<[A-Za-z_]\w*>/.exec(rest)?.[0];
    if (name !== undefined) this.#at += name.length;
    else if (rest.startsWith("?") || rest.startsWith("*")) throw this.#refused(`a group (${rest.slice(0, 4)}`);
    return this.#closed();
  }

  #look(kind: "lookahead" | "lookbehind", negated: boolean, body: RegexNode): RegexNode {
    if (kind === "lookahead") return { kind, negated, body };
    if (body.kind === "set") return { kind, negated, set: body };
    throw this.#refused("a lookbehind of other than one character");
  }

  #closed(): RegexNode {
    if (++this.#depth > maxDepth) throw this.#refused(`groups nested deeper than ${maxDepth}`);
    const inside = this.#alternatives();
    if (this.#source[this.#at] !== ")") throw this.#refused("a group without its )");
    this.#at++;
    this.#depth--;
    return inside;
  }

  #escape(): RegexNode {
    const letter = this.#source[this.#at] ?? "";
    const known = assertions.get(letter) ?? namedSet(letter);
    if (known !== undefined) {
      this.#at++;
      return known;
    }
    const rest = this.#source.slice(this.#at, this.#at + 100);
    const category = getCategory(rest) ?? escapedPoint(rest);
    if (category === undefined) throw this.#refused(`\\${rest.slice(0, 1)}`);
    this.#at += category.length;
    return "point" in category ? this.#character(category.point) : setNode(`[${category.inClass}]`);
  }

  #refused(what: string): Error {
    return new Error(`the regular expression ${quoted(this.#source)} has ${what}, which is not supported`);
  }
}

function namedSet(letter: string): CharacterSetNode | undefined {
  const source = shorthands.get(letter);
  return source === undefined ? undefined : setNode(source);
}

function sequenceOf(parts: readonly RegexNode[]): RegexNode {
  const [only = emptyNode, ...others] = parts;
  return others.length === 0 ? only : { kind: "sequence", parts };
}

/** Formats a regular expression for an error message: quoted, at most its first 200 characters. */
export function quoted(source: string): string {
  return JSON.stringify(source.length > 200 ? `${source.slice(0, 200)}...` : source);
}
