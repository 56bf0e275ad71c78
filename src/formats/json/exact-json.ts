/**
 * JSON that passes through unchanged. JSON.parse changes three things: integers above 2^53, the notation of numbers (1.0 becomes 1, 1e5 100000), and the order of keys that
 * look like integers. `parseJson` gives the values of JSON.parse, so that whoever reads them needs to know nothing of this, and attaches to each object and list with something
 * that changed what was written; `jsonText` writes that again.
 */
import { InferyardError } from "../../contract/errors.ts";
import { type JsonBuilder, readJsonValue } from "./json-reader.ts";

/** A number that JavaScript would write differently. */
export class JsonNumber {
  /** Text of the number in JSON. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The nearest double. */
  get value(): number {
    return Number(this.text);
  }

  getValue(): number {
    return this.value;
  }

  /** For JSON.stringify. */
  toJSON(): number {
    return this.value;
  }
}

/** Nested objects and lists of an exact value; and numbers that JavaScript would write differently and keys that look like integers, which take memory and time. */
const [maxDepth, maxChanged] = [1000, 65_536];

/** What was written, of an object or list that JSON.parse has changed. Not enumerable: copies and JSON.stringify do not see it. */
const written = Symbol("written JSON");
/** The keys of an object in the order of the JSON text, where Object.keys gives another order. */
const order = Symbol("order of keys");

/**
 * The value of JSON.parse; texts of values that JSON.parse changed are attached for `jsonText`. A copy of an object loses the texts attached to the object, and
 * keeps the texts attached to its members. Throws SyntaxError for invalid JSON, INPUT_INVALID for more than 1,000 nested objects and lists, and LIMIT_EXCEEDED
 * for more than 65,536 numbers that JSON.parse changes and keys that look like integers.
 */
export function parseJson(json: string): unknown {
  const value: unknown = JSON.parse(json);
  keepWritten(value, json);
  return value;
}

/** Attaches the original texts to a value of JSON.parse, as `parseJson` does. */
export function keepWritten(value: unknown, json: string): void {
  if (typeof value !== "object" || value === null) return;
  const builder = new ExactBuilder();
  const exact = readJsonValue(json, builder);
  if (builder.changed.size > 0) attach(value, exact, builder.changed);
}

/** The value of a JSON text with numbers that JavaScript would write differently as JsonNumber; `getKeys` gives the order of keys. Throws as `parseJson`. */
export function parseExactJson(json: string): unknown {
  JSON.parse(json); // the reader leaves it to JSON.parse what is valid
  return readJsonValue(json, new ExactBuilder());
}

/** Whether a value is an object of JSON: no list, and no JsonNumber. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** The keys of an object, in the order in which `parseExactJson` read them. */
export function getKeys(value: object): readonly string[] {
  return (value as { readonly [order]?: readonly string[] })[order] ?? Object.keys(value);
}

/** The members of an object, in the order in which `parseExactJson` read them. */
export function getEntries(value: object): readonly (readonly [string, unknown])[] {
  return getKeys(value).map((key) => [key, (value as Readonly<Record<string, unknown>>)[key]] as const);
}

/** JSON.stringify, with numbers and keys as they were written, and BigInt as integers. */
export function jsonText(value: unknown): string {
  return toText(value) ?? "null";
}

/** Whether a JSON text has the value, within the precision of JavaScript: then the text can be used instead of the value. */
export function isTextOf(json: unknown, value: unknown): json is string {
  if (typeof json !== "string") return false;
  try {
    return JSON.stringify(JSON.parse(json)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/** Whether JavaScript would write the value of a JSON text differently from the compact text. False for invalid JSON. */
export function isChanged(json: string): boolean {
  try {
    return JSON.stringify(JSON.parse(json)) !== json;
  } catch {
    return false;
  }
}

/** Undefined for what JSON leaves out: undefined, functions and symbols. */
function toText(value: unknown): string | undefined {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "object") return value === null ? "null" : containerText(value);
  return undefined;
}

function containerText(value: object): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  const { [written]: exact, toJSON } = value as { readonly [written]?: unknown; readonly toJSON?: unknown };
  if (exact !== undefined) return toText(exact);
  if (typeof toJSON === "function") return toText(toJSON.call(value));
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) text += `${text === "" ? "" : ","}${toText(item) ?? "null"}`;
    return `[${text}]`;
  }
  for (const key of getKeys(value)) {
    const member = toText((value as Readonly<Record<string, unknown>>)[key]);
    if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${member}`;
  }
  return `{${text}}`;
}

/** Attaches to the containers of a value what was written. Both have the same members. */
function attach(value: unknown, exact: unknown, changed: ReadonlySet<unknown>): void {
  if (typeof value !== "object" || value === null || !changed.has(exact)) return;
  Object.defineProperty(value, written, { value: exact });
  for (const key of Object.keys(value)) attach(Reflect.get(value, key), Reflect.get(exact as object, key), changed);
}

/** Makes exact values. */
class ExactBuilder implements JsonBuilder<unknown> {
  readonly maxDepth = maxDepth;
  /** Objects and lists that contain what JSON.parse changes. */
  readonly changed = new Set<unknown>();
  /** Numbers that JSON.parse changes, and keys that look like integers. */
  #changes = 0;

  number(text: string): number | JsonNumber {
    const value = Number(text);
    if (String(value) === text) return value;
    this.#count();
    return new JsonNumber(text);
  }

  array(items: unknown[]): unknown[] {
    if (items.some((item) => this.#isChanged(item))) this.changed.add(items);
    return items;
  }

  object(names: readonly string[], values: readonly unknown[]): object {
    const object: Record<string, unknown> = {};
    let isOrdered = true;
    for (const [index, name] of names.entries()) {
      if (name === "__proto__")
        Object.defineProperty(object, name, { value: values[index], configurable: true, enumerable: true, writable: true });
      else object[name] = values[index];
      if (!isIndex(name)) continue;
      isOrdered = false;
      this.#count();
    }
    if (!isOrdered) {
      const keys = [...new Set(names)];
      isOrdered = Object.keys(object).every((key, index) => key === keys[index]);
      if (!isOrdered) Object.defineProperty(object, order, { value: keys });
    }
    // Of a name that occurs several times, the first value may be what was changed: what is written then is the same.
    if (!isOrdered || values.some((value) => this.#isChanged(value))) this.changed.add(object);
    return object;
  }

  tooDeep(): InferyardError {
    return new InferyardError("INPUT_INVALID", `the JSON nests more than ${maxDepth} objects and lists`, {
      remedy: "send flatter values",
    });
  }

  #count(): void {
    this.#changes += 1;
    if (this.#changes > maxChanged) throw tooManyChanges();
  }

  #isChanged(value: unknown): boolean {
    return value instanceof JsonNumber || (typeof value === "object" && value !== null && this.changed.has(value));
  }
}

function tooManyChanges(): InferyardError {
  const what =
    "numbers that JavaScript writes differently, such as 1.0 and integers above 2^53, and keys that look like integers";
  return new InferyardError("LIMIT_EXCEEDED", `the JSON has more than ${maxChanged} ${what}`, {
    remedy: "send fewer of them",
    data: { limit: maxChanged },
  });
}

/** Whether JavaScript puts a key before others. */
function isIndex(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 48 && first <= 57;
}
