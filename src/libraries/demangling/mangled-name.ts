/** The name has a construct that is not known, or is no mangled name. */
export class NotDemangled extends Error {
  override readonly name = "NotDemangled";
}

/** A mangled name, read from its start. Methods that require something throw NotDemangled. */
export class MangledName {
  readonly #text: string;
  position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next characters, or all that are left. */
  peek(length: number = this.#text.length): string {
    return this.#text.slice(this.position, this.position + length);
  }

  /** Whether the text comes next. */
  at(text: string): boolean {
    return this.#text.startsWith(text, this.position);
  }

  /** Whether an encoding ends here: at the end of the name, of a local scope, or before the suffix of a clone. */
  atEnd(): boolean {
    return this.position >= this.#text.length || this.at("E") || this.at(".");
  }

  /** Reads the text if it comes next; whether it did. */
  take(text: string): boolean {
    if (!this.at(text)) return false;
    this.position += text.length;
    return true;
  }

  /** Reads the text, which must come next. */
  expect(text: string): void {
    if (!this.take(text)) throw new NotDemangled();
  }

  /** Reads decimal digits, which must come next. */
  digits(): string {
    const digits = /^\d+/.exec(this.peek(20))?.[0];
    if (digits === undefined) throw new NotDemangled();
    this.position += digits.length;
    return digits;
  }

  /** Reads a number, which must come next. */
  number(): number {
    return Number(this.digits());
  }
}
