/** Mutations of JSON values: fields removed, repeated, replaced, nested; texts and numbers at their limits. */
import { extremeIntegers, type Random } from "../random.ts";
import type { Mutation } from "../target.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The same for the text of a JSON document; a text that is none stays. */
export function mutateJsonText(input: Uint8Array, mutation: Mutation): Uint8Array {
  const value = parsed(input);
  if (value === undefined) return input;
  return Buffer.from(JSON.stringify(mutateJson(value, { ...mutation, other: parsed(mutation.other) ?? null })));
}

export function parsed(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Json;
  } catch {
    return undefined;
  }
}

interface JsonMutation extends Omit<Mutation, "other"> {
  readonly other: Json;
}

/** A changed copy. */
export function mutateJson(value: Json, mutation: JsonMutation): Json {
  const holder: Json[] = [structuredClone(value)];
  for (let count = 1 + mutation.random.below(3); count > 0; count -= 1) {
    const slots = slotsOf(holder);
    const slot = mutation.random.pick(slots);
    if (slot.parent === holder) put(slot, changedRoot(at(slot), mutation, slots));
    else change(slot, mutation, slots);
  }
  return holder[0]!;
}

/** Where a value is: an element of a list or a field of an object. */
interface Slot {
  readonly parent: Json[] | { [key: string]: Json };
  readonly key: number | string;
}

/** Lists and objects of many entries (vocabularies) give their first and some of the rest, so that other parts are found too. */
function slotsOf(holder: Json[]): Slot[] {
  const slots: Slot[] = [];
  const visit = (parent: Slot["parent"]): void => {
    const keys = Array.isArray(parent) ? [...parent.keys()] : Object.keys(parent);
    const step = Math.max(1, Math.floor(keys.length / 32));
    for (let index = 0; index < keys.length; index += step) {
      const key = keys[index]!;
      slots.push({ parent, key });
      const child = at({ parent, key });
      if (typeof child === "object" && child !== null) visit(child);
    }
  };
  visit(holder);
  return slots;
}

function at({ parent, key }: Slot): Json {
  return Array.isArray(parent) ? parent[Number(key)]! : parent[key]!;
}

function put({ parent, key }: Slot, value: Json): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}

/** The document itself is rarely replaced: most of what follows would be of no interest. */
function changedRoot(value: Json, mutation: JsonMutation, slots: readonly Slot[]): Json {
  const { random } = mutation;
  if (!random.oneIn(8)) return value;
  return random.oneIn(2) ? structuredClone(at(random.pick(slots))) : leafOf(value, mutation);
}

function change(slot: Slot, mutation: JsonMutation, slots: readonly Slot[]): void {
  const { random, other } = mutation;
  const { parent, key } = slot;
  const kind = random.below(10);
  if (kind === 0) {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  } else if (kind === 1) put(slot, structuredClone(at(random.pick(slots))));
  else if (kind === 2) put(slot, structuredClone(at(random.pick(slotsOf([other])))));
  else if (kind === 3) {
    const value = structuredClone(at(random.pick(slots)));
    if (Array.isArray(parent)) parent.splice(Number(key), 0, value);
    else put({ parent, key: textOf(String(key), mutation) }, value);
  } else if (kind === 4) put(slot, random.oneIn(2) ? [at(slot)] : { [String(key)]: at(slot) });
  else if (kind === 5) put(slot, random.pick<Json>([null, true, false, "", 0, -1, 1.5, [], {}, "a", [1], [[]]]));
  else put(slot, leafOf(at(slot), mutation));
}

function leafOf(value: Json, mutation: JsonMutation): Json {
  const { random } = mutation;
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return numberOf(value, random);
  if (typeof value === "string") return textOf(value, mutation);
  if (Array.isArray(value) && random.oneIn(4)) return Array.from({ length: 1 << random.below(12) }, () => value[0] ?? null);
  return textOf("", mutation);
}

function numberOf(value: number, random: Random): number {
  if (random.oneIn(2)) return random.pick(extremeIntegers);
  return random.pick([value + 1, value - 1, -value, value * 2, value / 2, value + 0.5, 1e-300, 1e300, random.below(64)]);
}

const texts: readonly string[] = [
  "",
  " ",
  "a",
  "\0",
  "é",
  "é",
  "😀",
  "\ud800",
  "\udc00a",
  "İ",
  "ß",
  "‍",
  "文",
  "\xA0",
  "\n",
  "%zz",
  "../",
  "/",
  "__proto__",
  "constructor",
  "toString",
  "0",
  "-1",
  "1e999",
  "true",
  "null",
  "NaN",
  "(a+)+$",
  "[",
  "\\",
  "(?<n>",
  "{1,99999}",
];

function textOf(value: string, { random, dictionary }: JsonMutation): string {
  const kind = random.below(6);
  if (kind === 0) return random.pick(texts);
  if (kind === 1 && dictionary.length > 0) return random.pick(dictionary);
  const from = random.below(value.length + 1);
  if (kind === 2) return value.slice(0, from) + random.pick(texts) + value.slice(from);
  if (kind === 3) return value.slice(0, from) + value.slice(from + 1 + random.below(4));
  if (kind === 4) return value.repeat(1 << random.below(8)).slice(0, 4096);
  return value.slice(0, from) + String.fromCodePoint(1 + random.below(random.oneIn(2) ? 127 : 0xd7ff)) + value.slice(from + 1);
}
