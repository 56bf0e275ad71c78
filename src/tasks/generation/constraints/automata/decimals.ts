/** Decimal numbers of any length, as text: what is written in a schema, which a double may not hold. */

/** A decimal number in a canonical notation: digits without insignificant zeros at the ends, and an exponent if there are many digits. */
export type Decimal = string;

interface Parts {
  readonly isNegative: boolean;
  /** Without zeros at either end; empty for 0. */
  readonly digits: string;
  /** The number is `digits` times ten to this power. */
  readonly exponent: number;
}

/** Digits of a number that is written without an exponent, at most. */
const plainDigits = 21;

/** The decimal of a number of JSON, as it is written there. */
export function parseDecimal(text: string): Decimal {
  const { isNegative, digits, exponent } = getParts(text);
  const sign = isNegative ? "-" : "";
  if (digits === "") return "0";
  if (exponent >= 0 && digits.length + exponent <= plainDigits) return `${sign}${digits}${"0".repeat(exponent)}`;
  return `${sign}${digits}e${exponent}`;
}

/** Whether a decimal is a whole number. */
export function isWhole(decimal: Decimal): boolean {
  return getParts(decimal).exponent >= 0;
}

/** Below 0 if the first is smaller, above 0 if it is greater, 0 if they are equal. Both have at most a few hundred digits, exponents included. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  const [one, other] = [getParts(left), getParts(right)];
  const exponent = Math.min(one.exponent, other.exponent);
  const [first, second] = [scaled(one, exponent), scaled(other, exponent)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** The digits of a decimal before and after the point, without its sign. */
export function decimalDigits(decimal: Decimal): { readonly whole: string; readonly fraction: string } {
  const { digits, exponent } = getParts(decimal);
  if (exponent >= 0) return { whole: digits === "" ? "0" : digits + "0".repeat(exponent), fraction: "" };
  const all = digits.padStart(1 - exponent, "0");
  return { whole: all.slice(0, exponent), fraction: all.slice(exponent) };
}

/** Digits that a decimal has without an exponent, zeros included. */
export function writtenLength(decimal: Decimal): number {
  const { digits, exponent } = getParts(decimal);
  return Math.max(digits.length + exponent, digits.length, -exponent);
}

function scaled({ isNegative, digits, exponent }: Parts, to: number): bigint {
  const magnitude = BigInt(digits === "" ? "0" : digits + "0".repeat(exponent - to));
  return isNegative ? -magnitude : magnitude;
}

function getParts(text: string): Parts {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = withoutZeros(all);
  if (digits === "") return { isNegative: false, digits, exponent: 0 };
  return { isNegative: text.startsWith("-"), digits, exponent: Number(power) - fraction.length + all.length - digits.length };
}

/** Without zeros at the end. A regular expression would try each zero. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === "0") end -= 1;
  return digits.slice(0, end);
}
