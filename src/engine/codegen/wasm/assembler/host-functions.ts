/** JavaScript functions on float64 that modules import, for operations too rare to be implemented in WebAssembly. */

export type HostFunction =
  | "acos"
  | "acosh"
  | "asin"
  | "asinh"
  | "atan"
  | "atanh"
  | "cosh"
  | "log1p"
  | "pow"
  | "remainder"
  | "sinh"
  | "tan";

const { acos, acosh, asin, asinh, atan, atanh, cosh, log1p, pow, sinh, tan } = Math;

/**
 * The JavaScript functions that generated code imports, because WebAssembly has no instruction for them. `remainder` has the sign of the dividend,
 * like C's fmod.
 */
export const hostFunctions: Readonly<Record<HostFunction, (first: number, second: number) => number>> = {
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  cosh,
  log1p,
  sinh,
  tan,
  pow: (base, exponent) => (base === 1 ? 1 : pow(base, exponent)), // 1^NaN is 1 in IEEE 754 and NaN in JavaScript
  remainder: (dividend, divisor) => dividend % divisor,
};

/** The imported JavaScript functions that take two arguments; all others take one. */
export const binaryHostFunctions: ReadonlySet<HostFunction> = new Set<HostFunction>(["pow", "remainder"]);
