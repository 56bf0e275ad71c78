/** Ensembles of decision trees of ai.onnx.ml: TreeEnsembleRegressor and TreeEnsembleClassifier, and TreeEnsemble of version 5. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { type Literal, toNumbers } from "../../../ir/literal.ts";
import { treeAggregates, treeModes } from "../../../interpret/tree-ensembles.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import {
  gatherLabels,
  classLabels,
  argmaxLabel,
  asMatrix,
  getPostTransform,
  postTransforms,
  applyPostTransform,
} from "./class-scores.ts";

/** Attributes of the interpreted function, see `engine/interpret/tree-ensembles.ts`. */
type Trees = Readonly<Record<string, readonly number[]>>;

/** The scores [N, targets] of all trees. */
function scores(call: OperatorCall, x: Value, trees: Trees, targets: number, aggregate: string): Value {
  if ((trees["targets"] ?? []).some((target) => !(target >= 0 && target < targets))) {
    throw new Error(`a leaf refers to a target that is not among ${targets}`);
  }
  const types = [{ dataType: x.type.dataType, shape: [at(x.type.shape, 0), targets] }];
  return call.add({ kind: "call", function: "tree-ensemble", attributes: { ...trees, aggregate }, types }, x);
}

/** Numbers of a float attribute, or of its variant `..._as_tensor`. */
function floats(call: OperatorCall, name: string): readonly number[] {
  const tensor = call.literal(`${name}_as_tensor`);
  return tensor === undefined ? (call.floats(name) ?? []) : Array.from(toNumbers(tensor));
}

/** The trees in the form up to version 3, where nodes are named by tree and node id. `leaf`: prefix of the attributes of leaf weights. */
function treesOfAttributes(call: OperatorCall, leaf: "target" | "class"): Trees {
  const [treeIds = [], nodeIds = []] = [call.ints("nodes_treeids"), call.ints("nodes_nodeids")];
  const modes = call.strings("nodes_modes") ?? [];
  const nodeIndices = new Map(nodeIds.map((id, index) => [`${treeIds[index]}:${id}`, index]));
  const leaves = modes.flatMap((mode, index) => (mode === "LEAF" ? [index] : []));
  const leafNumbers = new Map(leaves.map((node, number) => [node, number]));
  const weightsOf = new Map<string, number[]>();
  const [owners = [], ownerNodes = [], targets = []] = [`${leaf}_treeids`, `${leaf}_nodeids`, `${leaf}_ids`].map((name) =>
    call.ints(name),
  );
  const weights = floats(call, `${leaf}_weights`);
  for (const [at, tree] of owners.entries()) {
    const key = `${tree}:${ownerNodes[at]}`;
    weightsOf.set(key, [...(weightsOf.get(key) ?? []), at]);
  }
  const order = leaves.flatMap((node) => weightsOf.get(`${treeIds[node]}:${nodeIds[node]}`) ?? []);
  const starts = [0];
  for (const node of leaves)
    starts.push(at(starts, starts.length - 1) + (weightsOf.get(`${treeIds[node]}:${nodeIds[node]}`)?.length ?? 0));
  const encoded = (index: number): number => {
    const number = leafNumbers.get(index);
    return number === undefined ? index : -1 - number;
  };
  const children = (name: string): number[] =>
    (call.ints(name) ?? []).map((id, index) => {
      if (modes[index] === "LEAF") return 0;
      const child = nodeIndices.get(`${treeIds[index]}:${id}`);
      if (child === undefined)
        throw new Error(`node ${nodeIds[index]} of tree ${treeIds[index]} refers to node ${id}, which does not exist`);
      return encoded(child);
    });
  const [yes, no] = [children("nodes_truenodeids"), children("nodes_falsenodeids")];
  call.ignore("nodes_hitrates", "nodes_hitrates_as_tensor");
  const roots: number[] = [];
  const seen = new Set<number>();
  for (const [index, tree] of treeIds.entries()) {
    if (!seen.has(tree)) roots.push(encoded(index)); // the first node of a tree is its root
    seen.add(tree);
  }
  return {
    features: call.ints("nodes_featureids") ?? [],
    modes: modes.map((mode) => (mode === "LEAF" ? 0 : getMode(mode))),
    splits: floats(call, "nodes_values"),
    yes,
    no,
    missing: call.ints("nodes_missing_value_tracks_true") ?? [],
    roots,
    starts,
    targets: order.map((index) => at(targets, index)),
    weights: order.map((index) => at(weights, index)),
    base: floats(call, "base_values"),
  };
}

/** The number of a comparison in `treeModes`. */
function getMode(name: string): number {
  const mode = treeModes.findIndex((each) => `BRANCH_${each}` === name);
  if (mode < 0) throw new Error(`mode "${name}" is unknown`);
  return mode;
}

/** The attribute aggregate_function. Throws if it is unknown. */
function getAggregate(call: OperatorCall): string {
  const name = call.string("aggregate_function", "SUM");
  if (!treeAggregates.some((each) => each === name)) throw new Error(`aggregate_function "${name}" is unknown`);
  return name;
}

/** The features [N, C], in float64 if they are given so, else in float32. */
function getFeatures(call: OperatorCall): Value {
  const x = call.tensor(0);
  return asMatrix(call, x, x.type.dataType === "float64" ? "float64" : "float32");
}

/** TreeEnsembleRegressor. */
function regressor(call: OperatorCall): Value {
  const x = getFeatures(call);
  const targets = call.int("n_targets", 1);
  const transform = getPostTransform(call);
  // onnxruntime does not transform a single target, and the specification says that it is transformed; refuse rather than guess.
  if (targets === 1 && transform !== "NONE") throw new Error(`post_transform ${transform} is not supported for a single target`);
  const sums = scores(call, x, treesOfAttributes(call, "target"), targets, getAggregate(call));
  return call.cast(applyPostTransform(call, sums, transform), "float32");
}

/** TreeEnsembleClassifier. Outputs: labels and scores. If the leaves of two classes refer to only one, the score belongs to the second class. */
function classifier(call: OperatorCall): readonly Value[] {
  const x = getFeatures(call);
  const labels = classLabels(call, "classlabels_strings", "classlabels_int64s");
  const classes = at(labels.shape, 0);
  const trees = treesOfAttributes(call, "class");
  const transform = getPostTransform(call);
  const single = classes === 2 && new Set(trees["targets"]).size === 1;
  if (!single) {
    const sums = call.cast(scores(call, x, trees, classes, "SUM"), "float32");
    return [argmaxLabel(call, labels, sums), applyPostTransform(call, sums, transform)];
  }
  const base = trees["base"] ?? [];
  if (base.length > 1) throw new Error("base_values of two classes with weights of one are not supported");
  const moved = { ...trees, targets: (trees["targets"] ?? []).map(() => 0) };
  const score = call.cast(scores(call, x, moved, 1, "SUM"), "float32");
  const positiveWeights = (trees["weights"] ?? []).every((weight) => weight >= 0);
  if (transform !== "NONE" && !(transform === "LOGISTIC" && !positiveWeights))
    throw new Error(`post_transform ${transform} is not supported for a single score`);
  const bound = positiveWeights ? 0.5 : 0;
  const chosen = call.reshape(call.cast(call.binary("greater", score, bound), "int64"), [at(x.type.shape, 0)]);
  const other = positiveWeights ? call.binary("sub", 1, score) : call.unary("neg", score);
  const both = call.add({ kind: "concat", axis: 1 }, other, score);
  return [gatherLabels(call, labels, chosen), applyPostTransform(call, both, transform)];
}

/** TreeEnsemble of version 5, where nodes and leaves are indices into common lists. */
function ensemble(call: OperatorCall): Value {
  const x = getFeatures(call);
  const numbers = (literal: Literal | undefined): readonly number[] =>
    literal === undefined ? [] : Array.from(toNumbers(literal));
  const child = (ids: string, leaves: string): number[] => {
    const isLeaf = call.ints(leaves) ?? [];
    return (call.ints(ids) ?? []).map((id, index) => (isLeaf[index] === 1 ? -1 - id : id));
  };
  const targets = call.ints("leaf_targetids") ?? [];
  const [sets, members] = memberships(numbers(call.literal("membership_values")));
  const trees = {
    features: call.ints("nodes_featureids") ?? [],
    modes: numbers(call.literal("nodes_modes")),
    splits: numbers(call.literal("nodes_splits")),
    yes: child("nodes_truenodeids", "nodes_trueleafs"),
    no: child("nodes_falsenodeids", "nodes_falseleafs"),
    missing: call.ints("nodes_missing_value_tracks_true") ?? [],
    sets,
    members,
    roots: call.ints("tree_roots") ?? [],
    starts: Array.from({ length: targets.length + 1 }, (_, leaf) => leaf),
    targets,
    weights: numbers(call.literal("leaf_weights")),
  };
  call.ignore("nodes_hitrates");
  const aggregate = treeAggregates[call.int("aggregate_function", 1)];
  const transform = postTransforms[call.int("post_transform", 0)];
  if (aggregate === undefined || transform === undefined) throw new Error("aggregate_function or post_transform is unknown");
  return applyPostTransform(call, scores(call, x, trees, call.int("n_targets", 1), aggregate), transform);
}

/** The membership sets, which NaN terminates: the start of each in `members`, and all members. */
function memberships(values: readonly number[]): readonly [sets: readonly number[], members: readonly number[]] {
  const sets = [0];
  const members: number[] = [];
  for (const value of values) {
    if (Number.isNaN(value)) sets.push(members.length);
    else members.push(value);
  }
  return [sets, members];
}

/** Translates TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier of ai.onnx.ml, whose trees the interpreter evaluates. */
export const treeEnsembles: OperatorFamily = {
  "ai.onnx.ml:TreeEnsemble": since(5, ensemble),
  "ai.onnx.ml:TreeEnsembleRegressor": since(1, regressor),
  "ai.onnx.ml:TreeEnsembleClassifier": since(1, classifier),
};
