/** Parser of RE2 syntax. Groups do not capture, since only whole matches are of interest. */

/** A node of the syntax tree of a pattern. */
export type PatternNode =
  | { readonly kind: "character"; readonly accepts: Accepts }
  /** An assertion between two characters; -1 is an end of the text. */
  | { readonly kind: "where"; readonly holds: (before: number, after: number) => boolean }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly min: number; readonly max: number };

type Accepts = (code: number) => boolean;

interface Flags {
  /** Flag i: case-insensitive. */
  readonly insensitive: boolean;
  /** Flag s: a dot matches line breaks. */
  readonly dotAll: boolean;
  /** Flag m: ^ and $ match at line breaks. */
  readonly lines: boolean;
}

/** Maximum count of a repeat, as in RE2. */
const maxRepeats = 1000;
const maxGroupDepth = 200;

/** Parses a regular expression in RE2 syntax. Throws Error with the reason if it is invalid or not supported. */
export function parsePattern(pattern: string): PatternNode {
  const reader = new PatternReader(Array.from(pattern));
  const part = reader.choice({ insensitive: false, dotAll: false, lines: false }, 0);
  if (!reader.atEnd) throw new Error(`the pattern has an unmatched )`);
  return part;
}

const lineBreak = 10;
const digit: Accepts = (code) => code >= 48 && code <= 57;
const word: Accepts = (code) => digit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const space: Accepts = (code) => code === 32 || code === 9 || code === 10 || code === 12 || code === 13;
const not =
  (accepts: Accepts): Accepts =>
  (code) =>
    !accepts(code);
const classes: Readonly<Record<string, Accepts>> = {
  d: digit,
  D: not(digit),
  w: word,
  W: not(word),
  s: space,
  S: not(space),
};
const posix: Readonly<Record<string, RegExp>> = {
  alnum: /^[0-9A-Za-z]$/,
  alpha: /^[A-Za-z]$/,
  ascii: /^[\0-\x7f]$/, // oxlint-disable-line no-control-regex -- the class is all of ASCII
  blank: /^[\t ]$/,
  cntrl: /^[\0-\x1f\x7f]$/, // oxlint-disable-line no-control-regex
  digit: /^[0-9]$/,
  graph: /^[!-~]$/,
  lower: /^[a-z]$/,
  print: /^[ -~]$/,
  punct: /^[!-/:-@[-`{-~]$/,
  space: /^[\t\n\v\f\r ]$/,
  upper: /^[A-Z]$/,
  word: /^[0-9A-Za-z_]$/,
  xdigit: /^[0-9A-Fa-f]$/,
};
const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

class PatternReader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  get atEnd(): boolean {
    return this.#at >= this.#characters.length;
  }

  choice(flags: Flags, depth: number): PatternNode {
    if (depth > maxGroupDepth) throw new Error(`the pattern nests more than ${maxGroupDepth} groups`);
    const parts: PatternNode[] = [];
    let current = flags;
    for (;;) {
      const [part, after] = this.#sequence(current, depth);
      parts.push(part);
      current = after; // flags hold until the end of the group
      if (!this.#take("|")) break;
    }
    return { kind: "choice", parts };
  }

  #sequence(given: Flags, depth: number): [part: PatternNode, flags: Flags] {
    const parts: PatternNode[] = [];
    let flags = given;
    while (!this.atEnd && this.#peek() !== "|" && this.#peek() !== ")") {
      if (this.#takeQuote()) {
        const literals = this.#quoted(flags);
        parts.push(...literals.slice(0, -1), ...literals.slice(-1).map((last) => this.#repeated(last))); // a quantifier is that of the last character
        continue;
      }
      const next = this.#atom(flags, depth);
      if ("insensitive" in next) flags = next;
      else parts.push(this.#repeated(next));
    }
    return [{ kind: "sequence", parts }, flags];
  }

  /** One atom, or the flags that hold from here on. */
  #atom(flags: Flags, depth: number): PatternNode | Flags {
    const character = this.#next();
    if (character === "(") return this.#group(flags, depth);
    if (character === "[") return { kind: "character", accepts: this.#set(flags) };
    if (character === ".") return { kind: "character", accepts: (code) => flags.dotAll || code !== lineBreak };
    if (character === "^") return { kind: "where", holds: (before) => before < 0 || (flags.lines && before === lineBreak) };
    if (character === "$") return { kind: "where", holds: (_, after) => after < 0 || (flags.lines && after === lineBreak) };
    if (character === "\\") return this.#escaped(flags);
    if (character === "*" || character === "+" || character === "?")
      throw new Error("the pattern has a quantifier without an operand");
    return { kind: "character", accepts: one(character.codePointAt(0) ?? 0, flags) };
  }

  #group(flags: Flags, depth: number): PatternNode | Flags {
    let inner = flags;
    if (this.#take("?")) {
      if (this.#take("P")) this.#name();
      else if (this.#peek() === "<") this.#name();
      else {
        inner = this.#flags(flags);
        if (this.#take(")")) return inner;
        this.#expect(":");
      }
    }
    const part = this.choice(inner, depth + 1);
    this.#expect(")");
    return part;
  }

  #name(): void {
    this.#expect("<");
    while (!this.#take(">")) {
      if (!word(this.#next().codePointAt(0) ?? 0)) throw new Error("the pattern has an invalid group name");
    }
  }

  #flags(given: Flags): Flags {
    let { insensitive, dotAll, lines } = given;
    let on = true;
    while (this.#peek() !== ":" && this.#peek() !== ")") {
      const flag = this.#next();
      if (flag === "-") on = false;
      else if (flag === "i") insensitive = on;
      else if (flag === "s") dotAll = on;
      else if (flag === "m") lines = on;
      else if (flag !== "U") throw new Error(`the pattern has the unknown flag "(?${flag}"`); // U only changes captures
    }
    return { insensitive, dotAll, lines };
  }

  /** A quantifier: *, +, ?, {n}, {n,} or {n,m}, each optionally lazy, which only changes captures. */
  #repeated(part: PatternNode): PatternNode {
    let [min, max] = [1, 1];
    if (this.#take("*")) [min, max] = [0, Number.POSITIVE_INFINITY];
    else if (this.#take("+")) [min, max] = [1, Number.POSITIVE_INFINITY];
    else if (this.#take("?")) [min, max] = [0, 1];
    else {
      const counts = this.#counts();
      if (counts === undefined) return part;
      [min, max] = counts;
    }
    this.#take("?");
    if ("*+?".includes(this.#peek() || " ")) throw new Error("the pattern has a quantifier after a quantifier");
    return { kind: "repeat", part, min, max };
  }

  /** Counts in braces; a brace without counts is a literal. */
  #counts(): [min: number, max: number] | undefined {
    const found = /^\{(\d+)(,(\d*))?\}/.exec(this.#characters.slice(this.#at, this.#at + 16).join(""));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === "" ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (min > maxRepeats || (max !== Number.POSITIVE_INFINITY && max > maxRepeats) || max < min)
      throw new Error(`the pattern has the invalid count ${found[0]}`);
    return [min, max];
  }

  #escaped(flags: Flags): PatternNode {
    const letter = this.#peek();
    if (letter === "A" || letter === "z" || letter === "b" || letter === "B") {
      this.#at += 1;
      if (letter === "A") return { kind: "where", holds: (before) => before < 0 };
      if (letter === "z") return { kind: "where", holds: (_, after) => after < 0 };
      const wanted = letter === "b";
      return { kind: "where", holds: (before, after) => (word(before) !== word(after)) === wanted };
    }
    const escape = this.#escape();
    return { kind: "character", accepts: typeof escape === "number" ? one(escape, flags) : escape };
  }

  #takeQuote(): boolean {
    if (this.#peek() !== "\\" || this.#characters[this.#at + 1] !== "Q") return false;
    this.#at += 2;
    return true;
  }

  /** The characters of \Q...\E: literal text, up to the end of the pattern if nothing ends it. */
  #quoted(flags: Flags): readonly PatternNode[] {
    const parts: PatternNode[] = [];
    while (!this.atEnd) {
      const character = this.#next();
      if (character === "\\" && this.#take("E")) break;
      parts.push({ kind: "character", accepts: one(character.codePointAt(0) ?? 0, flags) });
    }
    return parts;
  }

  /** An escape that is also valid inside of a character class: a code point, or a class. */
  #escape(): number | Accepts {
    const letter = this.#next();
    const known = Object.hasOwn(classes, letter) ? classes[letter] : undefined;
    if (known !== undefined) return known;
    if (Object.hasOwn(controls, letter)) return controls[letter] ?? 0;
    if (letter === "x") return this.#hexadecimal();
    if (letter === "p" || letter === "P") return this.#property(letter === "P");
    if (/[0-7]/.test(letter)) {
      let digits = letter;
      while (digits.length < 3 && /[0-7]/.test(this.#peek())) digits += this.#next();
      if (letter !== "0" && digits.length < 3) throw new Error("the pattern has a backreference, which RE2 does not support");
      return Number.parseInt(digits, 8);
    }
    if (/[A-Za-z0-9]/.test(letter)) throw new Error(`the pattern has the unsupported escape "\\${letter}"`);
    return letter.codePointAt(0) ?? 0;
  }

  #hexadecimal(): number {
    let digits = "";
    if (this.#take("{")) while (!this.#take("}")) digits += this.#next();
    else digits = this.#next() + this.#next();
    if (!/^[0-9A-Fa-f]{1,6}$/.test(digits)) throw new Error(`the pattern has the invalid code point "${digits}"`);
    return Number.parseInt(digits, 16);
  }

  /** A Unicode category or script: one letter, or a name in braces. */
  #property(inverted: boolean): Accepts {
    let name = this.#next();
    if (name === "{") {
      name = "";
      while (!this.#take("}")) name += this.#next();
    }
    const negated = name.startsWith("^");
    const bare = negated ? name.slice(1) : name;
    if (!/^[A-Za-z_]+$/.test(bare)) throw new Error(`the pattern has the invalid property "${bare}"`);
    const expression = propertyExpression(bare);
    return (code) => code >= 0 && expression.test(String.fromCodePoint(code)) !== (inverted !== negated);
  }

  #set(flags: Flags): Accepts {
    const inverted = this.#take("^");
    const members: Accepts[] = [];
    for (let first = true; first || this.#peek() !== "]"; first = false) {
      const from = this.#member();
      if (typeof from !== "number") {
        members.push(from);
        continue;
      }
      const isRange = this.#peek() === "-" && this.#characters[this.#at + 1] !== "]" && this.#at + 1 < this.#characters.length;
      if (isRange) this.#at += 1;
      const to = isRange ? this.#member() : from;
      if (typeof to !== "number" || to < from) throw new Error("the pattern has an invalid range");
      members.push(either((code) => code >= from && code <= to, flags));
    }
    this.#expect("]");
    return (code) => members.some((accepts) => accepts(code)) !== inverted;
  }

  #member(): number | Accepts {
    const character = this.#next();
    if (character === "\\") return this.#escape();
    if (character === "[" && this.#peek() === ":") {
      const end = this.#characters.indexOf("]", this.#at);
      const inside = this.#characters.slice(this.#at, end < 0 ? this.#at : end).join("");
      const found = /^:(\^?)([a-z]+):$/.exec(inside);
      const members = found?.[2] !== undefined && Object.hasOwn(posix, found[2]) ? posix[found[2]] : undefined;
      if (members === undefined) throw new Error(`the pattern has the unknown class "[${inside.slice(0, 20)}]"`);
      this.#at = end + 1;
      return (code) => members.test(String.fromCodePoint(code)) !== (found?.[1] === "^");
    }
    return character.codePointAt(0) ?? 0;
  }

  #peek(): string {
    return this.#characters[this.#at] ?? "";
  }

  #next(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw new Error("the pattern ends unexpectedly");
    this.#at += 1;
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw new Error(`the pattern needs "${character}" at ${this.#at}`);
  }
}

function one(code: number, flags: Flags): Accepts {
  return either((other) => other === code, flags);
}

/** Accepts both cases, if the pattern is case-insensitive. */
function either(accepts: Accepts, { insensitive }: Flags): Accepts {
  if (!insensitive) return accepts;
  return (code) => {
    if (accepts(code)) return true;
    const text = String.fromCodePoint(code);
    return accepts(text.toLowerCase().codePointAt(0) ?? 0) || accepts(text.toUpperCase().codePointAt(0) ?? 0);
  };
}

function propertyExpression(name: string): RegExp {
  try {
    return new RegExp(`^\\p{${name}}$`, "u");
  } catch {
    try {
      return new RegExp(`^\\p{Script=${name}}$`, "u");
    } catch (error) {
      throw new Error(`the pattern has the unknown property "${name}"`, { cause: error });
    }
  }
}
