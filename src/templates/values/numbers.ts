/** Integers of any size and floats, with Python's operators and notation. */
import type { Budget } from "../budget.ts";
import { TemplateBound, TemplateFailure, TemplateUnsupported } from "../errors.ts";
import { skipSpace, skipSpaceBack } from "./characters.ts";
import { Float } from "./values.ts";

/** Arithmetic operators of two operands. */
export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

/** An int of a template. */
export type Integer = number | bigint;

/** Bits of an integer. */
const maxBits = 2 ** 16;
/** Digits of an integer that is written or read, as in Python. */
const maxDigits = 4300;

/** A bigint as an int of a template. */
export function toExactInteger(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** An operation on two ints. */
export function integerArithmetic(operator: ArithmeticOperator, left: Integer, right: Integer, budget: Budget): Integer | Float {
  if (operator === "/") {
    if (Number(right) === 0) throw new TemplateFailure("division by zero");
    return new Float(finite(Number(left)) / finite(Number(right)));
  }
  if (operator === "**" && right < 0) {
    if (Number(left) === 0) throw new TemplateFailure("zero to a negative power");
    return new Float(Number(left) ** Number(right));
  }
  if ((operator === "//" || operator === "%") && Number(right) === 0)
    throw new TemplateFailure("integer division or modulo by zero");
  if (typeof left === "number" && typeof right === "number") {
    const quick = safeArithmetic(operator, left, right);
    if (Number.isSafeInteger(quick)) return quick + 0; // -0 is no int
  }
  return toExactInteger(bigArithmetic(operator, BigInt(left), BigInt(right), budget));
}

/** The result, or one that is not safe, and so not exact. */
function safeArithmetic(operator: ArithmeticOperator, left: number, right: number): number {
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  if (operator === "**") return left ** right;
  const rest = left % right;
  const remainder = rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
  return operator === "%" ? remainder : (left - remainder) / right;
}

function bigArithmetic(operator: ArithmeticOperator, left: bigint, right: bigint, budget: Budget): bigint {
  const [leftBits, rightBits] = [getBits(left), getBits(right)];
  if (operator === "**") {
    requireBits(leftBits * Number(right));
    budget.step(1000);
    return left ** right;
  }
  requireBits(operator === "*" ? leftBits + rightBits : Math.max(leftBits, rightBits));
  budget.step(1 + Math.ceil((leftBits * rightBits) / 2 ** 20));
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  const rest = left % right;
  const remainder = rest !== 0n && rest < 0n !== right < 0n ? rest + right : rest;
  return operator === "%" ? remainder : (left - remainder) / right;
}

function getBits(value: bigint): number {
  return 4 * (value < 0n ? -value : value).toString(16).length;
}

function requireBits(bits: number): void {
  if (!(bits <= maxBits)) throw new TemplateBound("digits", maxBits, `makes an integer of more than ${maxBits} bits`);
}

/** An operation on two floats. */
export function floatArithmetic(operator: ArithmeticOperator, left: number, right: number): Float {
  return new Float(floatResult(operator, left, right));
}

function floatResult(operator: ArithmeticOperator, left: number, right: number): number {
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  if (operator === "**") return floatPower(left, right);
  if (right === 0) throw new TemplateFailure(operator === "/" ? "float division by zero" : "float floor division by zero");
  if (operator === "/") return left / right;
  const rest = left % right;
  const remainder = rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
  if (operator === "%") return remainder === 0 ? (right < 0 ? -0 : 0) : remainder;
  return Math.round((left - remainder) / right);
}

function floatPower(left: number, right: number): number {
  if (left === 0 && right < 0) throw new TemplateFailure("zero to a negative power");
  const power = Math.abs(left) === 1 ? left ** (Number.isFinite(right) ? right : 0) : left ** right;
  if (Number.isNaN(power) && !Number.isNaN(left) && !Number.isNaN(right))
    throw new TemplateUnsupported("complex numbers are not supported");
  if (!Number.isFinite(power) && Number.isFinite(left) && Number.isFinite(right))
    throw new TemplateFailure("Numerical result out of range");
  return power;
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new TemplateFailure("int too large to convert to float");
  return value;
}

/** A float of an int. */
export function toFloat(value: Integer): number {
  return typeof value === "number" ? value : finite(Number(value));
}

/** Digits of an int. */
export function integerText(value: Integer): string {
  if (typeof value === "number") return String(value);
  if (getBits(value) > maxDigits * 3.33)
    throw new TemplateFailure(`Exceeds the limit (${maxDigits} digits) for integer string conversion`);
  return value.toString();
}

/** repr() of a float: the shortest digits that give it again. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16)
    return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  const text = exponent < 0 ? positional(digits, exponent) : String(value);
  return text.includes(".") ? text : `${text}.0`;
}

/** A number below 1 without an exponent. */
function positional(digits: string, exponent: number): string {
  const sign = digits.startsWith("-") ? "-" : "";
  return `${sign}0.${"0".repeat(-exponent - 1)}${digits.replace(/[-.]/g, "").replace(".", "")}`;
}

/** Characters of a text that is read as a number. */
const maxWritten = 10_000;

function requireShort(text: string): void {
  if (text.length > maxWritten)
    throw new TemplateBound("digits", maxWritten, `reads a number of more than ${maxWritten} characters`);
}

/** int() of a text; undefined if it is not an integer. */
export function parseInteger(text: string, base: number): Integer | undefined {
  requireShort(text);
  const trimmed = text.slice(skipSpace(text), skipSpaceBack(text)).toLowerCase();
  const found = /^([+-]?)(0[box])?_?([\da-z]+(?:_[\da-z]+)*)$/.exec(trimmed);
  if (found === null) return undefined;
  const [, sign = "", prefix, written = ""] = found;
  const digits = written.replaceAll("_", "");
  const stated = prefix === undefined ? undefined : ({ "0b": 2, "0o": 8, "0x": 16 } as const)[prefix as "0b" | "0o" | "0x"];
  if (stated !== undefined && base !== 0 && base !== stated) return plainInteger(sign, `${prefix}${digits}`, base);
  if (base === 0 && stated === undefined && /^0\d*[1-9]/.test(digits)) return undefined;
  return plainInteger(sign, digits, stated ?? (base === 0 ? 10 : base));
}

function plainInteger(sign: string, digits: string, base: number): Integer | undefined {
  let value = 0n;
  if (digits.length > maxDigits)
    throw new TemplateFailure(`Exceeds the limit (${maxDigits} digits) for integer string conversion`);
  if (base === 10) {
    if (!/^\d+$/.test(digits)) return undefined;
    value = BigInt(digits);
  } else {
    for (const digit of digits) {
      const number = Number.parseInt(digit, 36);
      if (Number.isNaN(number) || number >= base) return undefined;
      value = value * BigInt(base) + BigInt(number);
    }
  }
  return toExactInteger(sign === "-" ? -value : value);
}

/** float() of a text; undefined if it is not a number. */
export function parseFloatText(text: string): number | undefined {
  requireShort(text);
  const trimmed = text.slice(skipSpace(text), skipSpaceBack(text)).toLowerCase();
  const word = /^([+-]?)(inf|infinity|nan)$/.exec(trimmed);
  if (word !== null) return word[2] === "nan" ? Number.NaN : word[1] === "-" ? -Infinity : Infinity;
  const digits = "\\d+(?:_\\d+)*";
  if (!new RegExp(`^[+-]?(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:e[+-]?${digits})?$`).test(trimmed)) return undefined;
  return Number(trimmed.replaceAll("_", ""));
}

/** int() of a float: towards zero. */
export function truncated(value: number): Integer {
  if (Number.isNaN(value)) throw new TemplateFailure("cannot convert float NaN to integer");
  if (!Number.isFinite(value)) throw new TemplateFailure("cannot convert float infinity to integer");
  const whole = Math.trunc(value);
  return Number.isSafeInteger(whole) ? whole + 0 : BigInt(whole);
}

/** round() of a float to digits after the point: the nearest, the even one of two. Digits may be negative. */
export function rounded(value: number, digits: number): number {
  if (!Number.isFinite(value) || digits > 320) return value;
  if (digits < 0) {
    if (digits < -308) return value < 0 ? -0 : 0;
    const unit = 10 ** -digits;
    return halfEven(value / unit) * unit;
  }
  if (digits === 0) return halfEven(value);
  if (digits > 100 || Math.abs(value) >= 1e21) return value;
  const nearest = value.toFixed(digits);
  // toFixed is exact, but of two that are equally near it takes the larger one.
  const exact = allDigits(value);
  const point = exact.indexOf(".");
  const isTie = /^50*$/.test(exact.slice(point + 1 + digits));
  if (!isTie) return Number(nearest);
  const below = exact.slice(0, point + 1 + digits);
  return Number(Number(below.at(-1)) % 2 === 0 ? below : nearest);
}

/** A number below 1e21 with a hundred digits after its point, which no rounding has touched that matters here. */
export function allDigits(value: number): string {
  // oxlint-disable-next-line oxc/number-arg-out-of-range -- 100 is the limit since ECMAScript 2018
  return value.toFixed(100);
}

function halfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest === 0.5) return below % 2 === 0 ? below : below + 1;
  return rest < 0.5 ? below : below + 1;
}
