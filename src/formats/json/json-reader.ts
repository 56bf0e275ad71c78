/** Reads JSON texts into values of the caller's choice, with numbers as they are written and keys in their order, which JSON.parse does not keep. */

/** Makes the values of a JSON text. Strings, booleans and null are plain JavaScript values. */
export interface JsonBuilder<Value> {
  /** A number, as it is written. */
  number(text: string): Value;
  array(items: (Value | string | boolean | null)[]): Value;
  /** Members in their order; a name may occur several times, and the last one counts. */
  object(names: readonly string[], values: readonly (Value | string | boolean | null)[]): Value;
  /** The error of a text that nests deeper than `maxDepth`. */
  tooDeep(): Error;
  readonly maxDepth: number;
}

/** Reads a JSON text that JSON.parse accepts. Throws SyntaxError for some others. */
export function readJsonValue<Value>(json: string, builder: JsonBuilder<Value>): Value | string | boolean | null {
  return new JsonReader(json, builder).read(0);
}

class JsonReader<Value> {
  readonly #json: string;
  readonly #builder: JsonBuilder<Value>;
  #at = 0;

  constructor(json: string, builder: JsonBuilder<Value>) {
    this.#json = json;
    this.#builder = builder;
  }

  read(depth: number): Value | string | boolean | null {
    if (depth > this.#builder.maxDepth) throw this.#builder.tooDeep();
    this.#skipSpace();
    switch (this.#json.charAt(this.#at)) {
      case '"':
        return this.#string();
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case "t":
        return this.#word(4, true);
      case "f":
        return this.#word(5, false);
      case "n":
        return this.#word(4, null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): Value {
    const names: string[] = [];
    const values: (Value | string | boolean | null)[] = [];
    this.#at += 1;
    for (this.#skipSpace(); !this.#skip("}"); this.#skipSpace()) {
      this.#skip(",");
      this.#skipSpace();
      names.push(this.#string());
      this.#skipSpace();
      this.#skip(":");
      values.push(this.read(depth + 1));
    }
    return this.#builder.object(names, values);
  }

  #array(depth: number): Value {
    const items: (Value | string | boolean | null)[] = [];
    this.#at += 1;
    for (this.#skipSpace(); !this.#skip("]"); this.#skipSpace()) {
      this.#skip(",");
      items.push(this.read(depth + 1));
    }
    return this.#builder.array(items);
  }

  #string(): string {
    const start = this.#at;
    let end = this.#json.indexOf('"', start + 1);
    while (end !== -1 && this.#isEscaped(end)) end = this.#json.indexOf('"', end + 1);
    if (end === -1) throw new SyntaxError("a string has no end");
    this.#at = end + 1;
    const text = this.#json.slice(start + 1, end);
    return text.includes("\\") ? (JSON.parse(this.#json.slice(start, end + 1)) as string) : text;
  }

  #isEscaped(quote: number): boolean {
    let at = quote;
    while (this.#json.charAt(at - 1) === "\\") at -= 1;
    return (quote - at) % 2 === 1;
  }

  #number(): Value {
    const start = this.#at;
    while (isOfNumber(this.#json.charCodeAt(this.#at))) this.#at += 1;
    if (this.#at === start) throw new SyntaxError("a value is missing");
    return this.#builder.number(this.#json.slice(start, this.#at));
  }

  #word<Constant>(length: number, value: Constant): Constant {
    this.#at += length;
    return value;
  }

  #skip(character: string): boolean {
    if (this.#json.charAt(this.#at) !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#json.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at += 1;
    }
  }
}

/** Whether a UTF-16 code unit is one of 0-9 + - . e E. */
function isOfNumber(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 45 || code === 46 || code === 43 || code === 101 || code === 69;
}
