/** Functions of JavaScript on float64 numbers that modules may import: for what is too rare to be worth a polynomial on four lanes. */

export type HostFunction =
  | "acos"
  | "acosh"
  | "asin"
  | "asinh"
  | "atan"
  | "atanh"
  | "cosh"
  | "expm1"
  | "log1p"
  | "pow"
  | "remainder"
  | "sinh"
  | "tan";

const { acos, acosh, asin, asinh, atan, atanh, cosh, expm1, log1p, pow, sinh, tan } = Math;

/** `remainder` has the sign of the dividend, as C's fmod. */
export const hostFunctions: Readonly<Record<HostFunction, (first: number, second: number) => number>> = {
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  cosh,
  expm1,
  log1p,
  sinh,
  tan,
  pow: (base, exponent) => (base === 1 ? 1 : pow(base, exponent)), // C's and IEEE's 1^NaN is 1, JavaScript's NaN
  remainder: (dividend, divisor) => dividend % divisor,
};

/** Those of two arguments; the others have one. */
export const binaryHostFunctions: ReadonlySet<HostFunction> = new Set<HostFunction>(["pow", "remainder"]);
