/** The order of candidates: one ranking function for each policy, with the targets of `prefer` in front. The sort is stable. */
import type { Manifest } from "../../models/manifest.ts";
import { type Target, type TargetPattern, matches, parseTarget } from "../targets/target.ts";
import type { Policy, Constraints } from "../targets/constraints.ts";

/** A candidate with its order criteria. `latencyMs`: the measured time for one input in milliseconds, set if the candidate can run and was measured. */
export interface RankableCandidate {
  readonly target: Target;
  readonly latencyMs?: number;
}

type Rank = (target: Target) => number;

const byPriority = (_manifest: Manifest, constraints: Constraints): readonly Rank[] => [
  (target) => getPosition(target, constraints.priority.map(parseTarget)),
];

const rankBy: Readonly<Record<Policy, (manifest: Manifest, constraints: Constraints) => readonly Rank[]>> = {
  priority: byPriority,
  manifest: ({ selection }) => {
    const named = [...(selection.preferred === undefined ? [] : [selection.preferred]), ...selection.fallbacks].map(parseTarget);
    return [(target) => getPosition(target, named)];
  },
  fastest: (manifest, constraints) => [({ device }) => (device.type === "cpu" ? 1 : 0), ...byPriority(manifest, constraints)],
};

/**
 * Sorts candidates by preference, then by the policy. Candidates of equal rank keep the order of backend registration and each
 * backend's own order of devices.
 */
export function orderByPolicy<Item extends RankableCandidate>(
  items: readonly Item[],
  manifest: Manifest,
  constraints: Constraints,
): Item[] {
  const preference: Rank = (target) => getPosition(target, constraints.preferred);
  const ranks = [preference, ...rankBy[constraints.policy](manifest, constraints)];
  const sorted = items.toSorted((a, b) => firstDifference(ranks, a.target, b.target));
  if (constraints.policy !== "fastest") return sorted;
  const groups = new Set(sorted.map(({ target }) => preference(target)));
  return [...groups].flatMap((group) => fastestFirst(sorted.filter(({ target }) => preference(target) === group)));
}

function firstDifference(ranks: readonly Rank[], a: Target, b: Target): number {
  for (const rank of ranks) if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return 0;
}

/**
 * Sorts the measured candidates by latency among the positions that they hold. Candidates without a measurement keep their
 * positions.
 */
function fastestFirst<Item extends RankableCandidate>(items: readonly Item[]): Item[] {
  const measured = items
    .flatMap((item) => (item.latencyMs === undefined ? [] : [{ item, latencyMs: item.latencyMs }]))
    .toSorted((a, b) => a.latencyMs - b.latencyMs)
    .values();
  return items.map((item) => (item.latencyMs === undefined ? item : (measured.next().value?.item ?? item)));
}

/** Index of the first matching pattern; `patterns.length` if none matches. */
function getPosition(target: Target, patterns: readonly TargetPattern[]): number {
  const found = patterns.findIndex((pattern) => matches(pattern, target));
  return found === -1 ? patterns.length : found;
}
