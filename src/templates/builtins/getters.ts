/** The arguments `attribute`, `case_sensitive` and `default` of filters that look into items. */
import { Tuple, Undefined, type TemplateValue, getText } from "../values/values.ts";
import type { Bound } from "./arguments.ts";
import type { TemplateEnvironment } from "./environment.ts";

/** Gets a value out of an item. */
export type Getter = (item: TemplateValue) => TemplateValue;

/** Gets the attribute "a.b.0" of an item; the item itself without an attribute. `byDefault` replaces each missing part. */
export function attributeGetter(
  attribute: TemplateValue,
  { lookup, budget }: TemplateEnvironment,
  byDefault: TemplateValue = null,
): Getter {
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
export function sortKey(given: Bound, environment: TemplateEnvironment): Getter {
  const attribute = given.optional("attribute") ?? null;
  const names = getText(attribute)?.split(",") ?? [attribute];
  const getters = names.map((name) => attributeGetter(name, environment));
  const fold = caseFolding(given, environment);
  return (item) => new Tuple(getters.map((get) => fold(get(item))));
}

/** Texts in lower case, unless `case_sensitive` is true; any other value as it is. */
export function caseFolding(given: Bound, { budget }: TemplateEnvironment): Getter {
  if (given.isTrue("case_sensitive")) return (value) => value;
  return (value) => {
    const text = getText(value);
    if (text === undefined) return value;
    budget.text(text.length);
    return text.toLowerCase();
  };
}

function getParts(attribute: TemplateValue): readonly TemplateValue[] {
  if (attribute === null) return [];
  const text = getText(attribute);
  if (text === undefined) return [attribute];
  return text.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
