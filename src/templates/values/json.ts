/** JSON as Python's `json` reads and writes it: integers stay exact, 1.0 a float, and keys keep their order. */
import { type JsonBuilder, readJsonValue } from "../../formats/json/json-reader.ts";
import type { Budget } from "../budget.ts";
import { TemplateFailure } from "../errors.ts";
import { compare, isTrue } from "./comparison.ts";
import { floatText, integerText, toExactInteger } from "./numbers.ts";
import { Dict, Float, List, Markup, Tuple, type TemplateValue, getText, typeName } from "./values.ts";

/** Nested values of a JSON text. */
const maxNesting = 500;

/** Reads a JSON text that JSON.parse accepts. */
export function parseTemplateJson(json: string): TemplateValue {
  try {
    return readJsonValue(json, pythonValues);
  } catch (error) {
    throw error instanceof SyntaxError ? new TemplateFailure("a variable is not JSON") : error;
  }
}

const pythonValues: JsonBuilder<TemplateValue> = {
  maxDepth: maxNesting,
  tooDeep: () => new TemplateFailure(`a value nests more than ${maxNesting} lists`),
  array: (items) => new List(items),
  object(names, values) {
    const dict = new Dict();
    for (const [index, name] of names.entries()) dict.set(name, name, values[index] ?? null);
    return dict;
  },
  number(written) {
    if (/[.eE]/.test(written)) return new Float(Number(written));
    const number = Number(written);
    return Number.isSafeInteger(number) ? number + 0 : toExactInteger(BigInt(written));
  },
};

/** Options of `tojson`, which transformers passes to `json.dumps`. */
export interface JsonStyle {
  readonly ensureAscii: boolean;
  /** Text for each level of indentation; undefined: everything on one line. */
  readonly indent: string | undefined;
  readonly itemSeparator: string;
  readonly keySeparator: string;
  readonly sortKeys: boolean;
}

/** json.dumps(). Throws for values that are not JSON. */
export function toJson(value: TemplateValue, style: JsonStyle, budget: Budget): string {
  const writer = new JsonWriter(style, budget);
  writer.write(value, 0);
  return writer.text;
}

class JsonWriter {
  readonly #style: JsonStyle;
  readonly #budget: Budget;
  readonly #parts: string[] = [];

  constructor(style: JsonStyle, budget: Budget) {
    this.#style = style;
    this.#budget = budget;
  }

  get text(): string {
    return this.#parts.join("");
  }

  write(value: TemplateValue, depth: number): void {
    if (value instanceof List || value instanceof Tuple)
      this.#container("[]", value.items, depth, (item) => this.write(item, depth + 1));
    else if (value instanceof Dict) {
      const write = ([key, item]: readonly [string, TemplateValue]): void => {
        this.#add(this.#quoted(key));
        this.#add(this.#style.keySeparator);
        this.write(item, depth + 1);
      };
      this.#container("{}", this.#entries(value), depth, write);
    } else this.#add(this.#atom(value));
  }

  #container<Item>(brackets: "[]" | "{}", items: readonly Item[], depth: number, write: (item: Item) => void): void {
    if (items.length === 0) {
      this.#add(brackets);
      return;
    }
    this.#budget.enterValue();
    const { itemSeparator } = this.#style;
    this.#add(brackets.charAt(0));
    for (const [index, item] of items.entries()) {
      if (index > 0) this.#add(itemSeparator);
      this.#budget.step();
      this.#newLine(depth + 1);
      write(item);
    }
    this.#newLine(depth);
    this.#add(brackets.charAt(1));
    this.#budget.leaveValue();
  }

  /** A line end and its indentation, which is counted before it is made. */
  #newLine(depth: number): void {
    const { indent } = this.#style;
    if (indent === undefined) return;
    this.#budget.text(1 + depth * indent.length);
    this.#parts.push(`\n${indent.repeat(depth)}`);
  }

  #entries(value: Dict): (readonly [string, TemplateValue])[] {
    this.#budget.items(2 * value.size);
    const entries = value.entries();
    const sorted = this.#style.sortKeys ? entries.toSorted(([one], [other]) => this.#order(one, other)) : entries;
    return sorted.map(([key, item]) => [this.#key(key), item] as const);
  }

  #order(one: TemplateValue, other: TemplateValue): number {
    this.#budget.step();
    return compare(one, other, this.#budget);
  }

  #key(key: TemplateValue): string {
    const text = getText(key);
    if (text !== undefined) return text;
    if (key === null || typeof key === "boolean" || typeof key === "number" || typeof key === "bigint" || key instanceof Float)
      return this.#atom(key);
    throw new TemplateFailure(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
  }

  #atom(value: TemplateValue): string {
    if (typeof value === "string") return this.#quoted(value);
    if (value === null) return "null";
    if (typeof value === "boolean") return isTrue(value) ? "true" : "false";
    if (typeof value === "number" || typeof value === "bigint") return integerText(value);
    if (value instanceof Float) return jsonFloat(value.value);
    if (value instanceof Markup) return this.#quoted(value.text);
    throw new TemplateFailure(`Object of type ${typeName(value)} is not JSON serializable`);
  }

  #quoted(text: string): string {
    this.#budget.text(text.length);
    // Python leaves a surrogate without its partner as it is.
    const quoted = loneSurrogate.test(text) ? `"${text.replaceAll(escaped, escapeUnit)}"` : JSON.stringify(text);
    if (!this.#style.ensureAscii) return quoted;
    return quoted.replaceAll(/[\u007f-\uffff]/g, (unit) => (unit === "\u007f" ? unit : unicodeEscape(unit)));
  }

  #add(text: string): void {
    this.#budget.text(text.length);
    this.#parts.push(text);
  }
}

// oxlint-disable-next-line no-control-regex -- JSON escapes them
const escaped = /["\\\u0000-\u001f]/g;
const loneSurrogate = /\p{Cs}/u;

function jsonFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return floatText(value);
}

function escapeUnit(unit: string): string {
  return JSON.stringify(unit).slice(1, -1);
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
