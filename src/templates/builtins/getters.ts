/** The arguments `attribute`, `case_sensitive` and `default` of filters that look into items. */
import { Tuple, Undefined, type Value, getText } from "../values/values.ts";
import type { Bound } from "./arguments.ts";
import type { Environment } from "./environment.ts";

/** Gets a value out of an item. */
export type Getter = (item: Value) => Value;

/** Gets the attribute "a.b.0" of an item; the item itself without an attribute. `byDefault` replaces each missing part. */
export function attributeGetter(attribute: Value, { lookup, budget }: Environment, byDefault: Value = null): Getter {
  const parts = getParts(attribute);
  return (item) => {
    let value = item;
    for (const part of parts) {
      budget.step();
      value = lookup.item(value, part);
      if (byDefault !== null && value instanceof Undefined) value = byDefault;
    }
    return value;
  };
}

/** Gets the sort key of an item: one attribute, or several separated by commas. */
export function sortKey(given: Bound, environment: Environment): Getter {
  const attribute = given.optional("attribute") ?? null;
  const names = getText(attribute)?.split(",") ?? [attribute];
  const getters = names.map((name) => attributeGetter(name, environment));
  const fold = caseFolding(given, environment);
  return (item) => new Tuple(getters.map((get) => fold(get(item))));
}

/** Texts in lower case, unless `case_sensitive` is true; any other value as it is. */
export function caseFolding(given: Bound, { budget }: Environment): Getter {
  if (given.isTrue("case_sensitive")) return (value) => value;
  return (value) => {
    const text = getText(value);
    if (text === undefined) return value;
    budget.text(text.length);
    return text.toLowerCase();
  };
}

function getParts(attribute: Value): readonly Value[] {
  if (attribute === null) return [];
  const text = getText(attribute);
  if (text === undefined) return [attribute];
  return text.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
