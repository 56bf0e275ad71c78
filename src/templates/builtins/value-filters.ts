/** Filters of single values: numbers, defaults, attributes. */
import { TemplateFailure } from "../errors.ts";
import { isTrue } from "../values/comparison.ts";
import { toFloat, parseFloatText, parseInteger, rounded, truncated } from "../values/numbers.ts";
import { Float, Undefined, type TemplateValue, toInteger, getText, typeName } from "../values/values.ts";
import { type Bound, requireNumber } from "./arguments.ts";
import { ownAttribute } from "./attributes.ts";
import { type TemplateEnvironment, type Filter, filter } from "./environment.ts";

const byDefault = (value: TemplateValue, given: Bound): TemplateValue =>
  value instanceof Undefined || (given.isTrue("boolean") && !isTrue(value))
    ? (given.optional("default_value") ?? noneOr(given))
    : value;

/** The default that was given as None, or the one that is used where none is given. */
function noneOr(given: Bound): TemplateValue {
  return given.optional("default_value") === null ? null : "";
}

/** Filters of single values by name. */
export const valueFilters: readonly (readonly [string, Filter])[] = [
  filter("default", ["default_value", "boolean"], byDefault),
  filter("d", ["default_value", "boolean"], byDefault),
  filter("attr", ["name"], (value, given, environment) => {
    const name = given.text("name");
    if (value instanceof Undefined) throw new TemplateFailure(value.message);
    return ownAttribute(value, name, environment) ?? new Undefined(`'${typeName(value)} object' has no attribute '${name}'`);
  }),
  filter("abs", [], (value) => {
    if (value instanceof Float) return new Float(Math.abs(value.value));
    const integer = toInteger(value);
    if (integer === undefined) throw new TemplateFailure(`bad operand type for abs(): '${typeName(value)}'`);
    return integer < 0 ? -integer : integer;
  }),
  filter("int", ["default", "base"], toInt),
  filter("float", ["default"], (value, given) => {
    if (value instanceof Undefined) throw new TemplateFailure(value.message);
    const number = floatFrom(value);
    return number === undefined ? (given.optional("default") ?? new Float(0)) : new Float(number);
  }),
  filter("round", ["precision", "method"], round),
  filter("filesizeformat", ["binary"], fileSize),
];

function floatFrom(value: TemplateValue): number | undefined {
  const text = getText(value);
  if (text !== undefined) return parseFloatText(text);
  if (value instanceof Float) return value.value;
  const integer = toInteger(value);
  return integer === undefined ? undefined : toFloat(integer);
}

function toInt(value: TemplateValue, given: Bound, { budget }: TemplateEnvironment): TemplateValue {
  if (value instanceof Undefined) throw new TemplateFailure(value.message);
  const fallback = given.optional("default") ?? 0;
  const text = getText(value);
  // A number of another base than 10 is read in a time that grows with the square of its digits.
  budget.step(Math.min(text?.length ?? 0, 10_000) ** 2 / 4000);
  const direct = text === undefined ? toInteger(value) : parseInteger(text, given.integerOr("base", 10));
  if (direct !== undefined) return direct;
  const number = floatFrom(value);
  if (number === undefined || !Number.isFinite(number)) {
    if (value instanceof Float && !Number.isNaN(value.value))
      throw new TemplateFailure("cannot convert float infinity to integer");
    return fallback;
  }
  return truncated(number);
}

function round(value: TemplateValue, given: Bound): TemplateValue {
  const precision = given.integerOr("precision", 0);
  const method = given.textOr("method", "common");
  if (!["common", "ceil", "floor"].includes(method)) throw new TemplateFailure("method must be common, ceil or floor");
  if (value instanceof Undefined) throw new TemplateFailure(value.message);
  const integer = toInteger(value);
  if (method === "common") {
    if (integer !== undefined && precision >= 0) return integer;
    const result = rounded(requireNumber(value), precision);
    return integer === undefined ? new Float(result) : truncated(result);
  }
  const unit = 10 ** precision;
  const scaled = requireNumber(value) * unit;
  return new Float((method === "ceil" ? Math.ceil(scaled) : Math.floor(scaled)) / unit);
}

function fileSize(value: TemplateValue, given: Bound): string {
  const bytes = floatFrom(value);
  if (bytes === undefined) throw new TemplateFailure("could not convert to float");
  const isBinary = given.isTrue("binary");
  const base = isBinary ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const prefixes = ["k", "M", "G", "T", "P", "E", "Z", "Y"];
  const found = prefixes.findIndex((_prefix, index) => bytes < base ** (index + 2));
  const index = found === -1 ? prefixes.length - 1 : found;
  const prefix = prefixes[index] ?? "";
  return `${(bytes / base ** (index + 1)).toFixed(1)} ${isBinary ? `${prefix.toUpperCase()}i` : prefix}B`;
}
