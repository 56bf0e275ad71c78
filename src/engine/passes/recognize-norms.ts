/** Recognizes layer normalization (Ba et al. 2016, https://arxiv.org/abs/1607.06450) as exporters spell it. */
import type { Value } from "../ir/graph.ts";
import { eitherOrder, getOperand, getOperands, getScalar } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Replaces `(x - mean(x)) / sqrt(variance(x) + epsilon) * gamma + beta` over the last axis by "layer-norm". */
export const recognizeNorms: Pass = valuePass(({ operation, inputs: [a, b] }, rewriter) => {
  if (operation.kind !== "binary" || operation.function !== "add" || a === undefined || b === undefined) return undefined;
  return shiftedNorm(rewriter, a, b) ?? shiftedNorm(rewriter, b, a);
});

/** The layer norm, if `scaled` is gamma times a normalized tensor; gamma and beta are constants with the size of the last axis. */
function shiftedNorm(rewriter: Rewriter, scaled: Value, beta: Value): Value | undefined {
  const { shape } = scaled.type;
  const columns = String(shape.at(-1));
  if (beta.constant === undefined || beta.type.shape.join() !== columns) return undefined;
  for (const [normalized, gamma] of eitherOrder(rewriter, scaled, "mul")) {
    if (gamma.constant === undefined || gamma.type.shape.join() !== columns) continue;
    const found = getNormalized(rewriter, normalized);
    if (found === undefined) continue;
    return rewriter.add({ kind: "layer-norm", axis: shape.length - 1, epsilon: found.epsilon }, found.x, gamma, beta);
  }
  return undefined;
}

/** What is normalized, and with which epsilon. */
interface Normalized {
  readonly x: Value;
  readonly epsilon: number;
}

/** Matches `(x - mean) / sqrt(variance + epsilon)`, and the same with a multiplication by the reciprocal. */
function getNormalized(rewriter: Rewriter, value: Value): Normalized | undefined {
  const divided = getOperands(rewriter, value, "div");
  if (divided !== undefined) return centredOver(rewriter, divided[0], getOperand(rewriter, divided[1], "sqrt"));
  for (const [centred, factor] of eitherOrder(rewriter, value, "mul")) {
    const root = getOperand(rewriter, factor, "reciprocal");
    const found = root && centredOver(rewriter, centred, getOperand(rewriter, root, "sqrt"));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Matches x - mean(x) and a variance that is the mean of its squares plus epsilon. */
function centredOver(rewriter: Rewriter, centred: Value, variance: Value | undefined): Normalized | undefined {
  const parts = getOperands(rewriter, centred, "sub");
  if (parts === undefined || variance === undefined) return undefined;
  const [x, mean] = parts;
  if (getLastMean(rewriter, mean) !== x) return undefined;
  for (const [squares, added] of eitherOrder(rewriter, variance, "add")) {
    const epsilon = getScalar(added);
    const squared = getLastMean(rewriter, squares);
    const factors = squared && getOperands(rewriter, squared, "mul");
    if (epsilon !== undefined && factors?.[0] === centred && factors[1] === centred) return { x, epsilon };
  }
  return undefined;
}

/** The tensor whose mean over the last axis, kept with size 1, the value is. */
function getLastMean(rewriter: Rewriter, value: Value): Value | undefined {
  const node = rewriter.producerOfKind(value, "reduce");
  const [x] = node?.inputs ?? [];
  if (node === undefined || x === undefined || !node.operation.keep || node.operation.function !== "mean") return undefined;
  return node.operation.axes.join() === String(x.type.shape.length - 1) ? x : undefined;
}
