/** Filters of lists, dictionaries and iterators. */
import { TemplateFailure } from "../errors.ts";
import { areEqual, compare, computeHash, isTrue } from "../values/comparison.ts";
import { generator, isIterable, getItems, iterate, getLength, getStream } from "../values/iteration.ts";
import { toText } from "../values/text.ts";
import {
  type Arguments,
  Dict,
  type HashKey,
  List,
  Range,
  Stream,
  Tuple,
  Undefined,
  type TemplateValue,
  View,
  getText,
  typeName,
} from "../values/values.ts";
import type { Bound } from "./arguments.ts";
import { type TemplateEnvironment, type Filter, filter } from "./environment.ts";
import { type Getter, attributeGetter, caseFolding, sortKey } from "./getters.ts";
import { arithmetic } from "./operators.ts";
import { joinTexts } from "./text-methods.ts";

const length = (value: TemplateValue, _given: Bound, { budget }: TemplateEnvironment): TemplateValue => {
  const found = getLength(value, budget);
  if (found === undefined) throw new TemplateFailure(`object of type '${typeName(value)}' has no len()`);
  return found;
};

/** Filters of sequences by name. */
export const sequenceFilters: readonly (readonly [string, Filter])[] = [
  filter("length", [], length),
  filter("count", [], length),
  filter("list", [], (value, _given, { budget }) => new List(getItems(value, budget))),
  filter(
    "first",
    [],
    (value, _given, { budget }) => iterate(value, budget)() ?? new Undefined("No first item, sequence was empty."),
  ),
  filter("last", [], (value, _given, environment) => {
    const items = reversible(value, environment);
    return items.at(-1) ?? new Undefined("No last item, sequence was empty.");
  }),
  filter("reverse", [], reverse),
  filter("join", ["d", "attribute"], join),
  filter("items", [], (value) => {
    if (value instanceof Undefined) return getStream("generator", []);
    if (!(value instanceof Dict)) return failLater("Can only get item pairs from a mapping.");
    return generator(function* items() {
      for (const entry of value.entries()) yield new Tuple(entry);
    });
  }),
  filter("dictsort", ["case_sensitive", "by", "reverse"], dictSort),
  filter("sort", ["reverse", "case_sensitive", "attribute"], (value, given, environment) => {
    const key = sortKey(given, environment);
    return new List(sorted(getItems(value, environment.budget), key, given.isTrue("reverse"), environment));
  }),
  filter("unique", ["case_sensitive", "attribute"], unique),
  filter("min", ["case_sensitive", "attribute"], (value, given, environment) => extreme(value, given, environment, -1)),
  filter("max", ["case_sensitive", "attribute"], (value, given, environment) => extreme(value, given, environment, 1)),
  filter("sum", ["attribute", "start"], (value, given, environment) => {
    const get = attributeGetter(given.optional("attribute") ?? null, environment);
    let sum: TemplateValue = given.optional("start") ?? 0;
    if (getText(sum) !== undefined) throw new TemplateFailure("sum() can't sum strings [use ''.join(seq) instead]");
    for (const item of getItems(value, environment.budget)) sum = arithmetic("+", sum, get(item), environment.budget);
    return sum;
  }),
  filter("groupby", ["attribute", "default", "case_sensitive"], groupBy),
  filter("batch", ["linecount", "fill_with"], batch),
  filter("slice", ["slices", "fill_with"], slices),
  ["map", map],
  ["select", (value, given, environment) => select(value, given, environment, { byAttribute: false, wanted: true })],
  ["reject", (value, given, environment) => select(value, given, environment, { byAttribute: false, wanted: false })],
  ["selectattr", (value, given, environment) => select(value, given, environment, { byAttribute: true, wanted: true })],
  ["rejectattr", (value, given, environment) => select(value, given, environment, { byAttribute: true, wanted: false })],
];

/** An iterator that fails when it is read, as generators of Python do. */
function failLater(message: string): Stream {
  return new Stream("generator", () => {
    throw new TemplateFailure(message);
  });
}

function reversible(value: TemplateValue, { budget }: TemplateEnvironment): readonly TemplateValue[] {
  if (value instanceof Stream) throw new TemplateFailure(`'${value.type}' object is not reversible`);
  return getItems(value, budget);
}

function reverse(value: TemplateValue, _given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  const items = getItems(value, budget);
  budget.items(items.length);
  const backwards = items.toReversed();
  if (getText(value) !== undefined) return (backwards as string[]).join("");
  if (value instanceof Stream || value instanceof Undefined) return new List(backwards);
  const type = value instanceof List ? "list_reverseiterator" : "reversed";
  return getStream(type, backwards);
}

function join(value: TemplateValue, given: Bound, environment: TemplateEnvironment): TemplateValue {
  const { budget } = environment;
  const get = attributeGetter(given.optional("attribute") ?? null, environment);
  const texts = getItems(value, budget).map((item) => {
    budget.step();
    return toText(get(item), budget);
  });
  return joinTexts(toText(given.optional("d") ?? "", budget), texts, budget);
}

function dictSort(value: TemplateValue, given: Bound, environment: TemplateEnvironment): TemplateValue {
  const by = given.textOr("by", "key");
  if (by !== "key" && by !== "value") throw new TemplateFailure('You can only sort by either "key" or "value"');
  if (!(value instanceof Dict)) throw new TemplateFailure(`'${typeName(value)}' object has no attribute 'items'`);
  const fold = caseFolding(given, environment);
  const key: Getter = (item) => fold((item as Tuple).items[by === "key" ? 0 : 1] ?? null);
  const entries = value.entries().map((entry) => new Tuple(entry));
  return new List(sorted(entries, key, given.isTrue("reverse"), environment));
}

/** sorted(): stable, also backwards. */
function sorted(
  items: readonly TemplateValue[],
  key: Getter,
  isReverse: boolean,
  { budget }: TemplateEnvironment,
): readonly TemplateValue[] {
  budget.items(3 * items.length);
  const keyed = items.map((item) => [key(item), item] as const);
  const direction = isReverse ? -1 : 1;
  keyed.sort(([left], [right]) => {
    budget.step();
    return direction * compare(left, right, budget) || 0;
  });
  return keyed.map(([, item]) => item);
}

function unique(value: TemplateValue, given: Bound, environment: TemplateEnvironment): TemplateValue {
  const { budget } = environment;
  const fold = caseFolding(given, environment);
  const get = attributeGetter(given.optional("attribute") ?? null, environment);
  return generator(function* distinct() {
    const seen = new Set<HashKey>();
    const next = iterate(value, budget);
    for (let item = next(); item !== undefined; item = next()) {
      budget.step();
      const hash = computeHash(fold(get(item)), budget);
      if (seen.has(hash)) continue;
      budget.items(4);
      seen.add(hash);
      yield item;
    }
  });
}

function extreme(value: TemplateValue, given: Bound, environment: TemplateEnvironment, direction: 1 | -1): TemplateValue {
  const { budget } = environment;
  const fold = caseFolding(given, environment);
  const get = attributeGetter(given.optional("attribute") ?? null, environment);
  let best: { readonly item: TemplateValue; readonly key: TemplateValue } | undefined;
  for (const item of getItems(value, budget)) {
    budget.step();
    const key = fold(get(item));
    if (best === undefined || direction * compare(key, best.key, budget, direction > 0 ? ">" : "<") > 0) best = { item, key };
  }
  return best === undefined ? new Undefined("No aggregated item, sequence was empty.") : best.item;
}

function groupBy(value: TemplateValue, given: Bound, environment: TemplateEnvironment): TemplateValue {
  const { budget } = environment;
  const fold = caseFolding(given, environment);
  const get = attributeGetter(given.value("attribute"), environment, given.optional("default") ?? null);
  const key: Getter = (item) => fold(get(item));
  const groups: { readonly key: TemplateValue; readonly items: TemplateValue[] }[] = [];
  for (const item of sorted(getItems(value, budget), key, false, environment)) {
    const found = key(item);
    const last = groups.at(-1);
    if (last !== undefined && areEqual(last.key, found, budget)) last.items.push(item);
    else groups.push({ key: found, items: [item] });
  }
  const names = ["grouper", "list"];
  // The key as the first item has it, not in lower case.
  return new List(groups.map(({ items }) => new Tuple([get(items[0] ?? null), new List(items)], names)));
}

function batch(value: TemplateValue, given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  const size = given.integer("linecount");
  const fill = given.optional("fill_with") ?? null;
  return generator(function* batches() {
    let line: TemplateValue[] = [];
    const next = iterate(value, budget);
    for (let item = next(); item !== undefined; item = next()) {
      budget.step();
      budget.items(1);
      if (line.length === size) {
        yield new List(line);
        line = [];
      }
      line.push(item);
    }
    if (line.length === 0) return;
    const missing = fill === null ? 0 : Math.max(0, size - line.length);
    budget.items(missing);
    budget.step(missing);
    for (let count = 0; count < missing; count += 1) line.push(fill);
    yield new List(line);
  });
}

function slices(value: TemplateValue, given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  const count = given.integer("slices");
  const fill = given.optional("fill_with") ?? null;
  return generator(function* parts() {
    const items = getItems(value, budget);
    if (count === 0) throw new TemplateFailure("integer division or modulo by zero");
    const size = Math.floor(items.length / count);
    const longer = items.length % count;
    let from = 0;
    for (let index = 0; index < count; index += 1) {
      const to = from + size + (index < longer ? 1 : 0);
      budget.step();
      budget.items(to - from + 2);
      const part = items.slice(from, to);
      yield new List(fill !== null && index >= longer ? [...part, fill] : part);
      from = to;
    }
  });
}

function map(value: TemplateValue, given: Arguments, environment: TemplateEnvironment): TemplateValue {
  const change = mapper(given, environment);
  return lazily(value, environment, (item) => change(item));
}

function mapper({ positional, named }: Arguments, environment: TemplateEnvironment): (item: TemplateValue) => TemplateValue {
  const [name, ...rest] = positional;
  if (name === undefined && named.has("attribute")) {
    const other = [...named.keys()].find((key) => key !== "attribute" && key !== "default");
    if (other !== undefined) return fails(`Unexpected keyword argument '${other}'`);
    return attributeGetter(named.get("attribute") ?? null, environment, named.get("default") ?? null);
  }
  const filterName = name === undefined ? undefined : getText(name);
  if (filterName === undefined) return fails("map requires a filter argument");
  return (item) => environment.callFilter(filterName, item, { positional: rest, named });
}

function fails(message: string): () => never {
  return () => {
    throw new TemplateFailure(message);
  };
}

/** `byAttribute`: whether the first argument names an attribute. `wanted`: whether items are kept for which the test holds. */
interface Selection {
  readonly byAttribute: boolean;
  readonly wanted: boolean;
}

function select(
  value: TemplateValue,
  { positional, named }: Arguments,
  environment: TemplateEnvironment,
  { byAttribute, wanted }: Selection,
): TemplateValue {
  const [attribute] = positional;
  const [name, ...rest] = byAttribute ? positional.slice(1) : positional;
  const get: Getter = !byAttribute
    ? (item) => item
    : attribute === undefined
      ? fails("Missing parameter for attribute name")
      : attributeGetter(attribute, environment);
  const test = name === undefined ? undefined : toText(name, environment.budget);
  return lazily(value, environment, (item) => {
    const found = get(item);
    const holds = test === undefined ? isTrue(found) : environment.callTest(test, found, { positional: rest, named });
    return holds === wanted ? item : undefined;
  });
}

/** Makes an item of each item of a value, when it is read. An item for which nothing is made is left out. */
function lazily(
  value: TemplateValue,
  { budget }: TemplateEnvironment,
  change: (item: TemplateValue) => TemplateValue | undefined,
): Stream {
  if (!isIterable(value) && isTrue(value)) return failLater(`'${typeName(value)}' object is not iterable`);
  let next: (() => TemplateValue | undefined) | undefined;
  return new Stream("generator", () => {
    next ??= isTrue(value) ? iterate(value, budget) : () => undefined;
    for (let item = next(); item !== undefined; item = next()) {
      budget.step();
      const made = change(item);
      if (made !== undefined) return made;
    }
    return undefined;
  });
}

/** Whether a value has `len` and items by index, as the test `sequence` checks. */
export function isSequenceValue(value: TemplateValue): boolean {
  if (value instanceof View) return false;
  return (
    getText(value) !== undefined ||
    value instanceof List ||
    value instanceof Tuple ||
    value instanceof Dict ||
    value instanceof Range ||
    value instanceof Undefined
  );
}
