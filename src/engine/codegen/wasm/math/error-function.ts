/** The error function on four float32 lanes, approximated by one rational function. */
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { f32x4 } from "../assembler/vector.ts";
import { clamp, polynomial } from "./polynomial.ts";

/** erf(x) rounds to 1 in float32 for all x from here on. */
export const erfSaturation = 3.92;
/** erf(x) = x P(x^2) / Q(x^2), relative error below 2e-8. */
export const erfNumerator: readonly number[] = [
  1.1283791065216064, 0.19039665162563324, 0.05274727940559387, 0.0037651569582521915, 0.0002848660515155643,
  2.0500792743405327e-6,
];
/** Coefficients of Q. */
export const erfDenominator: readonly number[] = [
  1, 0.5020673871040344, 0.11410491913557053, 0.014968298375606537, 0.0011624123435467482, 3.8090762245701626e-5,
];

/** erf(x) of four float32 lanes. Error below 7 units in the last place (relative 4e-7); below 4 where the machine has fused multiply-add. */
export function emitErf(f: FunctionBuilder, x: V128): Local<"v128"> {
  const inside = f.value(clamp(x, -erfSaturation, erfSaturation));
  const square = f.value(f32x4.mul(inside, inside));
  const above = f32x4.mul(inside, polynomial(f, square, erfNumerator));
  return f.value(clamp(f32x4.div(above, polynomial(f, square, erfDenominator)), -1, 1));
}
