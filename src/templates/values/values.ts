/**
 * Values of templates, with the types of Python. None is null, bool is boolean, int is number (bigint beyond 2^53 - 1), str is string; the other types are
 * classes. No value changes once it is made, since transformers renders in Jinja2's immutable sandbox; namespaces, loops, cyclers and iterators do.
 */

/** A value of a template. */
export type TemplateValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | Markup
  | List
  | Tuple
  | Dict
  | View
  | Range
  | Stream
  | Callable
  | Undefined
  | Namespace
  | ObjectValue;

/** A float, which a number cannot be: 1.0 is not 1. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A text that is safe in HTML (markupsafe). Text added to it is escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A list value of Python. */
export class List {
  readonly items: readonly TemplateValue[];

  constructor(items: readonly TemplateValue[]) {
    this.items = items;
  }
}

/** A tuple. `names`: names of its items, where it is a named one. */
export class Tuple {
  readonly items: readonly TemplateValue[];
  readonly names: readonly string[];

  constructor(items: readonly TemplateValue[], names: readonly string[] = []) {
    this.items = items;
    this.names = names;
  }
}

/** A key of a dictionary as a key of a Map: equal values have the same. */
export type HashKey = string | number | bigint | null | TemplateValue;

/** A dictionary, in the order in which its keys were added. */
export class Dict {
  readonly #values = new Map<HashKey, TemplateValue>();
  /** Keys that are not their own hash: True, 1.0, tuples. */
  #originals: Map<HashKey, TemplateValue> | undefined;

  get size(): number {
    return this.#values.size;
  }

  get(hash: HashKey): TemplateValue | undefined {
    return this.#values.get(hash);
  }

  has(hash: HashKey): boolean {
    return this.#values.has(hash);
  }

  /** Sets the value of a key. `key`: the key itself. An existing key keeps its position and its first form. */
  set(hash: HashKey, key: TemplateValue, value: TemplateValue): void {
    if (hash !== key && !this.#values.has(hash)) (this.#originals ??= new Map<HashKey, TemplateValue>()).set(hash, key);
    this.#values.set(hash, value);
  }

  keys(): TemplateValue[] {
    const originals = this.#originals;
    const hashes = [...this.#values.keys()] as TemplateValue[];
    return originals === undefined ? hashes : hashes.map((hash) => originals.get(hash) ?? hash);
  }

  values(): TemplateValue[] {
    return [...this.#values.values()];
  }

  entries(): (readonly [TemplateValue, TemplateValue])[] {
    const originals = this.#originals;
    const entries = [...this.#values] as [TemplateValue, TemplateValue][];
    return originals === undefined ? entries : entries.map(([hash, value]) => [originals.get(hash) ?? hash, value] as const);
  }
}

/** Result of `keys()`, `values()` or `items()` of a dictionary. */
export class View {
  /** Name of its type in Python. */
  readonly type: string;
  readonly items: readonly TemplateValue[];

  constructor(type: string, items: readonly TemplateValue[]) {
    this.type = type;
    this.items = items;
  }
}

/** A range of integers, which is not made before it is read. */
export class Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly length: number;

  constructor(start: number, stop: number, step: number) {
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.length = Math.max(0, Math.ceil((stop - start) / step));
  }

  at(index: number): number {
    return this.start + index * this.step;
  }
}

/** An iterator: read once, from its beginning. */
export class Stream {
  /** Name of its type in Python. */
  readonly type: string;
  /** The next item; undefined at the end. */
  readonly next: () => TemplateValue | undefined;

  constructor(type: string, next: () => TemplateValue | undefined) {
    this.type = type;
    this.next = next;
  }
}

/** Arguments of a call. */
export interface Arguments {
  readonly positional: readonly TemplateValue[];
  readonly named: ReadonlyMap<string, TemplateValue>;
}

/** A function, a method or a macro. */
export class Callable {
  readonly name: string;
  /** Name of its type in Python. */
  readonly type: string;
  readonly call: (given: Arguments) => TemplateValue;

  constructor(name: string, call: (given: Arguments) => TemplateValue, type = "builtin_function_or_method") {
    this.name = name;
    this.call = call;
    this.type = type;
  }
}

/** A value that is not there. It prints nothing, and most operations on it fail with its message. */
export class Undefined {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The object of `namespace()`: the only one whose attributes a template sets. */
export class Namespace {
  readonly attributes: Map<string, TemplateValue>;

  constructor(attributes: Map<string, TemplateValue>) {
    this.attributes = attributes;
  }
}

/** Another object with attributes: `loop`, a cycler. */
export class ObjectValue {
  /** Name of its type in Python. */
  readonly type: string;
  /** The value of an attribute; undefined if it has none of this name. */
  readonly attribute: (name: string) => TemplateValue | undefined;
  readonly call: ((given: Arguments) => TemplateValue) | undefined;

  constructor(type: string, attribute: (name: string) => TemplateValue | undefined, call?: (given: Arguments) => TemplateValue) {
    this.type = type;
    this.attribute = attribute;
    this.call = call;
  }
}

/** The text of a str or Markup; undefined of other values. */
export function getText(value: TemplateValue): string | undefined {
  if (typeof value === "string") return value;
  return value instanceof Markup ? value.text : undefined;
}

/** The integer of an int or bool; undefined of other values. */
export function toInteger(value: TemplateValue): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return typeof value === "boolean" ? Number(value) : undefined;
}

/** Name of a value's type, as Python's messages have it. */
export function typeName(value: TemplateValue): string {
  if (value === null) return "NoneType";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || typeof value === "bigint") return "int";
  if (typeof value === "string") return "str";
  if (value instanceof Float) return "float";
  if (value instanceof Markup) return "Markup";
  if (value instanceof List) return "list";
  if (value instanceof Tuple) return "tuple";
  if (value instanceof Dict) return "dict";
  if (value instanceof Range) return "range";
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof Namespace) return "Namespace";
  return value.type;
}
