/** The order of candidates: one function per policy, then the caller's preferences in front. Sorting is stable. */
import type { Manifest } from "../../models/manifest.ts";
import { type Target, type TargetPattern, matches, parseTarget } from "./target.ts";
import type { Policy, Constraints } from "./constraints.ts";

/** What is ordered. `latencyMs`: how long one input takes here, where that was measured and the candidate can run. */
export interface RankableCandidate {
  readonly target: Target;
  readonly latencyMs?: number;
}

type Rank = (target: Target) => number;

const byPriority = (_manifest: Manifest, constraints: Constraints): readonly Rank[] => [
  (target) => positionOf(target, constraints.priority.map(parseTarget)),
];

const rankBy: Readonly<Record<Policy, (manifest: Manifest, constraints: Constraints) => readonly Rank[]>> = {
  priority: byPriority,
  manifest: ({ selection }) => {
    const named = [...(selection.preferred === undefined ? [] : [selection.preferred]), ...selection.fallbacks].map(parseTarget);
    return [(target) => positionOf(target, named)];
  },
  fastest: (manifest, constraints) => [({ device }) => (device.type === "cpu" ? 1 : 0), ...byPriority(manifest, constraints)],
};

/** Orders anything that has a target; equal ranks keep the order of registration and the backend's own order of devices. */
export function orderByPolicy<Item extends RankableCandidate>(
  items: readonly Item[],
  manifest: Manifest,
  constraints: Constraints,
): Item[] {
  const preference: Rank = (target) => positionOf(target, constraints.preferred);
  const ranks = [preference, ...rankBy[constraints.policy](manifest, constraints)];
  const placed = items.toSorted((a, b) => firstDifference(ranks, a.target, b.target));
  if (constraints.policy !== "fastest") return placed;
  const groups = new Set(placed.map(({ target }) => preference(target)));
  return [...groups].flatMap((group) => fastestFirst(placed.filter(({ target }) => preference(target) === group)));
}

function firstDifference(ranks: readonly Rank[], a: Target, b: Target): number {
  for (const rank of ranks) if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return 0;
}

/** Those that were measured share out the places they hold among themselves, the fastest first; the others stay where they are. */
function fastestFirst<Item extends RankableCandidate>(items: readonly Item[]): Item[] {
  const measured = items
    .flatMap((item) => (item.latencyMs === undefined ? [] : [{ item, latencyMs: item.latencyMs }]))
    .toSorted((a, b) => a.latencyMs - b.latencyMs)
    .values();
  return items.map((item) => (item.latencyMs === undefined ? item : (measured.next().value?.item ?? item)));
}

/** The first pattern that matches, or one past the end. */
function positionOf(target: Target, patterns: readonly TargetPattern[]): number {
  const found = patterns.findIndex((pattern) => matches(pattern, target));
  return found === -1 ? patterns.length : found;
}
