/** Python's format specifications: the part after the colon of "{:>10.2f}", and the conversions of "%5.1f". */
import type { Budget } from "../budget.ts";
import { TemplateFailure } from "../errors.ts";
import { toNumber } from "./comparison.ts";
import { allDigits, floatText, integerText, truncated } from "./numbers.ts";
import { lengthOfText, sliceOfText } from "./searching.ts";
import { type TemplateValue, toInteger, getText, typeName } from "./values.ts";

/** A format specification. */
export interface FormatSpec {
  readonly fill: string;
  readonly align: string | undefined;
  readonly sign: string;
  readonly alternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | undefined;
  readonly type: string;
}

const specification = /^(?:([^])?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/u;

/** Parses a format specification. */
export function parseFormatSpec(text: string): FormatSpec {
  const found = specification.exec(text);
  if (found === null) throw new TemplateFailure(`Invalid format specifier '${text}'`);
  const [, fill, align, sign = "-", , alternate, zero, width, grouping = "", precision, type = ""] = found;
  return {
    fill: fill ?? (zero === undefined ? " " : "0"),
    align: align ?? (zero === undefined ? undefined : "="),
    sign,
    alternate: alternate !== undefined,
    width: Number(width ?? 0),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  };
}

/** format(): a value as a specification wants it. */
export function formatValue(value: TemplateValue, spec: FormatSpec, budget: Budget): string {
  const text = getText(value);
  if (text !== undefined) return formatText(text, spec, budget);
  const number = toNumber(value);
  if (number === undefined) throw new TemplateFailure(`unsupported format string passed to ${typeName(value)}.__format__`);
  return formatNumber(value, number, spec, budget);
}

function formatText(text: string, spec: FormatSpec, budget: Budget): string {
  if (spec.type !== "" && spec.type !== "s")
    throw new TemplateFailure(`Unknown format code '${spec.type}' for object of type 'str'`);
  if (spec.align === "=") throw new TemplateFailure("'=' alignment not allowed in string format specifier");
  const cut =
    spec.precision === undefined ? text : sliceOfText(text, 0, Math.min(spec.precision, lengthOfText(text, budget)), budget);
  return pad(cut, { ...spec, align: spec.align ?? "<" }, budget);
}

const radixes: Readonly<Record<string, readonly [number, string]>> = { b: [2, "0b"], o: [8, "0o"], x: [16, "0x"], X: [16, "0X"] };

function formatNumber(value: TemplateValue, number: number, spec: FormatSpec, budget: Budget): string {
  const { type, sign: signs } = spec;
  const integer = toInteger(value);
  budget.text(spec.precision ?? 0);
  let digits: string;
  let prefix = "";
  const isNegative = integer === undefined ? number < 0 || Object.is(number, -0) : integer < 0;
  const radix = radixes[type];
  if (type === "c" && integer !== undefined)
    return pad(String.fromCodePoint(Number(integer)), { ...spec, align: spec.align ?? "<" }, budget);
  if (integer !== undefined && (type === "" || type === "d" || type === "n"))
    digits = integerText(integer < 0 ? -integer : integer);
  else if (radix !== undefined) {
    if (integer === undefined) throw new TemplateFailure(`Unknown format code '${type}' for object of type 'float'`);
    digits = (integer < 0 ? -integer : integer).toString(radix[0]);
    if (type === "X") digits = digits.toUpperCase();
    if (spec.alternate) [, prefix] = radix;
  } else if (type === "d" || type === "s" || type === "c") {
    throw new TemplateFailure(`Unknown format code '${type}' for object of type '${typeName(value)}'`);
  } else digits = floatDigits(Math.abs(number), spec);
  const sign = isNegative ? "-" : signs === "-" ? "" : signs;
  return pad(group(digits, spec.grouping), { ...spec, align: spec.align ?? ">" }, budget, sign + prefix);
}

/** Digits of a float that is not negative. */
function floatDigits(number: number, { type, precision = 6, precision: stated, alternate }: FormatSpec): string {
  const isUpper = type === "E" || type === "F" || type === "G";
  const cased = (text: string): string => (isUpper ? text.toUpperCase() : text);
  if (!Number.isFinite(number)) return cased(Number.isNaN(number) ? "nan" : "inf") + (type === "%" ? "%" : "");
  const digits = Math.min(precision, 100);
  switch (type.toLowerCase()) {
    case "f":
      return fixed(number, digits);
    case "%":
      return `${fixed(number * 100, digits)}%`;
    case "e":
      return cased(withExponent(number.toExponential(digits)));
    case "":
      return stated === undefined ? floatText(number) : general(number, digits, alternate, true);
    default:
      return cased(general(number, digits, alternate, false));
  }
}

function fixed(number: number, digits: number): string {
  if (number < 1e21) {
    const text = number.toFixed(digits);
    // Of two that are equally near, toFixed takes the larger one, and Python the even one.
    const exact = allDigits(number);
    const point = exact.indexOf(".");
    if (!/^50*$/.test(exact.slice(point + 1 + digits))) return text;
    const below = exact.slice(0, digits === 0 ? point : point + 1 + digits);
    return Number(below.at(-1)) % 2 === 0 ? below : text;
  }
  return integerText(truncated(number)) + (digits === 0 ? "" : `.${"0".repeat(digits)}`);
}

function general(number: number, precision: number, alternate: boolean, isRepr: boolean): string {
  const significant = Math.max(1, precision);
  const [mantissa = "0", power = "0"] = number.toExponential(significant - 1).split("e");
  const exponent = Number(power);
  const limit = isRepr ? significant - 1 : significant;
  const trim = (text: string): string => (alternate || !text.includes(".") ? text : text.replace(/\.?0+$/, ""));
  if (exponent >= -4 && exponent < Math.max(limit, isRepr ? 1 : 0)) {
    const text = trim(number.toFixed(Math.max(0, significant - 1 - exponent)));
    return isRepr && !text.includes(".") ? `${text}.0` : text;
  }
  return withExponent(`${trim(mantissa)}e${power}`);
}

/** "1.5e+1" with an exponent of two digits. */
function withExponent(text: string): string {
  return text.replace(/e([-+]?)(\d)$/, (_all, sign: string, digit: string) => `e${sign === "" ? "+" : sign}0${digit}`);
}

function group(digits: string, separator: string): string {
  if (separator === "") return digits;
  const [, whole = "", rest = ""] = /^(\d*)([^]*)$/.exec(digits) ?? [];
  return whole.replaceAll(/\B(?=(?:\d{3})+$)/g, separator) + rest;
}

function pad(text: string, { fill, align, width }: FormatSpec, budget: Budget, sign = ""): string {
  const missing = width - lengthOfText(text, budget) - sign.length;
  if (missing <= 0) return sign + text;
  budget.text(width);
  const before = align === "<" ? 0 : align === "^" ? Math.floor(missing / 2) : missing;
  const after = missing - before;
  if (align === "=") return sign + fill.repeat(missing) + text;
  return fill.repeat(before) + sign + text + fill.repeat(after);
}
