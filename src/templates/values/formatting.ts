/** `str.format` and the operator `%` of texts. */
import type { Budget } from "../budget.ts";
import { TemplateFailure } from "../errors.ts";
import { computeHash } from "./comparison.ts";
import { formatValue, parseFormatSpec } from "./format-spec.ts";
import { truncated } from "./numbers.ts";
import { represent, toText } from "./text.ts";
import {
  type Arguments,
  Dict,
  Float,
  List,
  Range,
  Tuple,
  Undefined,
  type TemplateValue,
  toInteger,
  getText,
  typeName,
} from "./values.ts";

/** Looks up attributes and items, which "{0.name[key]}" reads. */
export interface Lookup {
  readonly attribute: (of: TemplateValue, name: string) => TemplateValue;
  readonly item: (of: TemplateValue, key: TemplateValue) => TemplateValue;
}

/** Nested fields of a specification: "{:{width}}". */
const maxFieldNesting = 2;

/** str.format() */
export function formatFields(template: string, given: Arguments, lookup: Lookup, budget: Budget): string {
  return new FieldFormatter(given, lookup, budget).format(template, maxFieldNesting);
}

class FieldFormatter {
  readonly #given: Arguments;
  readonly #lookup: Lookup;
  readonly #budget: Budget;
  #automatic = 0;

  constructor(given: Arguments, lookup: Lookup, budget: Budget) {
    this.#given = given;
    this.#lookup = lookup;
    this.#budget = budget;
  }

  format(template: string, nesting: number): string {
    if (nesting === 0) throw new TemplateFailure("Max string recursion exceeded");
    this.#budget.text(2 * template.length);
    const parts: string[] = [];
    let at = 0;
    while (at < template.length) {
      const found = /[{}]/g;
      found.lastIndex = at;
      const brace = found.exec(template);
      if (brace === null) break;
      parts.push(template.slice(at, brace.index));
      if (template.charAt(brace.index + 1) === brace[0]) {
        parts.push(brace[0]);
        at = brace.index + 2;
      } else {
        if (brace[0] === "}") throw new TemplateFailure("Single '}' encountered in format string");
        const end = endOfField(template, brace.index + 1);
        const text = this.#field(template.slice(brace.index + 1, end), nesting);
        this.#budget.text(text.length);
        parts.push(text);
        at = end + 1;
      }
    }
    parts.push(template.slice(at));
    return parts.join("");
  }

  #field(field: string, nesting: number): string {
    const [, path = "", conversion, spec = ""] = /^([^:!]*)(?:!([^:]*))?(?::([^]*))?$/.exec(field) ?? [];
    const value = this.#value(path);
    const converted = conversion === undefined ? value : this.#convert(value, conversion);
    const wanted = spec.includes("{") ? this.format(spec, nesting - 1) : spec;
    return wanted === "" ? toText(converted, this.#budget) : formatValue(converted, parseFormatSpec(wanted), this.#budget);
  }

  #convert(value: TemplateValue, conversion: string): string {
    if (conversion === "r" || conversion === "a") return represent(value, this.#budget);
    if (conversion === "s") return toText(value, this.#budget);
    throw new TemplateFailure(`Unknown conversion specifier ${conversion}`);
  }

  #value(path: string): TemplateValue {
    const first = /^[^.[]*/.exec(path)?.[0] ?? "";
    let value = this.#argument(first);
    const part = /\.([^.[]+)|\[([^\]]*)\]/y;
    part.lastIndex = first.length;
    for (let at = first.length; at < path.length; at = part.lastIndex) {
      const found = part.exec(path);
      if (found === null) throw new TemplateFailure("Only '.' or '[' may follow ']' in format field specifier");
      const [, name, key = ""] = found;
      this.#budget.step();
      if (name === undefined) value = this.#lookup.item(value, /^\d+$/.test(key) ? Number(key) : key);
      else value = this.#lookup.attribute(value, name);
    }
    return value;
  }

  #argument(name: string): TemplateValue {
    const { positional, named } = this.#given;
    if (name !== "" && !/^\d+$/.test(name)) {
      const value = named.get(name);
      if (value === undefined) throw new TemplateFailure(`'${name}'`);
      return value;
    }
    const value = positional[name === "" ? this.#automatic++ : Number(name)];
    if (value === undefined) throw new TemplateFailure("Replacement index out of range for positional args tuple");
    return value;
  }
}

/** Index of the brace that closes a field. */
function endOfField(template: string, from: number): number {
  let open = 1;
  for (let at = from; at < template.length; at += 1) {
    const character = template.charAt(at);
    if (character === "{") open += 1;
    else if (character === "}") open -= 1;
    if (open === 0) return at;
  }
  throw new TemplateFailure("expected '}' before end of string");
}

/** Characters of a key in "%(key)s". */
const maxKey = 64;
const conversion = /%(?:\(([^)]{0,64})\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?[hlL]?([^])?/g;

/** `text % values` */
export function formatPercent(template: string, given: TemplateValue, budget: Budget): string {
  budget.text(template.length);
  if (template.includes("%(")) budget.text(maxKey * template.length);
  const values = given instanceof Tuple ? given.items : [given];
  let used = 0;
  const next = (): TemplateValue => {
    const value = values[used++];
    if (value === undefined) throw new TemplateFailure("not enough arguments for format string");
    return value;
  };
  let isMapped = false;
  const text = template.replaceAll(conversion, (...found: readonly (string | undefined)[]) => {
    const [, key, flags = "", width, precision, type] = found;
    if (type === "%") return "%";
    const named = key === undefined ? undefined : mapped(given, key, budget);
    isMapped ||= named !== undefined;
    const size = (written: string | undefined): number | undefined =>
      written === "*" ? Number(toInteger(next()) ?? 0) : written === undefined ? undefined : Number(written);
    const [columns = 0, digits] = [size(width), size(precision)];
    const part = percentPart(named ?? next(), { flags, columns, digits, type: type ?? "" }, budget);
    budget.text(part.length);
    return part;
  });
  // What has items by key is taken for a mapping, which need not be used up.
  const isMapping = !(given instanceof Tuple) && (isMapped || hasItems(given));
  const isLeft = used < values.length && !isMapping;
  if (isLeft) throw new TemplateFailure("not all arguments converted during string formatting");
  return text;
}

function hasItems(value: TemplateValue): boolean {
  return value instanceof Dict || value instanceof List || value instanceof Range || value instanceof Undefined;
}

function mapped(given: TemplateValue, key: string, budget: Budget): TemplateValue {
  if (!(given instanceof Dict)) throw new TemplateFailure("format requires a mapping");
  const value = given.get(computeHash(key, budget));
  if (value === undefined) throw new TemplateFailure(`'${key}'`);
  return value;
}

interface PercentPart {
  readonly flags: string;
  readonly columns: number;
  readonly digits: number | undefined;
  readonly type: string;
}

function percentPart(value: TemplateValue, { flags, columns, digits, type }: PercentPart, budget: Budget): string {
  const isLeft = flags.includes("-");
  const spec = {
    fill: " ",
    align: isLeft ? "<" : ">",
    sign: flags.includes("+") ? "+" : flags.includes(" ") ? " " : "-",
    alternate: flags.includes("#"),
    width: columns,
    grouping: "",
    precision: digits,
    type: "s",
  };
  if (type === "s") return formatValue(toText(value, budget), spec, budget);
  if (type === "r" || type === "a") return formatValue(represent(value, budget), spec, budget);
  if (type === "c") return formatValue(getText(value) ?? String.fromCodePoint(Number(toInteger(value) ?? 0)), spec, budget);
  if (!/^[diuoxXeEfFgG]$/.test(type)) throw new TemplateFailure(`unsupported format character '${type}'`);
  const isFloat = "eEfFgG".includes(type);
  const integer = toInteger(value);
  if (integer === undefined && !(value instanceof Float))
    throw new TemplateFailure(`%${type} format: a real number is required, not ${typeName(value)}`);
  const number = isFloat || integer !== undefined ? value : truncated((value as Float).value);
  const zeros = flags.includes("0") && !isLeft ? { fill: "0", align: "=" } : {};
  const wanted = "diu".includes(type) ? "d" : type;
  return formatValue(number, { ...spec, ...zeros, type: wanted, precision: isFloat ? digits : undefined }, budget);
}
