/** Translates a bracket expression ([...]) from Oniguruma's syntax to JavaScript's. */
import { getCases, getCategory, escapedPoint, inClass, literal, posixClasses, setsInClass } from "./character-sets.ts";

/** A character with another case; wide ranges have few of them. */
const changesCase = /^\p{Changes_When_Casemapped}/u;

/** A parsed bracket expression ([a-z]) of a regular expression. The constructor throws Error for one that is not supported. */
export class BracketExpression {
  /** The set as a JavaScript regular expression. */
  readonly pattern: string;
  /** Index after the closing bracket. */
  readonly end: number;
  /** Whether the pattern has nested sets, which need JavaScript's flag v. */
  needsSets = false;
  readonly #source: string;
  readonly #ignoreCase: boolean;
  #at: number;

  /** `at`: index after the opening bracket. */
  constructor(source: string, at: number, ignoreCase: boolean) {
    this.#source = source;
    this.#ignoreCase = ignoreCase;
    this.#at = at;
    this.pattern = this.#set();
    this.end = this.#at;
  }

  #set(): string {
    const negated = this.#source[this.#at] === "^";
    if (negated) this.#at++;
    /** Operands of the intersection &&. */
    const operands: string[] = [];
    let members = "";
    for (let first = true; ; first = false) {
      const character = this.#source[this.#at];
      if (character === undefined)
        throw new Error(`the regular expression ${JSON.stringify(this.#source)} has a [ without its ]`);
      if (character === "]" && !first) break;
      if (this.#source.startsWith("&&", this.#at)) {
        operands.push(members);
        members = "";
        this.#at += 2;
      } else members += this.#member();
    }
    this.#at++;
    const opening = negated ? "[^" : "[";
    if (operands.length === 0) return `${opening}${members}]`;
    this.needsSets = true;
    return `${opening}${[...operands, members].map((operand) => `[${operand}]`).join("&&")}]`;
  }

  #member(): string {
    if (this.#source.startsWith("[:", this.#at)) {
      const name = /^\[:(\w+):\]/.exec(this.#source.slice(this.#at))?.[1] ?? "";
      const posix = posixClasses.get(name);
      if (posix === undefined) throw new Error(`the regular expression has the unknown POSIX bracket [:${name}:]`);
      this.#at += name.length + 4;
      return posix;
    }
    if (this.#source[this.#at] === "[") {
      this.#at++;
      this.needsSets = true;
      return this.#set();
    }
    const first = this.#one();
    if (typeof first === "string") return first;
    // A hyphen before the closing bracket is a literal.
    if (this.#source[this.#at] !== "-" || this.#source[this.#at + 1] === "]") return this.#cases(first, first);
    this.#at++;
    const last = this.#one();
    return typeof last === "string" ? `${this.#cases(first, first)}${literal(0x2d)}${last}` : this.#cases(first, last);
  }

  /** Parses one member: a code point, or the pattern of a set. */
  #one(): number | string {
    const point = this.#source.codePointAt(this.#at) ?? 0;
    this.#at += point > 0xffff ? 2 : 1;
    if (point !== 0x5c) return point;
    const shorthand = inClass.get(this.#source[this.#at] ?? "");
    if (shorthand !== undefined) {
      this.#at++;
      return shorthand;
    }
    const negated = setsInClass.get(this.#source[this.#at] ?? "");
    if (negated !== undefined) {
      this.#at++;
      this.needsSets = true;
      return negated;
    }
    const rest = this.#source.slice(this.#at);
    const found = getCategory(rest) ?? escapedPoint(rest);
    if (found === undefined)
      throw new Error(
        `the regular expression ${JSON.stringify(this.#source)} has \\${rest.slice(0, 1)} in brackets, which is not supported`,
      );
    this.#at += found.length;
    return "point" in found ? found.point : found.inClass;
  }

  #cases(first: number, last: number): string {
    const range = first === last ? literal(first) : `${literal(first)}-${literal(last)}`;
    if (!this.#ignoreCase) return range;
    // The other cases of a range are listed one by one.
    const points = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const cased = points.filter((point) => changesCase.test(String.fromCodePoint(point)));
    const others = new Set(cased.flatMap(getCases).filter((other) => other < first || other > last));
    return range + Array.from(others, literal).join("");
  }
}
