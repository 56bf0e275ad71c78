/** Attributes and items of values, within Jinja2's immutable sandbox. */
import { TemplateFailure } from "../errors.ts";
import { areEqual, computeHash } from "../values/comparison.ts";
import { iterate } from "../values/iteration.ts";
import { toCharacters, hasPairs } from "../values/searching.ts";
import { represent } from "../values/text.ts";
import {
  type Arguments,
  Callable,
  Dict,
  Float,
  List,
  Markup,
  Namespace,
  ObjectValue,
  Range,
  Tuple,
  Undefined,
  type TemplateValue,
  View,
  toInteger,
  getText,
  typeName,
} from "../values/values.ts";
import { Bound } from "./arguments.ts";
import { type MethodContext, textMethods } from "./text-methods.ts";

/** Methods that change their object: in the sandbox they are not there. */
const mutators: Readonly<Record<"dict" | "list", ReadonlySet<string>>> = {
  dict: new Set(["clear", "pop", "popitem", "setdefault", "update"]),
  list: new Set(["append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"]),
};

/** `of.name`: an attribute, else an item. */
export function getAttribute(of: TemplateValue, name: string, context: MethodContext): TemplateValue {
  if (of instanceof Undefined) throw new TemplateFailure(of.message);
  const attribute = ownAttribute(of, name, context);
  if (attribute !== undefined) return attribute;
  const item = plainItem(of, name, context);
  return item === undefined ? missingAttribute(of, name) : item;
}

/** `of[key]`: an item, else an attribute. */
export function getItem(of: TemplateValue, key: TemplateValue, context: MethodContext): TemplateValue {
  if (of instanceof Undefined) throw new TemplateFailure(of.message);
  const item = plainItem(of, key, context);
  if (item !== undefined) return item;
  const name = getText(key);
  const found = name === undefined ? undefined : ownAttribute(of, name, context);
  if (found !== undefined) return found;
  if (name !== undefined) return missingAttribute(of, name);
  if (key instanceof Slice) throw new TemplateFailure(`'${typeName(of)}' object has no slices`);
  const type = of === null ? "None" : `${typeName(of)} object`;
  return new Undefined(`${type} has no element ${represent(key, context.budget)}`);
}

function missingAttribute(of: TemplateValue, name: string): Undefined {
  const type = of === null ? "None" : `${typeName(of)} object`;
  return new Undefined(`'${type}' has no attribute '${name}'`);
}

/** An attribute that is not an item; undefined if there is none of this name. */
export function ownAttribute(of: TemplateValue, name: string, context: MethodContext): TemplateValue | undefined {
  if (name.startsWith("_")) return name.startsWith("__") ? unsafe(of, name) : undefined;
  const text = getText(of);
  if (text !== undefined) return textMethod(of, text, name, context);
  if (of instanceof Dict) return mutators.dict.has(name) ? unsafe(of, name) : dictMethod(of, name, context);
  if (of instanceof List) return mutators.list.has(name) ? unsafe(of, name) : listMethod(of, name, context);
  if (of instanceof Tuple) {
    const named = of.names.indexOf(name);
    return named === -1 ? sequenceMethod(of, name, context) : of.items[named];
  }
  if (of instanceof Range) return rangeAttribute(of, name, context);
  if (of instanceof Namespace) return of.attributes.get(name);
  if (of instanceof ObjectValue) return of.attribute(name);
  if (of instanceof Float) return floatAttribute(of, name);
  return toInteger(of) === undefined ? undefined : integerAttribute(of, name);
}

function unsafe(of: TemplateValue, name: string): Undefined {
  return new Undefined(`access to attribute '${name}' of '${typeName(of)}' object is unsafe.`);
}

function textMethod(of: TemplateValue, text: string, name: string, context: MethodContext): Callable | undefined {
  const run = textMethods.get(name);
  if (run === undefined) return undefined;
  return new Callable(name, (given) => {
    const result = run(text, given, context);
    return of instanceof Markup ? asMarkup(result) : result;
  });
}

/** What a method of Markup gives: its texts are Markup too. */
function asMarkup(value: TemplateValue): TemplateValue {
  if (typeof value === "string") return new Markup(value);
  if (value instanceof List) return new List(value.items.map(asMarkup));
  return value instanceof Tuple ? new Tuple(value.items.map(asMarkup)) : value;
}

/** A method that takes arguments of these names. */
function method(name: string, names: readonly string[], run: (given: Bound) => TemplateValue): Callable {
  return new Callable(name, (given: Arguments) => run(new Bound(name, names, given)));
}

function dictMethod(of: Dict, name: string, { budget }: MethodContext): Callable | undefined {
  const view = (type: string, items: () => readonly TemplateValue[]): Callable =>
    method(name, [], () => {
      budget.items(2 * of.size);
      return new View(type, items());
    });
  switch (name) {
    case "get":
      return method(
        name,
        ["key", "default"],
        (given) => of.get(computeHash(given.value("key"), budget)) ?? noneOf(of, given, budget),
      );
    case "items":
      return view("dict_items", () => of.entries().map((entry) => new Tuple(entry)));
    case "keys":
      return view("dict_keys", () => of.keys());
    case "values":
      return view("dict_values", () => of.values());
    case "copy":
      return method(name, [], () => of);
    case "fromkeys":
      return method(name, ["iterable", "value"], (given) => {
        const made = new Dict();
        const next = iterate(given.value("iterable"), budget);
        for (let key = next(); key !== undefined; key = next()) {
          budget.step();
          budget.items(4);
          made.set(computeHash(key, budget), key, given.optional("value") ?? null);
        }
        return made;
      });
    default:
      return undefined;
  }
}

/** What `get` gives for a key that has the value None, or is not there. */
function noneOf(of: Dict, given: Bound, budget: MethodContext["budget"]): TemplateValue {
  return of.has(computeHash(given.value("key"), budget)) ? null : (given.optional("default") ?? null);
}

function listMethod(of: List, name: string, context: MethodContext): Callable | undefined {
  return name === "copy" ? method(name, [], () => of) : sequenceMethod(of, name, context);
}

function sequenceMethod(of: List | Tuple | Range, name: string, { budget }: MethodContext): Callable | undefined {
  if (name !== "count" && name !== "index") return undefined;
  return method(name, ["value"], (given) => {
    const wanted = given.value("value");
    const next = iterate(of, budget);
    let count = 0;
    let index = 0;
    for (let item = next(); item !== undefined; item = next(), index += 1) {
      budget.step();
      if (!areEqual(item, wanted, budget)) continue;
      if (name === "index") return index;
      count += 1;
    }
    if (name === "index") throw new TemplateFailure(`${represent(wanted, budget)} is not in list`);
    return count;
  });
}

function rangeAttribute(of: Range, name: string, context: MethodContext): TemplateValue | undefined {
  return name === "start" || name === "stop" || name === "step" ? of[name] : sequenceMethod(of, name, context);
}

function integerAttribute(of: TemplateValue, name: string): TemplateValue | undefined {
  const integer = toInteger(of) ?? 0;
  if (name === "real" || name === "numerator") return integer;
  if (name === "imag") return 0;
  if (name === "denominator") return 1;
  if (name !== "bit_length") return undefined;
  return method(name, [], () => (Number(integer) === 0 ? 0 : BigInt(integer < 0 ? -integer : integer).toString(2).length));
}

function floatAttribute(of: Float, name: string): TemplateValue | undefined {
  if (name === "real") return of;
  if (name === "imag") return new Float(0);
  return name === "is_integer" ? method(name, [], () => Number.isInteger(of.value)) : undefined;
}

/** The index `start:stop:step`. */
export class Slice extends ObjectValue {
  readonly start: TemplateValue;
  readonly stop: TemplateValue;
  readonly step: TemplateValue;

  constructor(start: TemplateValue, stop: TemplateValue, step: TemplateValue) {
    super("slice", () => undefined);
    this.start = start;
    this.stop = stop;
    this.step = step;
  }
}

/** An item by its key or index; undefined where there is none, and where the value has no items. */
function plainItem(of: TemplateValue, key: TemplateValue, { budget }: MethodContext): TemplateValue | undefined {
  if (of instanceof Dict)
    return key instanceof List || key instanceof Dict || key instanceof Slice ? undefined : of.get(computeHash(key, budget));
  const isSequence =
    typeof of === "string" || of instanceof List || of instanceof Tuple || of instanceof Range || of instanceof Markup;
  if (!isSequence) return undefined;
  const index = key instanceof Slice ? undefined : toInteger(key);
  if (!(key instanceof Slice) && index === undefined) return undefined;
  if (of instanceof Range) return key instanceof Slice ? sliceOfRange(of, key) : at(of.length, index, (each) => of.at(each));
  if (of instanceof List || of instanceof Tuple) {
    const { items } = of;
    if (!(key instanceof Slice)) return at(items.length, index, (each) => items[each]);
    const part = sliced(items, key, budget);
    return of instanceof List ? new List(part) : new Tuple(part);
  }
  const text = getText(of) ?? "";
  if (!hasPairs(text, budget)) {
    if (!(key instanceof Slice)) return at(text.length, index, (each) => text.charAt(each));
    const { start, stop, step } = getBounds(key, text.length);
    if (step === 1) {
      const part = text.slice(start, Math.max(start, stop));
      return of instanceof Markup ? new Markup(part) : part;
    }
  }
  const characters = toCharacters(text, budget);
  if (!(key instanceof Slice)) return at(characters.length, index, (each) => characters[each]);
  const part = sliced(characters, key, budget).join("");
  return of instanceof Markup ? new Markup(part) : part;
}

function at(
  length: number,
  index: number | bigint | undefined,
  get: (index: number) => TemplateValue | undefined,
): TemplateValue | undefined {
  const number = Number(index);
  const place = number < 0 ? number + length : number;
  return place >= 0 && place < length ? get(place) : undefined;
}

/** Where a slice of a sequence of this length begins and ends. */
function getBounds(
  { start, stop, step }: Slice,
  length: number,
): { readonly start: number; readonly stop: number; readonly step: number } {
  const by = step === null ? 1 : indexOf(step);
  if (by === 0) throw new TemplateFailure("slice step cannot be zero");
  const [lowest, highest] = by > 0 ? [0, length] : [-1, length - 1];
  const clamp = (value: TemplateValue, byDefault: number): number => {
    if (value === null) return byDefault;
    const index = indexOf(value);
    return Math.min(highest, Math.max(lowest, index < 0 ? index + length : index));
  };
  return { start: clamp(start, by > 0 ? lowest : highest), stop: clamp(stop, by > 0 ? highest : lowest), step: by };
}

function indexOf(value: TemplateValue): number {
  const index = toInteger(value);
  if (index === undefined) throw new TemplateFailure("slice indices must be integers or None or have an __index__ method");
  return Number(index);
}

function sliced<Item>(items: readonly Item[], slice: Slice, budget: MethodContext["budget"]): Item[] {
  const { start, stop, step } = getBounds(slice, items.length);
  const length = Math.max(0, Math.ceil((stop - start) / step));
  budget.items(length);
  if (step === 1) return items.slice(start, Math.max(start, stop));
  budget.step(length);
  const part: Item[] = [];
  for (let index = 0; index < length; index += 1) part.push(items[start + index * step] as Item);
  return part;
}

function sliceOfRange(of: Range, slice: Slice): Range {
  const { start, stop, step } = getBounds(slice, of.length);
  return new Range(of.at(start), of.at(stop), of.step * step);
}
