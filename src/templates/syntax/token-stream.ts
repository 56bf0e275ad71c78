/** The tokens of a template, one at a time. */
import { maxSyntaxNesting } from "../budget.ts";
import { TemplateBound, TemplateFailure } from "../errors.ts";
import type { Token, TokenKind } from "./lexer.ts";

const end: Token = { kind: "end", text: "", line: 1 };

/** Reads tokens, and counts the depth of nesting. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #at = 0;
  #nesting = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#at] ?? this.#tokens.at(-1) ?? end;
  }

  get following(): Token {
    return this.#tokens[this.#at + 1] ?? end;
  }

  next(): Token {
    const token = this.current;
    this.#at += 1;
    return token;
  }

  isOperator(text: string): boolean {
    const { current } = this;
    return current.kind === "operator" && current.text === text;
  }

  isName(text: string): boolean {
    const { current } = this;
    return current.kind === "name" && current.text === text;
  }

  isKind(kind: TokenKind): boolean {
    return this.current.kind === kind;
  }

  /** Goes on if the current token is this operator. */
  skipOperator(text: string): boolean {
    if (!this.isOperator(text)) return false;
    this.#at += 1;
    return true;
  }

  /** Goes on if the current token is this name. */
  skipName(text: string): boolean {
    if (!this.isName(text)) return false;
    this.#at += 1;
    return true;
  }

  expectOperator(text: string): void {
    if (!this.skipOperator(text)) throw this.failure(`expected token '${text}', got '${describe(this.current)}'`);
  }

  expect(kind: TokenKind): Token {
    if (this.current.kind !== kind) throw this.failure(`expected ${kindNames[kind] ?? kind}, got '${describe(this.current)}'`);
    return this.next();
  }

  /** Runs a parser one level of nesting deeper. */
  nested<Node>(parse: () => Node): Node {
    this.#nesting += 1;
    if (this.#nesting > maxSyntaxNesting)
      throw new TemplateBound("nesting", maxSyntaxNesting, `nests more than ${maxSyntaxNesting} expressions or blocks`);
    const node = parse();
    this.#nesting -= 1;
    return node;
  }

  failure(message: string): TemplateFailure {
    return new TemplateFailure(message, this.current.line);
  }
}

const kindNames: Readonly<Partial<Record<TokenKind, string>>> = {
  blockEnd: "end of statement block",
  variableEnd: "end of print statement",
  name: "a name",
};

/** A token, for messages. */
export function describe({ kind, text }: Token): string {
  if (kind === "end") return "end of template";
  if (kind === "blockEnd") return "end of statement block";
  if (kind === "variableEnd") return "end of print statement";
  return text;
}
