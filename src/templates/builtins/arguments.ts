/** Arguments of functions that are written in TypeScript. */
import { TemplateFailure } from "../errors.ts";
import { isTrue, toNumber } from "../values/comparison.ts";
import { type Arguments, type TemplateValue, toInteger, getText, typeName } from "../values/values.ts";

/** No arguments. */
export const noArguments: Arguments = { positional: [], named: new Map() };

/** Arguments of one call, by their names. */
export class Bound {
  readonly #function: string;
  readonly #names: readonly string[];
  readonly #values: readonly (TemplateValue | undefined)[];

  /** Throws for more arguments than the function has, for unknown names, and for a parameter that is given twice. */
  constructor(functionName: string, names: readonly string[], { positional: values, named }: Arguments) {
    if (values.length > names.length) {
      throw new TemplateFailure(`${functionName}() takes at most ${names.length} arguments (${values.length} given)`);
    }
    for (const name of named.keys()) {
      const index = names.indexOf(name);
      if (index === -1) throw new TemplateFailure(`${functionName}() got an unexpected keyword argument '${name}'`);
      if (index < values.length) throw new TemplateFailure(`${functionName}() got multiple values for argument '${name}'`);
    }
    this.#function = functionName;
    this.#names = names;
    this.#values = names.map((name, index) => (index < values.length ? values[index] : named.get(name)));
  }

  /** An argument, or undefined where it is not given. */
  optional(name: string): TemplateValue | undefined {
    return this.#values[this.#names.indexOf(name)];
  }

  value(name: string): TemplateValue {
    const value = this.optional(name);
    if (value === undefined) throw new TemplateFailure(`${this.#function}() missing required argument: '${name}'`);
    return value;
  }

  isTrue(name: string): boolean {
    const value = this.optional(name);
    return value !== undefined && isTrue(value);
  }

  text(name: string): string {
    return this.#text(name, this.value(name));
  }

  /** A text, or the default where it is absent. */
  textOr<Default>(name: string, byDefault: Default): string | Default {
    const value = this.optional(name);
    return value === undefined ? byDefault : this.#text(name, value);
  }

  /** An integer, or the default where it is absent or None. */
  integerOr<Default>(name: string, byDefault: Default): number | Default {
    const value = this.optional(name) ?? null;
    if (value === null) return byDefault;
    const integer = toInteger(value);
    if (integer === undefined) throw new TemplateFailure(`'${typeName(value)}' object cannot be interpreted as an integer`);
    return Number(integer);
  }

  integer(name: string): number {
    this.value(name);
    const integer = this.integerOr(name, undefined);
    if (integer === undefined) throw new TemplateFailure("'NoneType' object cannot be interpreted as an integer");
    return integer;
  }

  #text(name: string, value: TemplateValue): string {
    const text = getText(value);
    if (text === undefined)
      throw new TemplateFailure(`${this.#function}() argument '${name}' must be str, not ${typeName(value)}`);
    return text;
  }
}

/** Throws for any argument. */
export function refuseArguments(functionName: string, { positional: values, named }: Arguments): void {
  if (values.length + named.size > 0) throw new TemplateFailure(`${functionName}() takes no arguments`);
}

/** An int or float as a number of JavaScript. Throws for other values. */
export function requireNumber(value: TemplateValue): number {
  const number = toNumber(value);
  if (number === undefined) throw new TemplateFailure(`must be real number, not ${typeName(value)}`);
  return number;
}
