/** Filters of texts. */
import { TemplateFailure } from "../errors.ts";
import { isTrue } from "../values/comparison.ts";
import { formatPercent } from "../values/formatting.ts";
import { isIterable, getItems, getLength } from "../values/iteration.ts";
import { type JsonStyle, toJson } from "../values/json.ts";
import { sliceOfText } from "../values/searching.ts";
import { toText } from "../values/text.ts";
import { Dict, Markup, Tuple, Undefined, type TemplateValue, toInteger, getText, typeName } from "../values/values.ts";
import type { Bound } from "./arguments.ts";
import { type TemplateEnvironment, type Filter, filter } from "./environment.ts";
import { capitalize, splitLines } from "./letter-case.ts";
import { escapeHtml } from "./operators.ts";
import { replaceTemplateText, strip, textMethods } from "./text-methods.ts";

/** A filter of the text of a value, whose parameters have these names. Markup stays Markup. */
function textFilter(
  name: string,
  names: readonly string[],
  run: (text: string, given: Bound, environment: TemplateEnvironment) => TemplateValue,
): [string, Filter] {
  return filter(name, names, (value, given, environment) => {
    const text = toText(value, environment.budget);
    environment.budget.text(text.length);
    const result = run(text, given, environment);
    return value instanceof Markup && typeof result === "string" ? new Markup(result) : result;
  });
}

const escape = (value: TemplateValue, _given: Bound, { budget }: TemplateEnvironment): TemplateValue =>
  value instanceof Markup ? value : new Markup(escapeHtml(toText(value, budget), budget));

/** Filters of texts by name. */
export const textFilters: readonly (readonly [string, Filter])[] = [
  textFilter("upper", [], (text) => text.toUpperCase()),
  textFilter("lower", [], (text) => text.toLowerCase()),
  textFilter("capitalize", [], (text) => capitalize(text)),
  textFilter("title", [], (text) => text.replaceAll(/[^-\s({[<]+/g, (word) => firstUpper(word))),
  textFilter("trim", ["chars"], (text, given, { budget }) => strip(text, given.optional("chars") ?? null, "both", budget)),
  textFilter("wordcount", [], (text) => text.match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0),
  textFilter("center", ["width"], (text, given, environment) => {
    const width = given.optional("width") ?? 80;
    return textMethods.get("center")?.(text, { positional: [width], named: new Map() }, environment) ?? text;
  }),
  filter("indent", ["width", "first", "blank"], (value, given, { budget }) => {
    const text = requireText(value);
    budget.text(text.length);
    const indented = indent(text, given, budget);
    return value instanceof Markup ? new Markup(indented) : indented;
  }),
  filter("string", [], (value, _given, { budget }) => (value instanceof Markup ? value : toText(value, budget))),
  filter("replace", ["s", "new", "count"], (value, given, { budget }) => {
    const [old, by] = [toText(given.value("s"), budget), toText(given.value("new"), budget)];
    const text = toText(value, budget);
    budget.text(text.length);
    return replaceTemplateText(text, { old, by, count: given.integerOr("count", -1) }, budget);
  }),
  filter("truncate", ["length", "killwords", "end", "leeway"], truncate),
  filter("wordwrap", ["width", "break_long_words", "wrapstring", "break_on_hyphens"], wordWrap),
  filter("safe", [], (value, _given, { budget }) => new Markup(toText(value, budget))),
  filter("escape", [], escape),
  filter("e", [], escape),
  filter("forceescape", [], (value, _given, { budget }) => new Markup(escapeHtml(toText(value, budget), budget))),
  filter("striptags", [], (value, _given, { budget }) => stripTags(toText(value, budget), budget)),
  filter("urlencode", [], urlEncode),
  filter("xmlattr", ["autospace"], xmlAttributes),
  filter("tojson", ["ensure_ascii", "indent", "separators", "sort_keys"], (value, given, { budget }) =>
    toJson(value, jsonStyle(given, budget), budget),
  ),
  [
    "format",
    (value, { positional, named }, { budget }) => {
      if (positional.length > 0 && named.size > 0)
        throw new TemplateFailure("can't handle positional and keyword arguments at the same time");
      const mapping = new Dict();
      for (const [name, each] of named) mapping.set(name, name, each);
      return formatPercent(toText(value, budget), named.size > 0 ? mapping : new Tuple(positional), budget);
    },
  ],
];

function firstUpper(word: string): string {
  const [first = ""] = word;
  return first.toUpperCase() + word.slice(first.length).toLowerCase();
}

function indent(text: string, given: Bound, budget: TemplateEnvironment["budget"]): string {
  const width = given.optional("width") ?? 4;
  const count = toInteger(width);
  const written = getText(width);
  if (count === undefined && written === undefined)
    throw new TemplateFailure(`can't multiply sequence by non-int of type '${typeName(width)}'`);
  const size = written?.length ?? Math.max(0, Number(count));
  const lines = splitLines(`${text}\n`);
  const isBlankIndented = given.isTrue("blank");
  budget.items(lines.length);
  budget.text(size * (lines.length + 1));
  const indentation = written ?? " ".repeat(size);
  const rest = lines.slice(1).map((line) => (line === "" && !isBlankIndented ? line : indentation + line));
  const joined = [lines[0] ?? "", ...rest].join("\n");
  return given.isTrue("first") ? indentation + joined : joined;
}

function requireText(value: TemplateValue): string {
  const text = getText(value);
  if (value instanceof Undefined) throw new TemplateFailure(value.message);
  if (text === undefined) throw new TemplateFailure(`a text is required, not '${typeName(value)}'`);
  return text;
}

function truncate(value: TemplateValue, given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  const length = given.integerOr("length", 255);
  const end = given.textOr("end", "...");
  const leeway = given.integerOr("leeway", 5);
  if (length < end.length) throw new TemplateFailure(`expected length >= ${end.length}, got ${length}`);
  const size = getLength(value, budget);
  if (size !== undefined && size <= length + leeway) return value;
  const text = requireText(value);
  const cut = sliceOfText(text, 0, length - end.length, budget);
  if (given.isTrue("killwords")) return cut + end;
  const space = cut.lastIndexOf(" ");
  return (space === -1 ? cut : cut.slice(0, space)) + end;
}

/** textwrap.wrap() of each line: words and the spaces between them, in lines of a width. */
function wordWrap(value: TemplateValue, given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  const text = requireText(value);
  const width = given.integerOr("width", 79);
  if (width <= 0) throw new TemplateFailure(`invalid width ${width} (must be > 0)`);
  const breaks = given.optional("break_long_words");
  const end = given.textOr("wrapstring", "\n");
  budget.text(4 * text.length);
  budget.items(text.length);
  budget.step(text.length / 8);
  const lines = splitLines(text).map((line) => {
    const wrapped = wrapLine(line, width, breaks === undefined || isTrue(breaks));
    budget.text((wrapped.length + 1) * end.length);
    return wrapped.join(end);
  });
  return lines.join(end);
}

function wrapLine(line: string, width: number, breaksLongWords: boolean): string[] {
  const lines: string[] = [];
  let current = "";
  for (const chunk of line.match(/\s+|[^\s-]*-+(?=[^\s])|[^\s]+?(?=-)|[^\s]+/g) ?? []) {
    let rest = chunk;
    if (current === "" && lines.length > 0 && rest.trim() === "") continue;
    if (current.length + rest.length > width && current !== "") {
      lines.push(current.trimEnd());
      current = "";
      if (rest.trim() === "") continue;
    }
    if (breaksLongWords) {
      while (rest.length > width) {
        lines.push(rest.slice(0, width));
        rest = rest.slice(width);
      }
    }
    current += rest;
  }
  if (current.trim() !== "") lines.push(current.trimEnd());
  return lines;
}

function stripTags(text: string, budget: TemplateEnvironment["budget"]): string {
  budget.text(4 * text.length);
  const withoutComments = cut(text, "<!--", "-->");
  const plain = cut(withoutComments, "<", ">")
    .split(/\s+/)
    .filter((word) => word !== "")
    .join(" ");
  const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
  return plain.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi,
    (whole, decimal?: string, hexadecimal?: string, name?: string) => {
      const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
      if (name !== undefined) return named[name] ?? whole;
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** A text without what stands from one text to another. */
function cut(text: string, open: string, close: string): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(open, from);
    const end = start === -1 ? -1 : text.indexOf(close, start);
    if (end === -1) break;
    parts.push(text.slice(from, start));
    from = end + close.length;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

function urlEncode(value: TemplateValue, _given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  const text = getText(value);
  if (text !== undefined) return quoteUrl(text, "/", budget);
  if (!isIterable(value)) return quoteUrl(toText(value, budget), "/", budget);
  const pairs = value instanceof Dict ? value.entries() : getItems(value, budget).map((pair) => getItems(pair, budget));
  if (pairs.some(({ length }) => length !== 2)) throw new TemplateFailure("pairs are required");
  const quote = (part: TemplateValue | undefined): string =>
    quoteUrl(toText(part ?? null, budget), "", budget).replaceAll("%20", "+");
  return pairs.map(([key, each]) => `${quote(key)}=${quote(each)}`).join("&");
}

function quoteUrl(text: string, safe: string, budget: TemplateEnvironment["budget"]): string {
  budget.text(9 * text.length);
  const encoded = new TextEncoder().encode(text);
  return Array.from(encoded, (byte) => {
    const character = String.fromCharCode(byte);
    if (/[\w.~-]/.test(character) || safe.includes(character)) return character;
    return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

function xmlAttributes(value: TemplateValue, given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  if (!(value instanceof Dict)) throw new TemplateFailure(`'${typeName(value)}' object has no attribute 'items'`);
  const written = value.entries().flatMap(([key, each]) => {
    if (each === null || each instanceof Undefined) return [];
    const name = toText(key, budget);
    if (/[\s/>=]/.test(name)) throw new TemplateFailure(`Invalid character in attribute name: '${name}'`);
    return [`${escapeHtml(name, budget)}="${escapeHtml(toText(each, budget), budget)}"`];
  });
  const autospace = given.optional("autospace");
  const isSpaced = written.length > 0 && (autospace === undefined || isTrue(autospace));
  return (isSpaced ? " " : "") + written.join(" ");
}

/** Arguments of json.dumps(), with the defaults that transformers gives. */
function jsonStyle(given: Bound, budget: TemplateEnvironment["budget"]): JsonStyle {
  const indentation = given.optional("indent") ?? null;
  const separators = given.optional("separators") ?? null;
  const [item, key] = separators === null ? [null, null] : getItems(separators, budget);
  const separator = (value: TemplateValue | undefined, byDefault: string): string =>
    value === null || value === undefined ? byDefault : requireText(value);
  return {
    ensureAscii: given.isTrue("ensure_ascii"),
    indent: indentation === null ? undefined : indentText(indentation, budget),
    itemSeparator: separator(item, indentation === null ? ", " : ","),
    keySeparator: separator(key, ": "),
    sortKeys: given.isTrue("sort_keys"),
  };
}

function indentText(value: TemplateValue, budget: TemplateEnvironment["budget"]): string {
  const text = getText(value);
  if (text !== undefined) return text;
  const count = toInteger(value);
  if (count === undefined) throw new TemplateFailure(`can't multiply sequence by non-int of type '${typeName(value)}'`);
  const size = Math.max(0, Number(count));
  budget.text(size);
  return " ".repeat(size);
}
