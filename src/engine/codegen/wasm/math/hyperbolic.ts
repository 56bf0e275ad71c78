/** The hyperbolic tangent on four float32 lanes. */
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { f32x4, v128 } from "../assembler/vector.ts";
import { clampedExp } from "./exponential.ts";
import { polynomial, withSign } from "./polynomial.ts";

/** For |x| below this limit tanh is a polynomial; above it, 1 - 2 / (exp(2|x|) + 1), which loses precision near 0. */
export const tanhPolynomialLimit = 0.625;
/** tanh(x) = x + x^3 P(x^2), relative error below 2^-27. */
export const tanhCoefficients: readonly number[] = [
  -0.3333328068256378, 0.13331443071365356, -0.05373974144458771, 0.02063916064798832, -0.005705059505999088,
];

/** tanh(x) of four float32 lanes. Error below 2 units in the last place. */
export function tanh(f: FunctionBuilder, x: V128): Local<"v128"> {
  const given = f.value(x);
  const magnitude = f.value(f32x4.abs(given));
  const square = f.value(f32x4.mul(given, given));
  const near = f.value(f.madd(f32x4.mul(given, square), polynomial(f, square, tanhCoefficients), given));
  const growth = f32x4.add(clampedExp(f, f32x4.add(magnitude, magnitude)), f32x4.const(1));
  const far = withSign(f, f32x4.sub(f32x4.const(1), f32x4.div(f32x4.const(2), growth)), given);
  return f.value(v128.bitselect(near, far, f32x4.lt(magnitude, f32x4.const(tanhPolynomialLimit))));
}
