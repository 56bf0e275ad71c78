/** Evaluation of ensembles of decision trees. */
import { at } from "../../contract/checked.ts";
import { type Literal, toLiteral, toNumbers } from "../ir/literal.ts";
import type { CallAttributes } from "../ir/operations.ts";
import type { One } from "./operands.ts";

/** Comparisons of a tree node, in the order of their numbers in ONNX TreeEnsemble. MEMBER tests whether the feature is in a set of values. */
export const treeModes = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER"] as const;
/** How the weights of the leaves that a row reaches are combined, in the order of their numbers in ONNX TreeEnsemble. */
export const treeAggregates = ["AVERAGE", "SUM", "MIN", "MAX"] as const;

/**
 * The trees, from the attributes of the call. Nodes and leaves of all trees are numbered from 0; a reference to leaf n is encoded as -1 - n.
 *   features, modes, splits, yes, no, missing: for each node the feature, the comparison (index in treeModes), the value it compares with, the child if
 *     it holds, the child if not, and whether (1) NaN counts as holding
 *   sets, members: for each MEMBER node, in order, the start of its set in members; the members of all sets
 *   roots: the root node of each tree
 *   starts, targets, weights: for each leaf the start of its weights; for each weight its target and value
 *   base: a value added to each target; optional
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

/**
 * Scores [N, targets] of features x [N, C] under an ensemble of decision trees. Throws Error if a tree has a cycle or refers to a feature that does
 * not exist.
 */
export function evaluateTreeEnsemble(
  [x]: One,
  attributes: CallAttributes,
  types: readonly { readonly shape: readonly number[] }[],
): readonly Literal[] {
  const list = (name: string): readonly number[] => (attributes[name] ?? []) as readonly number[];
  const ensemble: Ensemble = {
    features: list("features"),
    modes: list("modes"),
    splits: list("splits"),
    yes: list("yes"),
    no: list("no"),
    missing: list("missing"),
    memberSets: getMemberSets(list("modes"), list("sets"), list("members")),
    roots: list("roots"),
  };
  const [starts, targets, weights, base] = [list("starts"), list("targets"), list("weights"), list("base")];
  const { aggregate } = attributes;
  const [rows = 0, columns = 0] = x.shape;
  const width = at(at(types, 0).shape, 1);
  const values = toNumbers(x);
  const results = new Float64Array(rows * width);
  for (let row = 0; row < rows; row += 1) {
    const scored = new Map<number, number>();
    for (const root of ensemble.roots) {
      const leaf = getLeaf(ensemble, root, values, row * columns, columns);
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
  return [toLiteral(x.dataType, [rows, width], results)];
}

function getMemberSets(
  modes: readonly number[],
  sets: readonly number[],
  members: readonly number[],
): ReadonlyMap<number, ReadonlySet<number>> {
  const nodes = [...modes.keys()].filter((node) => treeModes[modes[node] ?? 0] === "MEMBER");
  return new Map(nodes.map((node, index) => [node, new Set(members.slice(sets[index] ?? 0, sets[index + 1]))]));
}

function getLeaf(ensemble: Ensemble, root: number, values: ArrayLike<number>, start: number, columns: number): number {
  let node = root;
  for (let steps = 0; node >= 0; steps += 1) {
    const feature = ensemble.features[node];
    if (feature === undefined || steps > ensemble.features.length)
      throw new Error("a tree has a cycle or refers to a node that does not exist");
    if (feature >= columns) throw new Error(`a tree refers to feature ${feature}, and there are ${columns}`);
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
