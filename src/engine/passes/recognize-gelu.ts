/** Recognizes GELU (Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415) as exporters spell it. */
import type { Value } from "../ir/graph.ts";
import { isClose, eitherOrder, getFactors, getOperand, getOperands, getScalar } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Replaces `x (1 + erf(x / sqrt 2)) / 2`, and the tanh approximation, by "gelu". The factors may be in any order. */
export const recognizeGelu: Pass = valuePass(({ operation, inputs }, rewriter) => {
  if (operation.kind !== "binary" || operation.function !== "mul") return undefined;
  const factors = inputs.flatMap((input) => getFactors(rewriter, input));
  const half = factors.findIndex((factor) => isClose(getScalar(factor), 0.5));
  const [one, other, ...more] = factors.toSpliced(half, 1);
  if (half < 0 || one === undefined || other === undefined || more.length > 0) return undefined;
  return gated(rewriter, one, other) ?? gated(rewriter, other, one);
});

/** GELU of x, if `gate` is `1 + erf(x / sqrt 2)` or `1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))`. */
function gated(rewriter: Rewriter, x: Value, gate: Value): Value | undefined {
  for (const [curve, one] of eitherOrder(rewriter, gate, "add")) {
    if (!isClose(getScalar(one), 1)) continue;
    const error = getOperand(rewriter, curve, "erf");
    if (error !== undefined && isOverRootTwo(rewriter, error, x)) return rewriter.add({ kind: "gelu", approximate: "none" }, x);
    const inner = getOperand(rewriter, curve, "tanh");
    if (inner !== undefined && isCubic(rewriter, inner, x)) return rewriter.add({ kind: "gelu", approximate: "tanh" }, x);
  }
  return undefined;
}

function isOverRootTwo(rewriter: Rewriter, value: Value, x: Value): boolean {
  const divided = getOperands(rewriter, value, "div");
  if (divided?.[0] === x && isClose(getScalar(divided[1]), Math.SQRT2)) return true;
  return eitherOrder(rewriter, value, "mul").some(([one, by]) => one === x && isClose(getScalar(by), Math.SQRT1_2));
}

/** Whether the value is `sqrt(2 / pi) (x + 0.044715 x^3)`. */
function isCubic(rewriter: Rewriter, value: Value, x: Value): boolean {
  return eitherOrder(rewriter, value, "mul").some(([sum, by]) => {
    if (!isClose(getScalar(by), Math.sqrt(2 / Math.PI))) return false;
    return eitherOrder(rewriter, sum, "add").some(([one, cube]) => {
      if (one !== x) return false;
      return eitherOrder(rewriter, cube, "mul").some(
        ([power, factor]) => isClose(getScalar(factor), 0.044715) && isCube(rewriter, power, x),
      );
    });
  });
}

function isCube(rewriter: Rewriter, value: Value, x: Value): boolean {
  const power = getOperands(rewriter, value, "pow");
  if (power?.[0] === x && getScalar(power[1]) === 3) return true;
  const factors = getFactors(rewriter, value);
  return factors.length === 3 && factors.every((factor) => factor === x);
}
