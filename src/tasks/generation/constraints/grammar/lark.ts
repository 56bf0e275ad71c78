/** A subset of Lark's notation for grammars (https://lark-parser.readthedocs.io/en/stable/grammar.html), from its rule `start`. */
import { GrammarRules, maxGroupDepth } from "./grammar-rules.ts";
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import { chargeSteps } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import { type GrammarNode, type GrammarRule, choiceNode, literalNode, repeat, rule, sequenceNode, textNode } from "./grammar.ts";

/** Terminals of Lark's library `common`, as regular expressions. */
const common: Readonly<Record<string, string>> = {
  DIGIT: "[0-9]",
  HEXDIGIT: "[0-9a-fA-F]",
  INT: "[0-9]+",
  SIGNED_INT: "[+-]?[0-9]+",
  DECIMAL: String.raw`[0-9]+\.[0-9]*|\.[0-9]+`,
  FLOAT: String.raw`[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?`,
  SIGNED_FLOAT: String.raw`[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)`,
  NUMBER: String.raw`[0-9]+(?:[eE][+-]?[0-9]+)?|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?`,
  SIGNED_NUMBER: String.raw`[+-]?(?:[0-9]+(?:[eE][+-]?[0-9]+)?|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)`,
  ESCAPED_STRING: String.raw`"(?:[^"\\\n]|\\[^\n])*"`,
  LCASE_LETTER: "[a-z]",
  UCASE_LETTER: "[A-Z]",
  LETTER: "[A-Za-z]",
  WORD: "[A-Za-z]+",
  CNAME: "[A-Za-z_][A-Za-z_0-9]*",
  WS_INLINE: String.raw`[ \t]+`,
  WS: String.raw`[ \t\f\r\n]+`,
  CR: String.raw`\r`,
  LF: String.raw`\n`,
  NEWLINE: String.raw`(?:\r?\n)+`,
};

const kinds = ["space", "line", "string", "regex", "name", "directive", "count", "arrow", "range", "number", "mark"] as const;

/** A token: its group has the number of its kind, from 1. Groups without names, since an object of names would be made for each token. */
const tokens =
  /([^\S\n]+|(?:\/\/|#)[^\n]*)|(\n\s*)|("(?:[^"\\\n]|\\.)*"i?)|(\/(?!\/)(?:[^/\\\n]|\\.)+\/[a-z]*)|([?!]?_?[A-Za-z]\w*)|(%\w+)|(~\s*\d+(?:\s*\.\.\s*\d+)?)|(->)|(\.\.)|(\d+)|([:|()[\]?*+.,])/y;

/** Work of a token, and characters that are read in one step. */
const [tokenSteps, charactersPerStep] = [5, 8];

interface Token {
  readonly kind: string;
  readonly value: string;
  readonly line: number;
}

/** Whether a grammar is written in Lark's notation rather than in GBNF. */
export function isLark(source: string): boolean {
  return !source.includes("::=") && /^[?!]?_?[A-Za-z]\w*(?:\.\d+)?\s*:/m.test(source);
}

/** The rule `start` of a grammar. Throws INPUT_INVALID for an invalid grammar, and for unsupported constructs. */
export function parseLark(source: string): GrammarNode {
  return new Parser(source).parse();
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #rules = new GrammarRules();
  readonly #ignored: GrammarNode[] = [];
  /** What `%ignore` allows between terminals; its body is set at the end. */
  readonly #space: GrammarRule = rule("%ignore");
  #at = 0;
  #depth = 0;
  /** Whether the rule is a terminal, within which nothing is ignored. */
  #inTerminal = false;

  constructor(source: string) {
    this.#tokens = tokenize(source);
  }

  parse(): GrammarNode {
    while (this.#at < this.#tokens.length) {
      if (this.#take("line") !== undefined) continue;
      const directive = this.#take("directive");
      if (directive === undefined) this.#rule();
      else this.#directive(directive);
    }
    const start = this.#rules.start("start", "start: ...");
    this.#space.body = repeat(choiceNode(...this.#ignored), 0, Number.POSITIVE_INFINITY);
    return this.#ignored.length === 0 ? start : sequenceNode(this.#space, start);
  }

  #directive({ value, line }: Token): void {
    if (value === "%ignore") {
      this.#inTerminal = true;
      this.#ignored.push(this.#alternatives());
    } else if (value === "%import") this.#import();
    else throw wrong(line, `${value} is not supported`);
  }

  /** `common.NAME`, or `common (NAME, NAME)`. */
  #import(): void {
    const library = this.#need("name");
    if (library.value !== "common") throw wrong(library.line, `the library ${library.value} is not known`);
    if (this.#take("mark", "(") === undefined) {
      this.#need("mark", ".");
      this.#importName();
      return;
    }
    do this.#importName();
    while (this.#take("mark", ",") !== undefined);
    this.#need("mark", ")");
  }

  #importName(): void {
    const { value, line } = this.#need("name");
    const expression = common[value];
    if (expression === undefined) throw wrong(line, `common.${value} is not known`);
    const alias = this.#take("arrow") === undefined ? value : this.#need("name").value;
    this.#define(alias, line).body = textNode(regularExpressionDfa(expression, { whole: true }));
  }

  #rule(): void {
    const { value, line } = this.#need("name");
    const name = value.replace(/^[?!]/, "");
    if (this.#take("mark", ".") !== undefined) this.#need("number"); // a priority, which decides between readings
    this.#need("mark", ":");
    this.#inTerminal = isTerminal(name);
    const defined = this.#define(name, line);
    defined.body = this.#alternatives();
  }

  #define(name: string, line: number): GrammarRule {
    const rule = this.#rules.get(name);
    if (rule.body !== undefined) throw wrong(line, `${name} is defined twice`);
    return rule;
  }

  #alternatives(): GrammarNode {
    const options = [this.#sequence()];
    for (;;) {
      // An alternative may begin in a line of its own.
      const { kind, value } = this.#tokens[this.#at] ?? {};
      const next = this.#tokens[this.#at + 1];
      if (kind === "line" && (this.#depth > 0 || next?.value === "|")) this.#at += 1;
      else if (kind === "mark" && value === "|") {
        this.#at += 1;
        options.push(this.#sequence());
      } else return choiceNode(...options);
    }
  }

  #sequence(): GrammarNode {
    const items: GrammarNode[] = [];
    for (;;) {
      if (this.#depth > 0) while (this.#take("line") !== undefined);
      const item = this.#item();
      if (item === undefined) break;
      items.push(this.#quantified(item));
    }
    if (this.#take("arrow") !== undefined) this.#need("name"); // a name for the tree, which nobody builds
    return sequenceNode(...items);
  }

  #item(): GrammarNode | undefined {
    const string = this.#take("string");
    if (string !== undefined) return this.#spaced(this.#string(string));
    const expression = this.#take("regex");
    if (expression !== undefined) return this.#spaced(regex(expression));
    const name = this.#take("name");
    if (name !== undefined) {
      const rule = this.#rules.get(name.value);
      return isTerminal(name.value) ? this.#spaced(rule) : rule;
    }
    for (const [open, close] of ["()", "[]"]) {
      if (this.#take("mark", open) === undefined) continue;
      this.#depth += 1;
      if (this.#depth > maxGroupDepth)
        throw constraintRefusal(`groups are nested deeper than ${maxGroupDepth}`, "nest them less deeply");
      const group = this.#alternatives();
      this.#need("mark", close);
      this.#depth -= 1;
      return open === "[" ? repeat(group) : group;
    }
    return undefined;
  }

  /** A terminal in a rule, and what may be ignored after it. */
  #spaced(node: GrammarNode): GrammarNode {
    return this.#inTerminal ? node : sequenceNode(node, this.#space);
  }

  #string(first: Token): GrammarNode {
    if (this.#take("range") === undefined) return stringNode(first);
    const last = this.#need("string");
    const [from, to] = [readString(first), readString(last)].map((part) => part.codePointAt(0) ?? 0) as [number, number];
    if (to < from) throw wrong(first.line, "a range of characters is the wrong way round");
    return textNode(regularExpressionDfa(`[\\u{${from.toString(16)}}-\\u{${to.toString(16)}}]`, { whole: true }));
  }

  #quantified(item: GrammarNode): GrammarNode {
    for (const [mark, min, max] of quantifiers) {
      if (this.#take("mark", mark) !== undefined) return this.#quantified(repeat(item, min, max));
    }
    const count = this.#take("count");
    if (count === undefined) return item;
    const [min = 0, max = min] = count.value.slice(1).split("..").map(Number);
    if (max < min) throw wrong(count.line, `the counts ${count.value} are the wrong way round`);
    return repeat(item, min, max);
  }

  #take(kind: string, value?: string): Token | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== kind || (value !== undefined && token.value !== value)) return undefined;
    this.#at += 1;
    return token;
  }

  #need(kind: string, value?: string): Token {
    const token = this.#take(kind, value);
    if (token !== undefined) return token;
    const { line = this.#tokens.at(-1)?.line ?? 1, value: found = "the end" } = this.#tokens[this.#at] ?? {};
    throw wrong(line, `${JSON.stringify(found)} stands where ${value ?? `a ${kind}`} belongs`);
  }
}

const quantifiers = [
  ["?", 0, 1],
  ["*", 0, Number.POSITIVE_INFINITY],
  ["+", 1, Number.POSITIVE_INFINITY],
] as const;

function isTerminal(name: string): boolean {
  return /^_?[A-Z]/.test(name);
}

function tokenize(source: string): readonly Token[] {
  const found: Token[] = [];
  let line = 1;
  for (let at = 0; at < source.length;) {
    tokens.lastIndex = at;
    const match = tokens.exec(source);
    if (match === null) throw wrong(line, `${JSON.stringify(source.slice(at, at + 10))} is not understood`);
    const [value] = match;
    const kind = kinds.find((_kind, index) => match[index + 1] !== undefined) ?? "mark";
    chargeSteps(tokenSteps + Math.ceil(value.length / charactersPerStep));
    if (kind !== "space") found.push({ kind, value, line });
    if (kind === "line") line += value.split("\n").length - 1;
    at += value.length;
  }
  return found;
}

function stringNode(token: Token): GrammarNode {
  if (!token.value.endsWith("i")) return literalNode(readString(token));
  const escaped = Array.from(readString(token), (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`).join("");
  return textNode(regularExpressionDfa(escaped, { whole: true, flags: "i" }));
}

/** The text of a string, which is written as in JSON. */
function readString({ value, line }: Token): string {
  const quoted = value.replace(/i$/, "").replaceAll(/\\x([\dA-Fa-f]{2})/g, "\\u00$1");
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw wrong(line, `the string ${quoted} is invalid`);
  }
}

function regex({ value, line }: Token): GrammarNode {
  const end = value.lastIndexOf("/");
  const flags = value.slice(end + 1).replaceAll(/[ul]/g, "");
  if (/[^is]/.test(flags)) throw wrong(line, `the flags ${flags} are not supported`);
  return textNode(regularExpressionDfa(value.slice(1, end).replaceAll("\\/", "/"), { whole: true, flags }));
}

function wrong(line: number, problem: string): Error {
  return constraintRefusal(problem, "correct it", { line });
}
