/**
 * A recursive-descent parser of mangled names (Itanium C++ ABI, section 5.1). It knows names, types, template arguments and literals;
 * expressions of templates and vendor extensions are not known, and end the parse.
 */
import { builtinTypes, extendedTypes, literalSuffixes, operators, specialNames, standardNames } from "./tables.ts";
import { MangledName, NotDemangled } from "./mangled-name.ts";
import { type TypeText, declare, lastName, point, qualify, toTypeText } from "./type-text.ts";

/** A name, with what a following function signature depends on. */
interface NameText {
  readonly text: string;
  /** Whether it ends in template arguments, so that a return type precedes the parameters. */
  readonly isTemplate: boolean;
  /** Constructors, destructors and conversions have no return type. */
  readonly hasNoReturn: boolean;
  /** " const", " &" of a member function. */
  readonly qualifiers: string;
}

/** Substitutions can double a text each time: longer ones are given up. */
const maxCharacters = 20_000;
const maxDepth = 200;

/** Parses one mangled name. Methods throw NotDemangled. */
export class Demangler {
  readonly #input: MangledName;
  readonly #substitutions: TypeText[] = [];
  #depth = 0;
  /** Arguments of the template whose signature is parsed; T_ refers to them. */
  #templateArguments: readonly (TypeText | readonly TypeText[])[] = [];
  /** Element of a parameter pack that T_ stands for, and the number of elements of the pack that was met. */
  #pack = { index: 0, length: 1 };

  constructor(mangled: string) {
    this.#input = new MangledName(mangled);
  }

  /** The whole name. */
  demangle(): string {
    this.#input.expect("_Z");
    const text = this.#encoding();
    const rest = this.#input.peek();
    if (rest === "") return text;
    if (!rest.startsWith(".")) throw new NotDemangled();
    return `${text} [clone ${rest}]`;
  }

  /** `isScope`: of something local to a function, whose return type is then not shown. */
  #encoding(isScope = false): string {
    return this.#nested(() => {
      const special = this.#special();
      if (special !== undefined) return special;
      const name = this.#name();
      if (this.#input.atEnd()) return name.text;
      const result = name.isTemplate && !name.hasNoReturn ? this.#type() : undefined;
      const parameters = this.#parameters();
      const call = `${name.text}(${parameters})${name.qualifiers}`;
      return result === undefined || isScope ? call : declare(result, call);
    });
  }

  #special(): string | undefined {
    const code = this.#input.peek(2);
    const prefix = specialNames.get(code);
    if (prefix !== undefined) {
      this.#input.position += 2;
      return prefix + toTypeText(this.#type());
    }
    if (this.#input.take("GV")) return `guard variable for ${this.#name().text}`;
    if (this.#input.take("Th")) {
      this.#offset();
      return `non-virtual thunk to ${this.#encoding()}`;
    }
    if (this.#input.take("Tv")) {
      this.#offset();
      this.#offset();
      return `virtual thunk to ${this.#encoding()}`;
    }
    return undefined;
  }

  /** The displacement of a thunk, which is not shown. */
  #offset(): void {
    this.#input.take("n");
    this.#input.number();
    this.#input.expect("_");
  }

  #parameters(): string {
    const list: string[] = [];
    while (!this.#input.atEnd()) list.push(toTypeText(this.#type()));
    return list.length === 1 && list[0] === "void" ? "" : list.filter((text) => text !== "").join(", ");
  }

  #name(): NameText {
    if (this.#input.take("N")) return this.#nestedName();
    if (this.#input.take("Z")) return this.#localName();
    if (this.#input.at("S") && !this.#input.at("St")) {
      const text = toTypeText(this.#substitution());
      return { text: text + this.#arguments(), isTemplate: true, hasNoReturn: false, qualifiers: "" };
    }
    const scope = this.#input.take("St") ? "std::" : "";
    const { text, hasNoReturn } = this.#unqualified("");
    const name = scope + text;
    if (!this.#input.at("I")) return { text: name, isTemplate: false, hasNoReturn, qualifiers: "" };
    this.#remember(name);
    return { text: name + separator(name) + this.#arguments(), isTemplate: true, hasNoReturn, qualifiers: "" };
  }

  #nestedName(): NameText {
    const constant = this.#qualifierSuffix();
    const reference = this.#input.take("R") ? " &" : this.#input.take("O") ? " &&" : "";
    let text = "";
    let last = ""; // name that a constructor repeats
    let isTemplate = false;
    let hasNoReturn = false;
    let isNew = false; // whether the prefix so far is to be remembered before it grows
    while (!this.#input.take("E")) {
      if (isNew) this.#remember(text);
      isNew = true;
      if (this.#input.at("I")) {
        text += separator(text) + this.#arguments();
        isTemplate = true;
        continue;
      }
      isTemplate = false;
      hasNoReturn = false;
      if (text === "" && this.#input.at("S")) {
        const standard = standardNames.get(this.#input.peek(2));
        text = this.#input.take("St") ? "std" : toTypeText(this.#substitution());
        last = standard?.[1] ?? lastName(text);
        isNew = false;
      } else if (text === "" && this.#input.at("T")) {
        text = toTypeText(this.#templateParameter());
        last = text;
      } else {
        const part = this.#unqualified(last);
        text = text === "" ? part.text : `${text}::${part.text}`;
        last = part.text.replace(/\[abi:.*$/, "");
        hasNoReturn = part.hasNoReturn;
      }
    }
    return { text, isTemplate, hasNoReturn, qualifiers: constant + reference };
  }

  #localName(): NameText {
    const saved = this.#templateArguments;
    const scope = this.#encoding(true);
    this.#input.expect("E");
    if (this.#input.take("s")) {
      this.#discriminator();
      return { text: `${scope}::string literal`, isTemplate: false, hasNoReturn: false, qualifiers: "" };
    }
    const name = this.#name();
    this.#discriminator();
    if (!name.isTemplate) this.#templateArguments = saved;
    return { ...name, text: `${scope}::${name.text}` };
  }

  #discriminator(): void {
    if (this.#input.take("__")) {
      this.#input.number();
      this.#input.expect("_");
    } else if (this.#input.take("_")) this.#input.position += 1;
  }

  #unqualified(enclosing: string): { readonly text: string; readonly hasNoReturn: boolean } {
    this.#input.take("L"); // internal linkage
    const next = this.#input.peek(1);
    if (/\d/.test(next)) return { text: this.#sourceName() + this.#abiTags(), hasNoReturn: false };
    if (next === "C" && /^C[1-5]/.test(this.#input.peek(2))) {
      this.#input.position += 2;
      return { text: enclosing + this.#abiTags(), hasNoReturn: true };
    }
    if (next === "D" && /^D[0-5]/.test(this.#input.peek(2))) {
      this.#input.position += 2;
      return { text: `~${enclosing}${this.#abiTags()}`, hasNoReturn: true };
    }
    if (this.#input.take("Ut")) return { text: `{unnamed type#${this.#index()}}`, hasNoReturn: false };
    if (this.#input.take("Ul")) {
      const parameters = this.#parameters();
      this.#input.expect("E");
      return { text: `{lambda(${parameters})#${this.#index()}}`, hasNoReturn: false };
    }
    if (this.#input.take("cv")) return { text: `operator ${toTypeText(this.#type())}`, hasNoReturn: true };
    if (this.#input.take("li")) return { text: `operator"" ${this.#sourceName()}`, hasNoReturn: false };
    const operator = operators.get(this.#input.peek(2));
    if (operator === undefined) throw new NotDemangled();
    this.#input.position += 2;
    return { text: `operator${operator}${this.#abiTags()}`, hasNoReturn: false };
  }

  /** A number from 1 that ends in an underscore: "_" is 1, "0_" is 2. */
  #index(): number {
    const index = this.#input.at("_") ? 1 : this.#input.number() + 2;
    this.#input.expect("_");
    return index;
  }

  #abiTags(): string {
    let tags = "";
    while (this.#input.take("B")) tags += `[abi:${this.#sourceName()}]`;
    return tags;
  }

  #sourceName(): string {
    const length = this.#input.number();
    const text = this.#input.peek(length);
    if (text.length < length || length === 0) throw new NotDemangled();
    this.#input.position += length;
    return text.startsWith("_GLOBAL__N") ? "(anonymous namespace)" : text;
  }

  #arguments(): string {
    this.#input.expect("I");
    const list: (TypeText | readonly TypeText[])[] = [];
    while (!this.#input.take("E")) list.push(this.#argument());
    this.#templateArguments = list;
    const text = list
      .flat()
      .map((each) => toTypeText(each))
      .join(", ");
    return text.endsWith(">") ? `<${text} >` : `<${text}>`;
  }

  /** A template argument; a list for a parameter pack. */
  #argument(): TypeText | readonly TypeText[] {
    if (this.#input.take("J")) {
      const list: TypeText[] = [];
      while (!this.#input.take("E")) list.push(...[this.#argument()].flat());
      return list;
    }
    return this.#input.take("L") ? { left: this.#literal(), right: "" } : this.#type();
  }

  #literal(): string {
    if (this.#input.take("_Z")) {
      const text = this.#encoding();
      this.#input.expect("E");
      return text;
    }
    const code = this.#input.peek(1);
    const type = toTypeText(this.#type());
    const sign = this.#input.take("n") ? "-" : "";
    const digits = this.#input.at("E") ? "" : this.#input.digits();
    this.#input.expect("E");
    if (code === "b") return digits === "1" ? "true" : "false";
    const suffix = literalSuffixes.get(code);
    return suffix === undefined ? `(${type})${sign}${digits}` : `${sign}${digits}${suffix}`;
  }

  #type(): TypeText {
    const saved = this.#templateArguments; // those of a class in the type are not those of the function
    const type = this.#nested(() => this.#anyType());
    this.#templateArguments = saved;
    return type;
  }

  #anyType(): TypeText {
    const rest = this.#input.peek(2);
    const builtin = builtinTypes.get(rest[0] ?? "");
    if (builtin !== undefined) {
      this.#input.position += 1;
      return { left: builtin, right: "" };
    }
    const extended = extendedTypes.get(rest);
    if (extended !== undefined) {
      this.#input.position += 2;
      return { left: extended, right: "" };
    }
    if (this.#input.take("Dp")) return this.#expansion();
    return rest[0] === "S" && rest !== "St" ? this.#substitutedType() : this.#remembered(this.#compoundType());
  }

  /** A pattern of types for each element of a parameter pack, which is parsed once for each; empty for an empty pack. */
  #expansion(): TypeText {
    const [start, substitutions, outer] = [this.#input.position, this.#substitutions.length, this.#pack];
    const list: string[] = [];
    this.#pack = { index: 0, length: 1 };
    do {
      this.#input.position = start;
      this.#substitutions.length = substitutions;
      list.push(toTypeText(this.#type()));
      this.#pack.index += 1;
    } while (this.#pack.index < this.#pack.length);
    const isEmpty = this.#pack.length === 0;
    this.#pack = outer;
    return { left: isEmpty ? "" : list.join(", "), right: "" };
  }

  /** A type that was met before, perhaps with other template arguments. */
  #substitutedType(): TypeText {
    const found = this.#substitution();
    if (!this.#input.at("I")) return found;
    return this.#remembered({ left: toTypeText(found) + this.#arguments(), right: "" });
  }

  #compoundType(): TypeText {
    const constant = this.#qualifierSuffix();
    if (constant !== "") return qualify(this.#type(), constant);
    if (this.#input.take("P")) return point(this.#type(), "*");
    if (this.#input.take("R")) return point(this.#type(), "&");
    if (this.#input.take("O")) return point(this.#type(), "&&");
    if (this.#input.take("F")) return this.#functionType();
    if (this.#input.take("A")) {
      const size = this.#input.at("_") ? "" : String(this.#input.number());
      this.#input.expect("_");
      const element = this.#type();
      return { left: element.left, right: ` [${size}]${element.right.trimStart()}` };
    }
    if (this.#input.take("M")) {
      const owner = toTypeText(this.#type());
      return point(this.#type(), `${owner}::*`);
    }
    if (this.#input.at("T")) {
      const parameter = this.#templateParameter();
      if (!this.#input.at("I")) return parameter;
      this.#remembered(parameter);
      return { left: toTypeText(parameter) + this.#arguments(), right: "" };
    }
    if (this.#input.take("u")) return { left: this.#sourceName(), right: "" };
    if (!/^(?:N|Z|St|\d)/.test(this.#input.peek(2))) throw new NotDemangled();
    return { left: this.#name().text, right: "" };
  }

  #functionType(): TypeText {
    this.#input.take("Y"); // extern "C"
    const result = this.#type();
    const parameters = this.#parameters();
    this.#input.expect("E");
    return { left: `${result.left} `, right: `(${parameters})${result.right}` };
  }

  /** " const" and " volatile" in the order of C++. */
  #qualifierSuffix(): string {
    this.#input.take("r");
    const volatile = this.#input.take("V") ? " volatile" : "";
    return (this.#input.take("K") ? " const" : "") + volatile;
  }

  #templateParameter(): TypeText {
    this.#input.expect("T");
    const index = this.#input.at("_") ? 0 : this.#input.number() + 1;
    this.#input.expect("_");
    const argument = this.#templateArguments[index];
    if (argument === undefined) throw new NotDemangled();
    if ("left" in argument) return argument;
    this.#pack.length = argument.length;
    return argument[this.#pack.index] ?? { left: "", right: "" };
  }

  #substitution(): TypeText {
    const standard = standardNames.get(this.#input.peek(2));
    this.#input.expect("S");
    if (standard !== undefined) {
      this.#input.position += 1;
      return { left: standard[0], right: "" };
    }
    const digits = /^[0-9A-Z]*/.exec(this.#input.peek(8))?.[0] ?? "";
    this.#input.position += digits.length;
    this.#input.expect("_");
    const found = this.#substitutions[digits === "" ? 0 : Number.parseInt(digits, 36) + 1];
    if (found === undefined) throw new NotDemangled();
    return found;
  }

  #remember(text: string): void {
    this.#remembered({ left: text, right: "" });
  }

  #remembered(type: TypeText): TypeText {
    if (type.left.length + type.right.length > maxCharacters) throw new NotDemangled();
    this.#substitutions.push(type);
    return type;
  }

  /** Runs a part of the parser; throws where parts are nested too deeply. */
  #nested<Result>(parse: () => Result): Result {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new NotDemangled();
    const result = parse();
    this.#depth -= 1;
    return result;
  }
}

/** Keeps the arguments of operator< apart from its name. */
function separator(name: string): string {
  return /operator.*<$/.test(name) ? " " : "";
}
