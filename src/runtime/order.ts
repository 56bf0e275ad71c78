/** The order of candidates: one function per policy, then the caller's preferences in front. Sorting is stable. */
import type { Manifest } from "../models/manifest.ts";
import { type Target, type TargetPattern, matches, parseTarget } from "./target.ts";
import type { Policy, Wish } from "./wish.ts";

type Rank = (target: Target) => number;

const rankBy: Readonly<Record<Policy, (manifest: Manifest, wish: Wish) => Rank>> = {
  priority: (_manifest, wish) => (target) => positionOf(target, wish.priority.map(parseTarget)),
  manifest: ({ selection }) => {
    const named = [...(selection.preferred === undefined ? [] : [selection.preferred]), ...selection.fallbacks].map(parseTarget);
    return (target) => positionOf(target, named);
  },
};

/** Orders anything that has a target; equal ranks keep the order of registration and the backend's own order of devices. */
export function orderByPolicy<Item extends { readonly target: Target }>(
  items: readonly Item[],
  manifest: Manifest,
  wish: Wish,
): Item[] {
  const rank = rankBy[wish.policy](manifest, wish);
  const preference: Rank = (target) => positionOf(target, wish.preferred);
  return items.toSorted((a, b) => preference(a.target) - preference(b.target) || rank(a.target) - rank(b.target));
}

/** The first pattern that matches, or one past the end. */
function positionOf(target: Target, patterns: readonly TargetPattern[]): number {
  const found = patterns.findIndex((pattern) => matches(pattern, target));
  return found === -1 ? patterns.length : found;
}
