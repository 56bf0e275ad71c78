/** Literals and calls of Python, which some models write instead of JSON. */

/** A call with arguments by name. */
export interface PythonCall {
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
}

/** Deepest nesting that is read. */
const maxDepth = 200;
const words: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
  ["true", "true"],
  ["false", "false"],
  ["null", "null"],
]);
const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["a", "\u0007"],
  ["v", "\v"],
  ["0", "\0"],
  ["\n", ""],
]);

class NotPython extends Error {}

/** The JSON text of a literal of Python: strings, numbers, lists, tuples, dictionaries. Undefined for any other text. */
export function jsonOfPython(text: string): string | undefined {
  return attempt(() => {
    const reader = new LiteralReader(text);
    const json = reader.value(0);
    reader.expectEnd();
    return json;
  });
}

/** A list of calls, `[f(x=1), g(y="a")]`, or one of them. Undefined for any other text. */
export function callsOfPython(text: string): readonly PythonCall[] | undefined {
  return attempt(() => {
    const reader = new LiteralReader(text);
    const calls = reader.take("[") ? reader.list("]", () => reader.call()) : [reader.call()];
    reader.expectEnd();
    return calls.length === 0 ? undefined : calls;
  });
}

function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotPython) return undefined;
    throw error;
  }
}

class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): string {
    if (depth > maxDepth) throw new NotPython();
    if (this.take("{")) {
      const members = this.list("}", () => {
        const name = this.value(depth + 1);
        this.#expect(":");
        return `${name.startsWith('"') ? name : JSON.stringify(name)}:${this.value(depth + 1)}`;
      });
      return `{${members.join(",")}}`;
    }
    if (this.take("[")) return `[${this.list("]", () => this.value(depth + 1)).join(",")}]`;
    if (this.take("(")) return `[${this.list(")", () => this.value(depth + 1)).join(",")}]`;
    const quote = this.#text[this.#at];
    if (quote === '"' || quote === "'") return JSON.stringify(this.#string(quote));
    const number = this.#match(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])/y);
    const word = number ?? words.get(this.#match(/[A-Za-z]+/y) ?? "");
    if (word === undefined) throw new NotPython();
    return word;
  }

  call(): PythonCall {
    this.#space();
    const name = this.#match(/[\w.-]+/y);
    if (name === undefined) throw new NotPython();
    this.#expect("(");
    const members = this.list(")", () => {
      const key = this.#match(/\w+/y);
      if (key === undefined) throw new NotPython();
      this.#expect("=");
      this.#space();
      return `${JSON.stringify(key)}:${this.value(0)}`;
    });
    return { name, arguments: `{${members.join(",")}}` };
  }

  list<Item>(close: string, item: () => Item): readonly Item[] {
    const items: Item[] = [];
    while (!this.take(close)) {
      if (items.length > 0) this.#expect(",");
      if (this.take(close)) break; // after a last comma
      items.push(item());
    }
    return items;
  }

  take(word: string): boolean {
    this.#space();
    const isNext = this.#text.startsWith(word, this.#at);
    if (isNext) this.#at += word.length;
    this.#space();
    return isNext;
  }

  expectEnd(): void {
    this.#space();
    if (this.#at < this.#text.length) throw new NotPython();
  }

  #expect(word: string): void {
    if (!this.take(word)) throw new NotPython();
  }

  #space(): void {
    this.#match(/\s+/y);
  }

  #match(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const [found] = expression.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #string(quote: string): string {
    const triple = quote.repeat(3);
    const end = this.#text.startsWith(triple, this.#at) ? triple : quote;
    this.#at += end.length;
    let text = "";
    while (!this.#text.startsWith(end, this.#at)) {
      const plain = this.#match(/[^'"\\]+/y);
      const character = plain ?? this.#text[this.#at];
      if (character === undefined) throw new NotPython();
      if (plain === undefined) this.#at += 1;
      text += plain === undefined && character === "\\" ? this.#escape() : character;
    }
    this.#at += end.length;
    return text;
  }

  #escape(): string {
    const code = this.#match(/x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}/y);
    if (code !== undefined) {
      const point = Number.parseInt(code.slice(1), 16);
      if (point > 0x10ffff) throw new NotPython();
      return String.fromCodePoint(point);
    }
    const letter = this.#text[this.#at];
    if (letter === undefined) throw new NotPython();
    this.#at += 1;
    return escapes.get(letter) ?? (/["'\\/]/.test(letter) ? letter : `\\${letter}`);
  }
}
