/** Activation functions of linear layers and convolutions, on four float32 lanes. */
import type { Activation } from "../../../ir/operations.ts";
import type { V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { f32x4 } from "../assembler/vector.ts";
import { emitErf } from "./error-function.ts";
import { clampedExp, sigmoid } from "./exponential.ts";
import { tanh } from "./hyperbolic.ts";

/**
 * Generates code that applies the activation to four float32 lanes. NaN gives NaN. `gelu` is x/2 (1 + erf(x/sqrt 2)); `gelu-tanh` its approximation
 * x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
 */
export function activate(f: FunctionBuilder, activation: Activation, x: V128): V128 {
  switch (activation) {
    case "none":
      return x;
    case "relu":
      return f32x4.pmax(x, f32x4.const(0)); // NaN stays NaN: it is not less than 0
    case "tanh":
      return tanh(f, x);
    case "sigmoid":
      return sigmoid(f, x);
    case "silu":
      return gated(f, x, (value) => value);
    case "gelu-tanh":
      return gated(f, x, (value) => {
        const cubic = f.madd(f32x4.mul(value, value), f32x4.const(0.044715), f32x4.const(1));
        return f32x4.mul(f32x4.mul(value, f32x4.const(2 * Math.sqrt(2 / Math.PI))), cubic);
      });
    case "gelu": {
      const value = f.value(x);
      const half = f.value(f32x4.mul(value, f32x4.const(0.5)));
      return f.madd(half, emitErf(f, f32x4.mul(value, f32x4.const(Math.SQRT1_2))), half);
    }
  }
}

/** x * sigmoid(inner(x)), the form of SiLU and of the fast GELU approximation. */
function gated(f: FunctionBuilder, x: V128, inner: (value: V128) => V128): V128 {
  const value = f.value(x);
  const growth = f32x4.add(clampedExp(f, f32x4.neg(inner(value))), f32x4.const(1));
  return f32x4.div(value, growth);
}
