/** Reads one line of the text form from left to right; spaces between tokens mean nothing. */
export class TextCursor {
  readonly #line: string;
  #place = 0;

  constructor(line: string) {
    this.#line = line;
    this.#skip(/\s*/y);
  }

  get ended(): boolean {
    return this.#place >= this.#line.length;
  }

  get rest(): string {
    return this.#line.slice(this.#place);
  }

  stands(text: string): boolean {
    return this.#line.startsWith(text, this.#place);
  }

  take(text: string): boolean {
    if (!this.stands(text)) return false;
    this.#place += text.length;
    this.#skip(/\s*/y);
    return true;
  }

  /** A keyword, which a space follows: names may begin alike. */
  takeWord(word: string): boolean {
    return this.stands(`${word} `) && !/^\s*[:,]/.test(this.rest.slice(word.length)) && this.take(word);
  }

  expect(text: string): void {
    if (!this.take(text)) throw new Error(`"${text}" is missing before "${this.rest}"`);
  }

  word(): string {
    return this.#token(/[\w-]+/y, "a word");
  }

  /** A name, bare or in quotes. */
  name(): string {
    const token = this.#token(/"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*/y, "a name");
    return token.startsWith('"') ? (JSON.parse(token) as string) : token;
  }

  /** A list or a word or a number; numbers that JSON does not know are allowed. */
  json(): unknown {
    if (this.stands("[")) return this.#list();
    const token = this.#token(/"(?:[^"\\]|\\.)*"|[\w.+-]+/y, "a value");
    if (token.startsWith('"')) return JSON.parse(token);
    if (token === "true" || token === "false") return token === "true";
    return token === "NaN" || !Number.isNaN(Number(token)) ? Number(token) : token;
  }

  /** The elements of a constant, each as it is written. */
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

  #token(pattern: RegExp, what: string): string {
    const token = this.#skip(pattern);
    if (token === "") throw new Error(`${what} is missing before "${this.rest}"`);
    this.#skip(/\s*/y);
    return token;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#place;
    const [found = ""] = pattern.exec(this.#line) ?? [];
    this.#place += found.length;
    return found;
  }
}
