/** Tokenizer of one line of the text form. Whitespace between tokens is skipped. Every `expect`-like method throws if the token is missing. */
export class TextCursor {
  readonly #line: string;
  #position = 0;

  constructor(line: string) {
    this.#line = line;
    this.#skip(/\s*/y);
  }

  /** Whether the whole line has been consumed. */
  get ended(): boolean {
    return this.#position >= this.#line.length;
  }

  /** The part of the line that has not been consumed. */
  get rest(): string {
    return this.#line.slice(this.#position);
  }

  /** Whether the rest of the line begins with `text`. */
  startsWith(text: string): boolean {
    return this.#line.startsWith(text, this.#position);
  }

  /** Consumes `text` if the rest of the line begins with it. */
  take(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.#position += text.length;
    this.#skip(/\s*/y);
    return true;
  }

  /** Consumes a keyword. Not a name that begins with it, nor a value of that name ("input: float32[2] = ..."). */
  takeWord(word: string): boolean {
    return this.startsWith(`${word} `) && !/^\s*[:,]/.test(this.rest.slice(word.length)) && this.take(word);
  }

  /** Consumes `text`. */
  expect(text: string): void {
    if (!this.take(text)) throw new Error(`expected "${text}" before "${this.rest}"`);
  }

  /** A token of letters, digits, _ and -. */
  word(): string {
    return this.#token(/[\w-]+/y, "a word");
  }

  /** A name: an identifier, or a JSON string. */
  name(): string {
    const token = this.#token(/"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*/y, "a name");
    return token.startsWith('"') ? (JSON.parse(token) as string) : token;
  }

  /** An attribute value: a list, an object, a string, a bare word, a boolean or a number, NaN and Infinity included. */
  json(): unknown {
    if (this.startsWith("[")) return this.#list();
    if (this.startsWith("{")) return this.#object();
    const token = this.#token(/"(?:[^"\\]|\\.)*"|[\w.+-]+/y, "a value");
    if (token.startsWith('"')) return JSON.parse(token);
    if (token === "true" || token === "false") return token === "true";
    return token === "NaN" || !Number.isNaN(Number(token)) ? Number(token) : token;
  }

  /** The elements of a constant in brackets, unparsed. */
  elements(): readonly string[] {
    this.expect("[");
    const found: string[] = [];
    while (!this.take("]")) {
      if (found.length > 0) this.expect(",");
      found.push(this.#token(/"(?:[^"\\]|\\.)*"|[\w.+-]+/y, "an element"));
    }
    return found;
  }

  #list(): unknown[] {
    this.expect("[");
    const items: unknown[] = [];
    while (!this.take("]")) {
      if (items.length > 0) this.expect(",");
      items.push(this.json());
    }
    return items;
  }

  #object(): object {
    this.expect("{");
    const members: [string, unknown][] = [];
    while (!this.take("}")) {
      if (members.length > 0) this.expect(",");
      const name = this.name();
      this.expect(":");
      members.push([name, this.json()]);
    }
    return Object.fromEntries(members);
  }

  #token(pattern: RegExp, what: string): string {
    const token = this.#skip(pattern);
    if (token === "") throw new Error(`expected ${what} before "${this.rest}"`);
    this.#skip(/\s*/y);
    return token;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const [found = ""] = pattern.exec(this.#line) ?? [];
    this.#position += found.length;
    return found;
  }
}
