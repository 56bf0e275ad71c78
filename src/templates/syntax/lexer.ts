/** Reads a template as tokens, as Jinja2's lexer does with `trim_blocks` and `lstrip_blocks`. Linear in the template's length. */
import { TemplateFailure } from "../errors.ts";
import { Float } from "../values/values.ts";
import { skipSpace, skipSpaceBack, spaceClass } from "../values/characters.ts";
import { decodeString } from "./string-literal.ts";

/** Kinds of tokens; an operator is its own kind. */
export type TokenKind =
  | "data"
  | "blockBegin"
  | "blockEnd"
  | "variableBegin"
  | "variableEnd"
  | "name"
  | "string"
  | "number"
  | "end"
  | "operator";

/** One token. `text`: a name, an operator, the text of a string or of template data. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Of a number. */
  readonly value?: number | bigint | Float;
  /** Line, from 1. */
  readonly line: number;
}

const tagBegin = /\{[%{#]/g;
const rawBegin = new RegExp(`\\{%[-+]?[${spaceClass}]*raw[${spaceClass}]*(?:-%\\}[${spaceClass}]*|%\\})`, "y");
const rawEnd = new RegExp(`\\{%([-+]?)[${spaceClass}]*endraw[${spaceClass}]*(?:\\+%\\}|-%\\}[${spaceClass}]*|%\\}\\n?)`, "g");
const float = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const integer = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const name = /[\p{ID_Continue}_]+/uy;
const identifier = /^[\p{ID_Start}_]/u;
const operator = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
const closing: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** Reads a template. Throws TemplateFailure for one that is not Jinja. */
export function tokenize(template: string): readonly Token[] {
  return new Lexer(normalized(template)).read();
}

/** Line ends as line feeds, and without the last one. */
function normalized(template: string): string {
  const source = template.replaceAll(/\r\n?/g, "\n");
  return source.endsWith("\n") ? source.slice(0, -1) : source;
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  read(): readonly Token[] {
    while (this.#at < this.#source.length) this.#readData();
    this.#add("end", "");
    return this.#tokens;
  }

  /** Template data up to the next tag, and the tag. */
  #readData(): void {
    tagBegin.lastIndex = this.#at;
    const found = tagBegin.exec(this.#source);
    if (found === null) {
      this.#addData(this.#source.slice(this.#at));
      this.#advance(this.#source.length);
      return;
    }
    const kind = this.#source.charAt(found.index + 1);
    const sign = this.#source.charAt(found.index + 2);
    this.#addData(this.#source.slice(this.#at, this.#dataEnd(found.index, sign, kind === "{")));
    this.#advance(found.index);
    const raw = kind === "%" ? this.#match(rawBegin) : undefined;
    if (raw !== undefined) this.#readRaw(found.index + raw.length);
    else {
      this.#advance(found.index + 2 + (sign === "-" || sign === "+" ? 1 : 0));
      if (kind === "#") this.#readComment();
      else this.#readTag(kind === "{" ? "}}" : "%}");
    }
  }

  /** Where data ends before a tag: `-` strips white space, and without a sign a tag that is not an output strips what stands before it on its line. */
  #dataEnd(tag: number, sign: string, isOutput: boolean): number {
    const from = this.#at;
    if (sign !== "-" && (sign === "+" || isOutput)) return tag;
    const stripped = Math.max(from, skipSpaceBack(this.#source, tag));
    if (sign === "-") return stripped;
    const lineEnd = this.#source.slice(stripped, tag).lastIndexOf("\n");
    if (lineEnd !== -1) return stripped + lineEnd + 1;
    const startsLine = from === 0 || this.#source.charAt(from - 1) === "\n";
    return stripped === from && startsLine ? from : tag;
  }

  #readComment(): void {
    const end = this.#source.indexOf("#}", this.#at);
    if (end === -1) throw this.#failure("Missing end of comment tag");
    const sign = end > this.#at ? this.#source.charAt(end - 1) : "";
    this.#advance(this.#behindTag(end + 2, sign));
  }

  /** What follows a closing tag: `-` strips white space, `+` nothing, and otherwise one line end goes with it. */
  #behindTag(end: number, sign: string): number {
    if (sign === "-") return skipSpace(this.#source, end);
    return sign !== "+" && this.#source.charAt(end) === "\n" ? end + 1 : end;
  }

  #readRaw(from: number): void {
    this.#advance(from);
    rawEnd.lastIndex = from;
    const found = rawEnd.exec(this.#source);
    if (found === null) throw this.#failure("Missing end of raw directive");
    this.#addData(this.#source.slice(from, this.#dataEnd(found.index, found[1] ?? "", false)));
    this.#advance(found.index + found[0].length);
  }

  #readTag(end: "%}" | "}}"): void {
    const isBlock = end === "%}";
    this.#add(isBlock ? "blockBegin" : "variableBegin", "");
    const open: string[] = [];
    for (;;) {
      this.#advance(skipSpace(this.#source, this.#at));
      if (this.#at >= this.#source.length) {
        this.#add("end", "");
        return;
      }
      if (open.length === 0) {
        const sign = this.#source.charAt(this.#at);
        const signed = sign === "-" || (isBlock && sign === "+");
        if (this.#source.startsWith(end, signed ? this.#at + 1 : this.#at)) {
          this.#add(isBlock ? "blockEnd" : "variableEnd", "");
          const behind = this.#at + end.length + (signed ? 1 : 0);
          this.#advance(isBlock || sign === "-" ? this.#behindTag(behind, signed ? sign : "") : behind);
          return;
        }
      }
      this.#readToken(open);
    }
  }

  /** One token of a tag. `open`: brackets that are not closed, by what closes them. */
  #readToken(open: string[]): void {
    const first = this.#source.charAt(this.#at);
    const digits = /\d/.test(first) ? (this.#match(float) ?? this.#match(integer)) : undefined;
    if (digits !== undefined) return this.#take("number", digits, toNumber(digits));
    const word = this.#match(name);
    if (word !== undefined) {
      if (!identifier.test(word)) throw this.#failure("Invalid character in identifier");
      return this.#take("name", word);
    }
    const literal = first === "'" || first === '"' ? this.#readString(first) : undefined;
    if (literal !== undefined) {
      const line = this.#line;
      this.#advance(this.#at + literal.length);
      this.#tokens.push({ kind: "string", text: decodeString(literal.slice(1, -1), line), line });
      return undefined;
    }
    const sign = this.#match(operator);
    if (sign === undefined) throw this.#failure(`unexpected char '${first}' at ${this.#at}`);
    const closes = closing[sign];
    if (closes !== undefined) open.push(closes);
    else if ((sign === "}" || sign === ")" || sign === "]") && open.pop() !== sign) throw this.#failure(`unexpected '${sign}'`);
    return this.#take("operator", sign);
  }

  #readString(quote: string): string | undefined {
    let at = this.#at + 1;
    while (at < this.#source.length) {
      const character = this.#source.charAt(at);
      if (character === quote) return this.#source.slice(this.#at, at + 1);
      at += character === "\\" ? 2 : 1;
    }
    return undefined;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#source)?.[0];
  }

  #take(kind: TokenKind, text: string, value?: Token["value"]): void {
    this.#tokens.push(value === undefined ? { kind, text, line: this.#line } : { kind, text, value, line: this.#line });
    this.#at += text.length;
  }

  #add(kind: TokenKind, text: string): void {
    this.#tokens.push({ kind, text, line: this.#line });
  }

  #addData(text: string): void {
    if (text !== "") this.#add("data", text);
  }

  /** Goes on, and counts the lines. */
  #advance(to: number): void {
    for (let at = this.#at; at < to; at += 1) if (this.#source.charCodeAt(at) === 10) this.#line += 1;
    this.#at = to;
  }

  #failure(message: string): TemplateFailure {
    return new TemplateFailure(message, this.#line);
  }
}

function toNumber(written: string): number | bigint | Float {
  const text = written.replaceAll("_", "");
  if (!/^0[box]/i.test(text) && /[.e]/i.test(text)) return new Float(Number(text));
  const value = BigInt(text);
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
