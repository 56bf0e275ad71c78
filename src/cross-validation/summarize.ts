/** The worst of all compared positions, and the limits that do not hold. */
import type { LogitsSummary, PositionComparison, WorstValue } from "./cross-validation.ts";
import type { TokensPerSecond } from "./language-run.ts";

type Measure = "maxError" | "rmsError" | "cosine" | "klDivergence";

/** Summarizes one or more positions. `textOf`: the text of a token, for the first divergence. */
export function summarizePositions(
  positions: readonly PositionComparison[],
  speeds: { readonly reference: TokensPerSecond; readonly tested: TokensPerSecond },
  textOf: ((token: number) => string) | undefined,
): LogitsSummary {
  const worst = (measure: Measure, isWorse: (value: number, than: number) => boolean): WorstValue =>
    positions
      .map(({ position, [measure]: value }) => ({ value, position }))
      .reduce((found, each) => (isWorse(each.value, found.value) ? each : found));
  const mean = (measure: Measure): number => positions.reduce((sum, each) => sum + each[measure], 0) / positions.length;
  const larger = (value: number, than: number): boolean => value > than;
  const diverging = positions.find(({ agrees }) => !agrees);
  const texts = (found: PositionComparison): { referenceText?: string; testedText?: string } =>
    textOf === undefined ? {} : { referenceText: textOf(found.reference.token), testedText: textOf(found.tested.token) };
  const { reference, tested } = speeds;
  return {
    maxError: worst("maxError", larger),
    rmsError: worst("rmsError", larger),
    cosine: { mean: mean("cosine"), worst: worst("cosine", (value, than) => value < than) },
    klDivergence: { mean: mean("klDivergence"), worst: worst("klDivergence", larger) },
    agreeing: positions.filter(({ agrees }) => agrees).length,
    firstDivergence: diverging === undefined ? null : { ...diverging, ...texts(diverging) },
    speedRatio: { prefill: ratio(tested.prefill, reference.prefill), decode: ratio(tested.decode, reference.decode) },
  };
}

/** Limits of a comparison. */
export interface ComparisonLimits {
  readonly maxError?: number | undefined;
  readonly minCosine?: number | undefined;
}

/** Sentences about limits that are exceeded. `what`: the unit of the summary, "position" or "text". */
export function brokenLimits(
  { maxError, minCosine }: ComparisonLimits,
  summary: { readonly maxError: WorstValue; readonly cosine: { readonly worst: WorstValue } },
  what: "position" | "text",
): readonly string[] {
  const { maxError: error, cosine } = summary;
  const failures: string[] = [];
  if (maxError !== undefined && !(error.value <= maxError))
    failures.push(
      `the maximum error is ${error.value.toPrecision(3)} at ${what} ${error.position}, and the limit is ${maxError}`,
    );
  if (minCosine !== undefined && !(cosine.worst.value >= minCosine)) {
    const { value, position } = cosine.worst;
    failures.push(`the cosine is ${value.toFixed(6)} at ${what} ${position}, and the limit is ${minCosine}`);
  }
  return failures;
}

function ratio(tested: number | null, reference: number | null): number | null {
  return tested === null || reference === null || reference === 0 ? null : tested / reference;
}
