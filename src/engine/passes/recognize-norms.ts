/**
 * Recognizes layer normalization (Ba et al. 2016, https://arxiv.org/abs/1607.06450) and root mean square normalization (Zhang and Sennrich 2019,
 * https://arxiv.org/abs/1910.07467) as exporters spell them.
 */
import type { Value } from "../ir/graph.ts";
import { eitherOrder, getOperand, getOperands, getScalar } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/**
 * Replaces `(x - mean(x)) / sqrt(variance(x) + epsilon) * gamma + beta` over the last axis by "layer-norm", and `x / sqrt(mean(x * x) + epsilon) * gamma` by
 * "rms-norm".
 */
export const recognizeNorms: Pass = valuePass(({ operation, inputs: [a, b] }, rewriter) => {
  if (operation.kind !== "binary" || a === undefined || b === undefined) return undefined;
  if (operation.function === "add") return shiftedNorm(rewriter, a, b) ?? shiftedNorm(rewriter, b, a);
  return operation.function === "mul" ? (scaledRoot(rewriter, a, b) ?? scaledRoot(rewriter, b, a)) : undefined;
});

/** The root mean square norm that gamma, a constant with the size of the last axis, is multiplied with. */
function scaledRoot(rewriter: Rewriter, normalized: Value, gamma: Value): Value | undefined {
  const { shape } = normalized.type;
  if (gamma.constant === undefined || gamma.type.shape.join() !== String(shape.at(-1))) return undefined;
  const found = getNormalized(rewriter, normalized, (x, mean) =>
    getMinuend(rewriter, x) === undefined ? getMeanSquare(rewriter, x, mean) : undefined,
  );
  return found && rewriter.add({ kind: "rms-norm", axis: shape.length - 1, epsilon: found.epsilon }, found.x, gamma);
}

/** The layer norm, if `scaled` is gamma times a normalized tensor; gamma and beta are constants with the size of the last axis. */
function shiftedNorm(rewriter: Rewriter, scaled: Value, beta: Value): Value | undefined {
  const { shape } = scaled.type;
  const columns = String(shape.at(-1));
  if (beta.constant === undefined || beta.type.shape.join() !== columns) return undefined;
  for (const [normalized, gamma] of eitherOrder(rewriter, scaled, "mul")) {
    if (gamma.constant === undefined || gamma.type.shape.join() !== columns) continue;
    const found = getNormalized(rewriter, normalized, (centred, variance) => getCentred(rewriter, centred, variance));
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

/** Matches `x / sqrt(y)`, and the same with a multiplication by the reciprocal. `match`: what is normalized, if x and y are of one norm. */
function getNormalized(
  rewriter: Rewriter,
  value: Value,
  match: (x: Value, y: Value) => Normalized | undefined,
): Normalized | undefined {
  const overRoot = (x: Value, root: Value | undefined): Normalized | undefined => {
    const y = root && getOperand(rewriter, root, "sqrt");
    return y && match(x, y);
  };
  const divided = getOperands(rewriter, value, "div");
  if (divided !== undefined) return overRoot(...divided);
  for (const [x, factor] of eitherOrder(rewriter, value, "mul")) {
    const found = overRoot(x, getOperand(rewriter, factor, "reciprocal"));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Matches x - mean(x) and a variance that is the mean of its squares plus epsilon. */
function getCentred(rewriter: Rewriter, centred: Value, variance: Value): Normalized | undefined {
  const x = getMinuend(rewriter, centred);
  const found = x && getMeanSquare(rewriter, centred, variance);
  return found && { x, epsilon: found.epsilon };
}

/** The tensor from which its own mean over the last axis is subtracted; undefined if the value is something else. */
function getMinuend(rewriter: Rewriter, value: Value): Value | undefined {
  const [x, mean] = getOperands(rewriter, value, "sub") ?? [];
  return mean !== undefined && getLastMean(rewriter, mean) === x ? x : undefined;
}

/** Matches x and the mean of its squares plus epsilon. */
function getMeanSquare(rewriter: Rewriter, x: Value, sum: Value): Normalized | undefined {
  for (const [squares, added] of eitherOrder(rewriter, sum, "add")) {
    const epsilon = getScalar(added);
    const squared = getLastMean(rewriter, squares);
    const factors = squared && getOperands(rewriter, squared, "mul");
    if (epsilon !== undefined && factors?.[0] === x && factors[1] === x) return { x, epsilon };
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
