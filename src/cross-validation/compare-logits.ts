/** Compares the logits of one position from two runs. All sums are in double precision. */
import { InferyardError } from "../contract/errors.ts";
import { compareVectors, type VectorDifference } from "./compare-vectors.ts";

/** The token with the highest logit of one position. */
export interface TopToken {
  /** Id of the token; of equal logits the lowest id. */
  readonly token: number;
  readonly logit: number;
  /** Difference between its logit and the second highest. 0: two tokens are equally likely. */
  readonly margin: number;
}

/** Differences between the logits of one position and the reference. */
export interface LogitsComparison extends Pick<VectorDifference, "maxError" | "rmsError" | "cosine"> {
  /** Kullback-Leibler divergence of the tested distribution of tokens from the reference's, in nats, at temperature 1. */
  readonly klDivergence: number;
  readonly reference: TopToken;
  readonly tested: TopToken;
}

/** Compares two vectors of finite logits of the same length. */
export function compareLogits(reference: Float32Array, tested: Float32Array): LogitsComparison {
  const { maxError, rmsError, cosine } = compareVectors(reference, tested);
  return {
    maxError,
    rmsError,
    cosine,
    klDivergence: klDivergence(reference, tested),
    reference: topToken(reference),
    tested: topToken(tested),
  };
}

/** The highest logit, and how far the second is below it. */
export function topToken(logits: Float32Array): TopToken {
  let token = 0;
  let logit = Number.NEGATIVE_INFINITY;
  let second = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < logits.length; index += 1) {
    const value = logits[index] ?? 0;
    if (value > logit) {
      second = logit;
      logit = value;
      token = index;
    } else if (value > second) second = value;
  }
  return { token, logit, margin: second === Number.NEGATIVE_INFINITY ? 0 : logit - second };
}

/** Throws VERIFICATION_FAILED unless all logits are finite. `where`: the run, for the message. */
export function requireFiniteLogits(logits: Float32Array, position: number, where: string): void {
  const index = logits.findIndex((value) => !Number.isFinite(value));
  if (index < 0) return;
  throw new InferyardError(
    "VERIFICATION_FAILED",
    `${where}: the logit of token ${index} at position ${position} is ${String(logits[index])}, and all must be finite`,
    { remedy: "the engine computes this model wrongly: use another target", data: { position, token: index } },
  );
}

/** Sum of p(x) (log p(x) - log q(x)), p of the reference. Rounding can take it a little below 0, which is no divergence. */
function klDivergence(reference: Float32Array, tested: Float32Array): number {
  const logP = logSumExp(reference);
  const logQ = logSumExp(tested);
  let sum = 0;
  for (let index = 0; index < reference.length; index += 1) {
    const log = (reference[index] ?? 0) - logP;
    sum += Math.exp(log) * (log - ((tested[index] ?? 0) - logQ));
  }
  return Math.max(0, sum);
}

function logSumExp(logits: Float32Array): number {
  const { logit: highest } = topToken(logits);
  let sum = 0;
  for (const value of logits) sum += Math.exp(value - highest);
  return highest + Math.log(sum);
}
