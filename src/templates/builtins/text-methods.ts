/** Methods of str. Methods with a result of any size charge it before they make it. */
import type { Budget } from "../budget.ts";
import { TemplateFailure } from "../errors.ts";
import { isSpace, skipSpace, skipSpaceBack } from "../values/characters.ts";
import { formatFields, type Lookup } from "../values/formatting.ts";
import { getItems } from "../values/iteration.ts";
import { Searcher, toCharacters, findLast, hasPairs, lengthOfText, sliceOfText } from "../values/searching.ts";
import { type Arguments, Dict, List, Tuple, type TemplateValue, getText, typeName } from "../values/values.ts";
import { Bound } from "./arguments.ts";
import { capitalize, isCased, splitLines, swapCase, titleCase } from "./letter-case.ts";

/** Services for methods besides their text and arguments. */
export interface MethodContext {
  readonly budget: Budget;
  readonly lookup: Lookup;
}

type Method = (text: string, given: Arguments, context: MethodContext) => TemplateValue;
/** Names of the parameters, parted by spaces, and what the method does. */
type Definition = readonly [parameters: string, run: (text: string, given: Bound, budget: Budget) => TemplateValue];

const matches = (pattern: RegExp): Definition => ["", (text) => pattern.test(text)];

const stripping = (side: "both" | "start" | "end"): Definition => [
  "chars",
  (text, given, budget) => strip(text, given.optional("chars") ?? null, side, budget),
];

const partitioning = (isLast: boolean): Definition => [
  "sep",
  (text, given, budget) => partition(text, given.text("sep"), isLast, budget),
];

/** `isStrict`: whether a text that is not found is a failure. */
const finding = (isLast: boolean, isStrict: boolean): Definition => [
  "sub start end",
  (text, given, budget) => {
    const at = indexIn(text, given, isLast, budget);
    if (at === -1 && isStrict) throw new TemplateFailure("substring not found");
    return at;
  },
];

/** `before`: number of the missing characters that stand before the text. */
const padding = (before: (missing: number, width: number) => number): Definition => [
  "width fillchar",
  (text, given, budget) => {
    const width = given.integer("width");
    const missing = width - lengthOfText(text, budget);
    if (missing <= 0) return text;
    budget.text(width);
    const fill = given.textOr("fillchar", " ");
    const left = before(missing, width);
    return fill.repeat(left) + text + fill.repeat(missing - left);
  },
];

const definitions: Readonly<Record<string, Definition>> = {
  upper: ["", (text) => text.toUpperCase()],
  lower: ["", (text) => text.toLowerCase()],
  casefold: ["", (text) => text.toLowerCase().replaceAll("ß", "ss")],
  capitalize: ["", capitalize],
  title: ["", titleCase],
  swapcase: ["", swapCase],
  strip: stripping("both"),
  lstrip: stripping("start"),
  rstrip: stripping("end"),
  removeprefix: [
    "prefix",
    (text, given) => (text.startsWith(given.text("prefix")) ? text.slice(given.text("prefix").length) : text),
  ],
  removesuffix: [
    "suffix",
    (text, given) => {
      const suffix = given.text("suffix");
      return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
    },
  ],
  replace: [
    "old new count",
    (text, given, budget) =>
      replaceTemplateText(text, { old: given.text("old"), by: given.text("new"), count: given.integerOr("count", -1) }, budget),
  ],
  expandtabs: ["tabsize", (text, given, budget) => expandTabs(text, given.integerOr("tabsize", 8), budget)],
  split: ["sep maxsplit", (text, given, budget) => new List(split(text, given, budget))],
  rsplit: ["sep maxsplit", (text, given, budget) => new List(splitBack(text, given, budget))],
  splitlines: [
    "keepends",
    (text, given, budget) => {
      budget.step(text.length / 16);
      budget.items(text.length);
      return new List(splitLines(text, given.isTrue("keepends")));
    },
  ],
  partition: partitioning(false),
  rpartition: partitioning(true),
  join: ["iterable", (text, given, budget) => joinTexts(text, getItems(given.value("iterable"), budget), budget)],
  find: finding(false, false),
  index: finding(false, true),
  rfind: finding(true, false),
  rindex: finding(true, true),
  count: ["sub start end", (text, given, budget) => countText(getWindow(text, given, budget), given.text("sub"), budget)],
  ljust: padding(() => 0),
  rjust: padding((missing) => missing),
  center: padding((missing, width) => Math.floor(missing / 2) + (missing & width & 1)),
  zfill: [
    "width",
    (text, given, budget) => {
      const width = given.integer("width");
      const missing = width - lengthOfText(text, budget);
      if (missing <= 0) return text;
      budget.text(width);
      const sign = /^[-+]/.exec(text)?.[0] ?? "";
      return sign + "0".repeat(missing) + text.slice(sign.length);
    },
  ],
  isdigit: matches(/^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]+$/u),
  isdecimal: matches(/^\p{Nd}+$/u),
  isnumeric: matches(/^\p{N}+$/u),
  isalpha: matches(/^\p{L}+$/u),
  isalnum: matches(/^[\p{L}\p{N}]+$/u),
  // oxlint-disable-next-line no-control-regex -- ASCII has them
  isascii: matches(/^[\u0000-\u007f]*$/),
  isidentifier: matches(/^[\p{ID_Start}_][\p{ID_Continue}]*$/u),
  isprintable: matches(/^(?:[^\p{C}\p{Z}]| )*$/u),
  isspace: ["", (text) => text !== "" && skipSpace(text) === text.length],
  islower: ["", (text) => isCased(text) && text.toLowerCase() === text],
  isupper: ["", (text) => isCased(text) && text.toUpperCase() === text],
  istitle: ["", (text) => isCased(text) && titleCase(text) === text],
};

const affix = (name: "startswith" | "endswith"): Method => {
  return (text, given, { budget }) => {
    const bound = new Bound(name, ["prefix", "start", "end"], given);
    const part = getWindow(text, bound, budget);
    const wanted = bound.value("prefix");
    const all = wanted instanceof Tuple ? wanted.items : [wanted];
    return all.some((each) => {
      const affixText = requireText(each, `${name} first arg`);
      budget.text(affixText.length);
      return name === "startswith" ? part.startsWith(affixText) : part.endsWith(affixText);
    });
  };
};

/** Methods of str by name. */
export const textMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ...Object.entries(definitions).map(([name, [parameters, run]]): [string, Method] => {
    const names = parameters === "" ? [] : parameters.split(" ");
    return [
      name,
      (text, given, { budget }) => {
        budget.text(text.length);
        return run(text, new Bound(name, names, given), budget);
      },
    ];
  }),
  ["startswith", affix("startswith")],
  ["endswith", affix("endswith")],
  ["format", (text, given, { lookup, budget }) => formatFields(text, given, lookup, budget)],
  [
    "format_map",
    (text, given, { lookup, budget }) => {
      const mapping = new Bound("format_map", ["mapping"], given).value("mapping");
      if (!(mapping instanceof Dict)) throw new TemplateFailure("format_map() argument must be a dict");
      const named = new Map(mapping.entries().map(([key, value]) => [getText(key) ?? "", value]));
      return formatFields(text, { positional: [], named }, lookup, budget);
    },
  ],
]);

/** strip() and its halves; without characters: of white space. */
export function strip(text: string, chars: TemplateValue, side: "both" | "start" | "end", budget: Budget): string {
  if (chars === null) {
    const start = side === "end" ? 0 : skipSpace(text);
    return side === "start" ? text.slice(start) : text.slice(start, Math.max(start, skipSpaceBack(text)));
  }
  const wanted = requireText(chars, "strip arg");
  budget.text(wanted.length);
  const set = new Set(wanted);
  const units = hasPairs(text, budget) || hasPairs(wanted, budget) ? toCharacters(text, budget) : text;
  let start = 0;
  let end = units.length;
  if (side !== "end") while (start < end && set.has(units[start] ?? "")) start += 1;
  if (side !== "start") while (end > start && set.has(units[end - 1] ?? "")) end -= 1;
  return typeof units === "string" ? units.slice(start, end) : units.slice(start, end).join("");
}

/** replace(), of at most `count` occurrences where it is not negative. */
export function replaceTemplateText(
  text: string,
  { old, by, count }: { readonly old: string; readonly by: string; readonly count: number },
  budget: Budget,
): string {
  const limit = count < 0 ? Infinity : count;
  const parts: string[] = [];
  const add = (part: string): void => {
    budget.text(part.length + 4);
    parts.push(part);
  };
  if (old === "") {
    const characters = toCharacters(text, budget);
    for (let at = 0; at <= characters.length; at += 1) {
      if (at < limit) add(by);
      add(characters[at] ?? "");
    }
    return parts.join("");
  }
  const searcher = new Searcher(old, budget);
  let from = 0;
  for (let done = 0; done < limit; done += 1) {
    const at = searcher.find(text, from);
    if (at === -1) break;
    add(text.slice(from, at));
    add(by);
    from = at + old.length;
  }
  if (from === 0) return text;
  add(text.slice(from));
  return parts.join("");
}

/** join() of texts. Throws for other values. */
export function joinTexts(separator: string, items: readonly TemplateValue[], budget: Budget): string {
  budget.items(items.length);
  const texts = items.map((item, index) => {
    const text = getText(item);
    if (text === undefined) throw new TemplateFailure(`sequence item ${index}: expected str instance, ${typeName(item)} found`);
    budget.text(text.length + separator.length);
    return text;
  });
  return texts.join(separator);
}

function split(text: string, given: Bound, budget: Budget): string[] {
  const separator = given.optional("sep") ?? null;
  const limit = getLimit(given);
  if (separator === null) return splitSpace(text, limit, budget);
  const wanted = requireText(separator, "sep");
  if (wanted === "") throw new TemplateFailure("empty separator");
  const searcher = new Searcher(wanted, budget);
  const parts: string[] = [];
  let from = 0;
  while (parts.length < limit) {
    const at = searcher.find(text, from);
    if (at === -1) break;
    budget.items(4);
    parts.push(text.slice(from, at));
    from = at + wanted.length;
  }
  parts.push(text.slice(from));
  return parts;
}

function splitSpace(text: string, limit: number, budget: Budget): string[] {
  const parts: string[] = [];
  let at = skipSpace(text);
  while (at < text.length) {
    if (parts.length === limit) {
      parts.push(text.slice(at, skipSpaceBack(text)));
      break;
    }
    let end = at;
    while (end < text.length && !isSpace(text.charAt(end))) end += 1;
    budget.items(4);
    parts.push(text.slice(at, end));
    at = skipSpace(text, end);
  }
  return parts;
}

function splitBack(text: string, given: Bound, budget: Budget): string[] {
  const separator = given.optional("sep") ?? null;
  const limit = getLimit(given);
  if (limit === Infinity) return split(text, given, budget);
  const parts: string[] = [];
  let end = separator === null ? skipSpaceBack(text) : text.length;
  while (parts.length < limit) {
    let at: number;
    let next: number;
    if (separator === null) {
      at = end;
      while (at > 0 && !isSpace(text.charAt(at - 1))) at -= 1;
      if (at === 0) break;
      next = skipSpaceBack(text, at);
      if (at === end) break;
      if (next === 0) break;
    } else {
      const wanted = requireText(separator, "sep");
      if (wanted === "") throw new TemplateFailure("empty separator");
      next = end < wanted.length ? -1 : findLast(text, wanted, budget, end - wanted.length);
      if (next === -1) break;
      at = next + wanted.length;
    }
    budget.items(4);
    parts.push(text.slice(at, end));
    end = next;
  }
  const rest = separator === null ? text.slice(skipSpace(text), end) : text.slice(0, end);
  if (separator !== null || rest !== "") parts.push(rest);
  return parts.toReversed();
}

function getLimit(given: Bound): number {
  const limit = given.integerOr("maxsplit", -1);
  return limit < 0 ? Infinity : limit;
}

function partition(text: string, separator: string, isLast: boolean, budget: Budget): Tuple {
  if (separator === "") throw new TemplateFailure("empty separator");
  const at = isLast ? findLast(text, separator, budget) : new Searcher(separator, budget).find(text);
  if (at === -1) return new Tuple(isLast ? ["", "", text] : [text, "", ""]);
  return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)]);
}

/** The part of a text between the arguments `start` and `end`. */
function getWindow(text: string, given: Bound, budget: Budget): string {
  const [start, end] = [given.integerOr("start", 0), given.integerOr("end", undefined)];
  if (start === 0 && end === undefined) return text;
  const length = lengthOfText(text, budget);
  return sliceOfText(text, within(start, length), within(end ?? length, length), budget);
}

function within(index: number, length: number): number {
  return Math.min(length, Math.max(0, index < 0 ? index + length : index));
}

function indexIn(text: string, given: Bound, isLast: boolean, budget: Budget): number {
  const wanted = given.text("sub");
  const part = getWindow(text, given, budget);
  const at = isLast ? findLast(part, wanted, budget) : new Searcher(wanted, budget).find(part);
  if (at === -1) return -1;
  const start = given.integerOr("start", 0);
  return lengthOfText(part.slice(0, at), budget) + (start === 0 ? 0 : within(start, lengthOfText(text, budget)));
}

function countText(text: string, wanted: string, budget: Budget): number {
  if (wanted === "") return lengthOfText(text, budget) + 1;
  const searcher = new Searcher(wanted, budget);
  let count = 0;
  for (let at = searcher.find(text); at !== -1; at = searcher.find(text, at + wanted.length)) count += 1;
  budget.step(count);
  return count;
}

function expandTabs(text: string, size: number, budget: Budget): string {
  let column = 0;
  const parts: string[] = [];
  for (const character of toCharacters(text, budget)) {
    if (character === "\t") {
      const missing = size <= 0 ? 0 : size - (column % size);
      budget.text(missing);
      parts.push(" ".repeat(missing));
      column += missing;
    } else {
      parts.push(character);
      column = character === "\n" || character === "\r" ? 0 : column + 1;
    }
  }
  return parts.join("");
}

function requireText(value: TemplateValue, what: string): string {
  const text = getText(value);
  if (text === undefined) throw new TemplateFailure(`${what} must be str, not ${typeName(value)}`);
  return text;
}
