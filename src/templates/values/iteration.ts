/** Iterating over values, and their lengths. */
import type { Budget } from "../budget.ts";
import { TemplateFailure } from "../errors.ts";
import { areEqual, computeHash } from "./comparison.ts";
import { Searcher, toCharacters, lengthOfText } from "./searching.ts";
import { Dict, List, Range, Stream, Tuple, Undefined, type TemplateValue, View, getText, typeName } from "./values.ts";

/** Whether `iterate` accepts a value. */
export function isIterable(value: TemplateValue): boolean {
  return (
    getText(value) !== undefined ||
    value instanceof List ||
    value instanceof Tuple ||
    value instanceof View ||
    value instanceof Dict ||
    value instanceof Range ||
    value instanceof Stream ||
    value instanceof Undefined
  );
}

/** Items of a value as a list that is not to be changed. Reads an iterator to its end. Throws for values that have none. */
export function getItems(value: TemplateValue, budget: Budget): readonly TemplateValue[] {
  if (value instanceof List || value instanceof Tuple || value instanceof View) return value.items;
  const text = getText(value);
  if (text !== undefined) return toCharacters(text, budget);
  if (value instanceof Undefined) return [];
  if (value instanceof Dict) {
    budget.items(value.size);
    return value.keys();
  }
  if (value instanceof Range) {
    budget.step(value.length);
    budget.items(value.length);
    return Array.from({ length: value.length }, (_, index) => value.at(index));
  }
  if (!(value instanceof Stream)) throw new TemplateFailure(`'${typeName(value)}' object is not iterable`);
  const items: TemplateValue[] = [];
  const next = iterate(value, budget);
  for (let item = next(); item !== undefined; item = next()) {
    budget.items(1);
    items.push(item);
  }
  return items;
}

/** iter(): a function that gives one item after the other, and undefined at the end. */
export function iterate(value: TemplateValue, budget: Budget): () => TemplateValue | undefined {
  if (value instanceof Stream) {
    return () => {
      budget.enter(); // an iterator over an iterator over an iterator ... nests calls
      const item = value.next();
      budget.leave();
      return item;
    };
  }
  if (value instanceof Range) {
    let at = 0;
    return () => (at < value.length ? value.at(at++) : undefined);
  }
  const items = getItems(value, budget);
  let at = 0;
  return () => items[at++];
}

/** An iterator over items, as a value. */
export function getStream(type: string, items: readonly TemplateValue[]): Stream {
  let at = 0;
  return new Stream(type, () => items[at++]);
}

/** An iterator that makes its items when they are read. */
export function generator(generate: () => Generator<TemplateValue, void>): Stream {
  let running: Generator<TemplateValue, void> | undefined;
  return new Stream("generator", () => {
    running ??= generate();
    const { done, value } = running.next();
    return done === true ? undefined : value;
  });
}

/** len(), or undefined for values without a length. */
export function getLength(value: TemplateValue, budget: Budget): number | undefined {
  const text = getText(value);
  if (text !== undefined) return lengthOfText(text, budget);
  if (value instanceof List || value instanceof Tuple || value instanceof View) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof Range) return value.length;
  return value instanceof Undefined ? 0 : undefined;
}

/** `in` */
export function contains(container: TemplateValue, value: TemplateValue, budget: Budget): boolean {
  const text = getText(container);
  if (text !== undefined) {
    const wanted = getText(value);
    if (wanted === undefined) throw new TemplateFailure(`'in <string>' requires string as left operand, not ${typeName(value)}`);
    return new Searcher(wanted, budget).find(text) !== -1;
  }
  if (container instanceof Dict) return container.has(computeHash(value, budget));
  if (!isIterable(container)) throw new TemplateFailure(`argument of type '${typeName(container)}' is not iterable`);
  const next = iterate(container, budget);
  for (let item = next(); item !== undefined; item = next()) {
    budget.step();
    if (areEqual(item, value, budget)) return true;
  }
  return false;
}
