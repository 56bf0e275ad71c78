/** Ensembles of decision trees. */
import { type Literal, literalOf, numbersOf } from "../ir/literal.ts";
import type { CallAttributes } from "../ir/operations.ts";

export const treeModes = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER"] as const;
export const treeAggregates = ["AVERAGE", "SUM", "MIN", "MAX"] as const;

/**
 * Attributes, with nodes and leaves of all trees numbered from 0 and a leaf named by -1 - its number:
 *   features, modes, splits, yes, no, missing: of each node the column, the comparison (a place in treeModes), what with, where to go when it holds
 *     and when not, and whether what is no number holds
 *   sets, members: of each MEMBER node, in order, where its members begin; the members
 *   roots: of each tree
 *   starts, targets, weights: of each leaf where its weights begin; of each weight what it adds to, and the weight
 *   base: of each target; may be left out
 *   aggregate: a name of treeAggregates
 */
interface Ensemble {
  readonly features: readonly number[];
  readonly modes: readonly number[];
  readonly splits: readonly number[];
  readonly yes: readonly number[];
  readonly no: readonly number[];
  readonly missing: readonly number[];
  readonly memberSets: ReadonlyMap<number, ReadonlySet<number>>;
  readonly roots: readonly number[];
}

/** Scores [N, targets] of features [N, C]. */
export function evaluateTreeEnsemble(
  [x]: readonly Literal[],
  attributes: CallAttributes,
  types: readonly { readonly shape: readonly number[] }[],
): readonly Literal[] {
  if (x === undefined) throw new Error("it lacks its operand");
  const list = (name: string): readonly number[] => (attributes[name] ?? []) as readonly number[];
  const ensemble: Ensemble = {
    features: list("features"),
    modes: list("modes"),
    splits: list("splits"),
    yes: list("yes"),
    no: list("no"),
    missing: list("missing"),
    memberSets: memberSetsOf(list("modes"), list("sets"), list("members")),
    roots: list("roots"),
  };
  const [starts, targets, weights, base] = [list("starts"), list("targets"), list("weights"), list("base")];
  const { aggregate } = attributes;
  const [rows = 0, columns = 0] = x.shape;
  const width = types[0]?.shape[1] ?? 0;
  const values = numbersOf(x);
  const results = new Float64Array(rows * width);
  for (let row = 0; row < rows; row += 1) {
    const scored = new Map<number, number>();
    for (const root of ensemble.roots) {
      const leaf = leafOf(ensemble, root, values, row * columns, columns);
      for (let at = starts[leaf] ?? 0; at < (starts[leaf + 1] ?? 0); at += 1) {
        const [target, weight] = [targets[at] ?? 0, weights[at] ?? 0];
        const old = scored.get(target);
        if (old === undefined) scored.set(target, weight);
        else if (aggregate === "MIN") scored.set(target, Math.min(old, weight));
        else if (aggregate === "MAX") scored.set(target, Math.max(old, weight));
        else scored.set(target, old + weight);
      }
    }
    for (let target = 0; target < width; target += 1) {
      const score = scored.get(target) ?? 0;
      results[row * width + target] = (aggregate === "AVERAGE" ? score / ensemble.roots.length : score) + (base[target] ?? 0);
    }
  }
  return [literalOf(x.dataType, [rows, width], results)];
}

function memberSetsOf(
  modes: readonly number[],
  sets: readonly number[],
  members: readonly number[],
): ReadonlyMap<number, ReadonlySet<number>> {
  const nodes = [...modes.keys()].filter((node) => treeModes[modes[node] ?? 0] === "MEMBER");
  return new Map(nodes.map((node, index) => [node, new Set(members.slice(sets[index] ?? 0, sets[index + 1]))]));
}

function leafOf(ensemble: Ensemble, root: number, values: ArrayLike<number>, start: number, columns: number): number {
  let node = root;
  for (let steps = 0; node >= 0; steps += 1) {
    const feature = ensemble.features[node];
    if (feature === undefined || steps > ensemble.features.length) throw new Error("one of its trees does not end");
    if (feature >= columns) throw new Error(`one of its trees looks at the feature ${feature} of ${columns}`);
    const value = values[start + feature] ?? 0;
    const holds = Number.isNaN(value) && ensemble.missing[node] === 1 ? true : compare(ensemble, node, value);
    node = (holds ? ensemble.yes : ensemble.no)[node] ?? 0;
  }
  return -1 - node;
}

function compare(ensemble: Ensemble, node: number, value: number): boolean {
  const split = ensemble.splits[node] ?? 0;
  const mode = treeModes[ensemble.modes[node] ?? 0];
  if (mode === "LEQ") return value <= split;
  if (mode === "LT") return value < split;
  if (mode === "GTE") return value >= split;
  if (mode === "GT") return value > split;
  if (mode === "EQ") return value === split;
  if (mode === "NEQ") return value !== split;
  return ensemble.memberSets.get(node)?.has(value) ?? false;
}
