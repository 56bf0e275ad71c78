/** Activation functions of linear layers on vectors of float32: the order of operations of `../../wasm/math/activation.ts`, and with that its bits. */
import type { Activation } from "../../../ir/operations.ts";
import type { Vector } from "../assembler/operands.ts";
import { erfDenominator, erfNumerator, erfSaturation } from "../../wasm/math/error-function.ts";
import { expCoefficients, ln2High, ln2Low } from "../../wasm/math/exponential.ts";
import { tanhCoefficients, tanhPolynomialLimit } from "../../wasm/math/hyperbolic.ts";
import type { FloatCode } from "./float-code.ts";

const signBit = -0x80000000;
const exponentBias = 127;
/** 2^23 + 2^22: adding it to a small float32 rounds it to an integer in the low bits. */
const roundingBase = 12_582_912;
const mantissaBits = 23;
/** Comparison of vcmpps: less than, false for NaN. */
const lessThan = 1;

/** Applies an activation to `x` in place. NaN gives NaN. Takes 5 temporaries. */
export function emitActivation(code: FloatCode, activation: Activation, x: Vector): void {
  const { asm, vectors } = code;
  switch (activation) {
    case "none":
      return;
    case "relu":
      vectors.with(1, ([zero = 0]) => {
        asm.clear(zero);
        asm.vector("vmaxps", x, zero, x);
      });
      return;
    case "tanh":
      emitTanh(code, x);
      return;
    case "sigmoid":
      vectors.with(1, ([growth = 0]) => {
        emitGrowth(code, growth, x);
        code.set(x, 1);
        asm.vector("vdivps", x, x, growth);
      });
      return;
    case "silu":
      vectors.with(1, ([growth = 0]) => {
        emitGrowth(code, growth, x);
        asm.vector("vdivps", x, x, growth);
      });
      return;
    case "gelu-tanh":
      vectors.with(2, ([inner = 0, cubic = 0]) => {
        asm.vector("vmulps", cubic, x, x);
        code.set(inner, 0.044715);
        code.withConstant("vfmadd213ps", cubic, inner, 1);
        code.withConstant("vmulps", inner, x, 2 * Math.sqrt(2 / Math.PI));
        asm.vector("vmulps", inner, inner, cubic);
        emitGrowth(code, cubic, inner);
        asm.vector("vdivps", x, x, cubic);
      });
      return;
    case "gelu":
      vectors.with(2, ([half = 0, value = 0]) => {
        code.withConstant("vmulps", half, x, 0.5);
        code.withConstant("vmulps", value, x, Math.SQRT1_2);
        emitErrorFunction(code, value);
        asm.vector("vfmadd213ps", value, half, half);
        asm.copy(x, value);
      });
      return;
  }
  activation satisfies never;
}

/** growth = 1 + e^-x. `growth` differs from `x`. */
function emitGrowth(code: FloatCode, growth: Vector, x: Vector): void {
  code.withInteger("vpxor", growth, x, signBit);
  emitClampedExp(code, growth);
  code.withConstant("vaddps", growth, growth, 1);
}

/** e^x in place, with x clamped to -87 to 88. Error below 1.5 units in the last place within the range. NaN gives NaN. Takes 3 temporaries. */
export function emitClampedExp(code: FloatCode, x: Vector): void {
  const { asm, vectors } = code;
  code.clamp(x, -87, 88);
  vectors.with(3, ([rounded = 0, rest = 0, n = 0]) => {
    const base = roundingBase + exponentBias;
    code.set(rounded, Math.LOG2E);
    code.withConstant("vfmadd213ps", rounded, x, base);
    code.withConstant("vsubps", n, rounded, base);
    asm.copy(rest, x);
    code.withConstant("vfmadd231ps", rest, n, -ln2High);
    code.withConstant("vfmadd231ps", rest, n, -ln2Low);
    code.polynomial(x, rest, expCoefficients);
    code.withInteger("vpsubd", rounded, rounded, new Int32Array(Float32Array.of(roundingBase).buffer)[0] ?? 0);
    asm.vector("vpslld", rounded, rounded, mantissaBits);
    asm.vector("vmulps", x, x, rounded);
  });
}

/** erf(x) in place. Takes 3 temporaries. */
export function emitErrorFunction(code: FloatCode, x: Vector): void {
  const { asm, vectors } = code;
  code.clamp(x, -erfSaturation, erfSaturation);
  vectors.with(3, ([square = 0, above = 0, below = 0]) => {
    asm.vector("vmulps", square, x, x);
    code.polynomial(above, square, erfNumerator);
    asm.vector("vmulps", above, x, above);
    code.polynomial(below, square, erfDenominator);
    asm.vector("vdivps", x, above, below);
  });
  code.clamp(x, -1, 1);
}

/** tanh(x) in place: a polynomial near 0, 1 - 2 / (e^2|x| + 1) beyond. Takes 5 temporaries. */
export function emitTanh(code: FloatCode, x: Vector): void {
  const { asm, vectors } = code;
  vectors.with(2, ([far = 0, near = 0]) => {
    code.withInteger("vpand", far, x, ~signBit);
    asm.vector("vaddps", far, far, far);
    emitClampedExp(code, far);
    code.withConstant("vaddps", far, far, 1);
    code.set(near, 2);
    asm.vector("vdivps", far, near, far);
    code.set(near, 1);
    asm.vector("vsubps", far, near, far);
    vectors.with(2, ([other = 0, square = 0]) => {
      // The magnitude with the sign of x, bit by bit.
      code.withInteger("vpand", other, x, signBit);
      code.withInteger("vpand", far, far, ~signBit);
      asm.vector("vpor", far, far, other);
      asm.vector("vmulps", square, x, x);
      code.polynomial(near, square, tanhCoefficients);
      asm.vector("vmulps", square, x, square);
      asm.vector("vfmadd213ps", near, square, x);
      code.withInteger("vpand", other, x, ~signBit);
      if (asm.target.hasEvex) {
        const isNear = 1;
        code.set(square, tanhPolynomialLimit);
        asm.vector("vcmppsMask", isNear, other, square, lessThan);
        asm.vector("vblendmps", x, far, near, { mask: isNear });
      } else {
        code.set(square, tanhPolynomialLimit);
        asm.vector("vcmpps", square, other, square, lessThan);
        asm.vector("vblendvps", x, far, near, square);
      }
    });
  });
}
