/** GBNF, the notation of llama.cpp for grammars (https://github.com/ggml-org/llama.cpp, grammars/README.md). */
import { GrammarRules, maxGroupDepth } from "./grammar-rules.ts";
import { getOrInsert } from "../../../../contract/checked.ts";
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import { atPlace, chargeSteps } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import { type GrammarNode, choiceOf, literalNode, repeat, sequenceOf, textNode } from "./grammar.ts";

const name = /[A-Za-z0-9_-]+/y;
const quantifier = /[*+?]|\{\s*(?<min>\d+)\s*(?<comma>,\s*(?<max>\d+)?\s*)?\}/y;
/** The rule `root` of a grammar. Throws INPUT_INVALID for an invalid grammar. */
export function parseGbnf(source: string): GrammarNode {
  return new Parser(source).parse();
}

class Parser {
  readonly #source: string;
  readonly #rules = new GrammarRules();
  readonly #expressions = new Map<string, GrammarNode>();
  #at = 0;
  /** Line ends before `#at` that were counted, and where the last one ends. */
  #lines = 0;
  #lineEnd = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): GrammarNode {
    this.#skip(true);
    while (this.#at < this.#source.length) this.#rule();
    return this.#rules.start("root", "root ::= ...");
  }

  #rule(): void {
    chargeSteps(20);
    const defined = this.#rules.get(this.#match(name, "the name of a rule"));
    this.#skip(false);
    this.#expect("::=");
    this.#skip(true);
    if (defined.body !== undefined) throw this.#wrong(`the rule ${defined.name} is defined twice`);
    defined.body = atPlace({ line: this.#line }, () => this.#alternatives(false));
    this.#skip(true);
  }

  /** In a group a part may go on in the next line. */
  #alternatives(isGroup: boolean): GrammarNode {
    const options: GrammarNode[] = [this.#sequence(isGroup)];
    while (this.#source[this.#at] === "|") {
      this.#at += 1;
      this.#skip(true);
      options.push(this.#sequence(isGroup));
    }
    return choiceOf(options);
  }

  #sequence(isGroup: boolean): GrammarNode {
    const items: GrammarNode[] = [];
    for (;;) {
      const item = this.#item();
      if (item === undefined) return sequenceOf(items);
      items.push(this.#quantified(item));
      this.#skip(isGroup);
    }
  }

  #item(): GrammarNode | undefined {
    const character = this.#source[this.#at];
    if (character === '"') return this.#string();
    if (character === "[") return this.#class();
    if (character === ".") {
      this.#at += 1;
      return this.#expression(".");
    }
    if (character === "(") {
      this.#depth += 1;
      if (this.#depth > maxGroupDepth) throw this.#wrong(`groups are nested deeper than ${maxGroupDepth}`);
      this.#at += 1;
      this.#skip(true);
      const group = this.#alternatives(true);
      this.#expect(")");
      this.#depth -= 1;
      return group;
    }
    name.lastIndex = this.#at;
    const found = name.exec(this.#source)?.[0];
    if (found === undefined) return undefined;
    this.#at += found.length;
    return this.#rules.get(found);
  }

  #quantified(item: GrammarNode): GrammarNode {
    let result = item;
    for (;;) {
      quantifier.lastIndex = this.#at;
      const found = quantifier.exec(this.#source);
      if (found === null) return result;
      const [all, { min, comma, max }] = [found[0], found.groups ?? {}];
      this.#at += all.length;
      if (min === undefined) result = repeat(result, all === "+" ? 1 : 0, all === "?" ? 1 : Number.POSITIVE_INFINITY);
      else {
        const most = comma === undefined ? Number(min) : max === undefined ? Number.POSITIVE_INFINITY : Number(max);
        if (most < Number(min)) throw this.#wrong(`the counts ${all} are the wrong way round`);
        result = repeat(result, Number(min), most);
      }
    }
  }

  #string(): GrammarNode {
    const match = /"(?:[^"\\\n]|\\.)*"/y;
    const all = this.#match(match, "the end of a string");
    return literalNode(unescaped(all.slice(1, -1)));
  }

  #class(): GrammarNode {
    const match = /\[(?:[^\]\\\n]|\\.)*\]/y;
    const all = this.#match(match, "the end of a set of characters");
    const isNegated = all[1] === "^";
    // To a regular expression every character is a code point, but for "-" between two of them.
    const parts = unescapedParts(all.slice(isNegated ? 2 : 1, -1));
    const members = parts.map((part, index) =>
      part === "-" && index > 0 && index < parts.length - 1 ? "-" : `\\u{${(plainPart(part).codePointAt(0) ?? 0).toString(16)}}`,
    );
    if (members.length === 0) throw this.#wrong("a set of characters is empty");
    return this.#expression(`[${isNegated ? "^" : ""}${members.join("")}]`);
  }

  /** The same expression is compiled once. "." reads line ends too. */
  #expression(source: string): GrammarNode {
    return getOrInsert(this.#expressions, source, () => textNode(regularExpressionDfa(source, { whole: true, flags: "s" })));
  }

  #match(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found === undefined) throw this.#wrong(`${what} is missing`);
    this.#at += found.length;
    return found;
  }

  #expect(token: string): void {
    if (!this.#source.startsWith(token, this.#at)) throw this.#wrong(`${token} is missing`);
    this.#at += token.length;
  }

  /** White space and comments; with `lines`, ends of lines too. Otherwise a line goes on in the next one only where that begins with "|". */
  #skip(lines: boolean): void {
    const space = lines ? /(?:\s|#[^\n]*)*/y : /(?:[^\S\n]|#[^\n]*)*(?:(?:\s|#[^\n]*)*(?=\|))?/y;
    space.lastIndex = this.#at;
    this.#at += space.exec(this.#source)?.[0].length ?? 0;
  }

  /** The line of the next character, from 1. */
  get #line(): number {
    for (let end = this.#source.indexOf("\n", this.#lineEnd); end >= 0 && end < this.#at;) {
      this.#lines += 1;
      this.#lineEnd = end + 1;
      end = this.#source.indexOf("\n", this.#lineEnd);
    }
    return this.#lines + 1;
  }

  #wrong(problem: string): Error {
    return constraintRefusal(problem, "correct it", { line: this.#line });
  }
}

const escape = /\\(?:x(?<two>[\dA-Fa-f]{2})|u(?<four>[\dA-Fa-f]{4})|U(?<eight>[\dA-Fa-f]{8})|(?<letter>.))|(?<plain>[^\\])/gsu;
const letters: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unescaped(source: string): string {
  if (!source.includes("\\")) return source;
  return unescapedParts(source).map(plainPart).join("");
}

/** The characters of a string; one that was escaped has a backslash before it. */
function unescapedParts(source: string): readonly string[] {
  return [...source.matchAll(escape)].map(({ groups = {} }) => {
    const { two, four, eight, letter, plain } = groups;
    if (plain !== undefined) return plain;
    const hex = two ?? four ?? eight;
    if (hex === undefined) return `\\${letters[letter ?? ""] ?? letter ?? ""}`;
    const point = Number.parseInt(hex, 16);
    if (point > 0x10ffff) throw constraintRefusal(`the escape \\${hex} is no code point`, "correct it");
    return `\\${String.fromCodePoint(point)}`;
  });
}

function plainPart(part: string): string {
  return part.length > 1 && part.startsWith("\\") ? part.slice(1) : part;
}
