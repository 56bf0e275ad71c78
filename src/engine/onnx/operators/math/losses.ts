/** Losses of classifications. */
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** -weight[target] x[target] of scores [N, C, ...] and targets [N, ...]; targets equal to `ignore_index` count nothing. */
function negativeLogLikelihood(call: OperatorCall, scores: Value, target: Value, weights: Value | undefined): Value {
  const { shape, dataType } = scores.type;
  const reduction = call.string("reduction", "mean");
  if (reduction !== "none" && reduction !== "sum" && reduction !== "mean")
    throw new Error(`its reduction "${reduction}" is unknown`);
  if (shape.length < 2) throw new Error(`its scores [${shape.join(", ")}] have no classes`);
  const ignored = call.intIfGiven("ignore_index");
  const counted = call.cast(target, "int64");
  const kept = ignored === undefined ? undefined : call.unary("not", call.binary("equal", counted, ignored));
  const classes = kept === undefined ? counted : call.select(kept, counted, 0);
  const places = call.reshape(classes, shape.with(1, 1));
  const chosen = call.reshape(call.add({ kind: "gather-elements", axis: 1 }, scores, places), shape.toSpliced(1, 1));
  const own = weights === undefined ? undefined : call.add({ kind: "gather", axis: 0 }, weights, classes);
  const weighted = own === undefined ? chosen : call.binary("mul", chosen, own);
  const loss = call.unary("neg", kept === undefined ? weighted : call.select(kept, weighted, 0));
  if (reduction === "none") return loss;
  const all = [...loss.type.shape.keys()];
  if (reduction === "mean" && own === undefined && kept === undefined) return call.reduce("mean", loss, all, false);
  const sum = call.reduce("sum", loss, all, false);
  if (reduction === "sum") return sum;
  const ones = own ?? call.add({ kind: "expand", shape: loss.type.shape }, call.scalar(1, dataType));
  const counting = kept === undefined ? ones : call.select(kept, ones, 0);
  return call.binary("div", sum, call.reduce("sum", counting, all, false));
}

/** Inputs: scores, labels, [weights]. The second output is the logarithm of the softmax. */
function softmaxCrossEntropy(call: OperatorCall): readonly Value[] {
  const logarithms = call.add({ kind: "softmax", axis: 1, logarithm: true }, call.tensor(0));
  return [negativeLogLikelihood(call, logarithms, call.tensor(1), call.tensorIfGiven(2)), logarithms];
}

export const losses: OperatorFamily = {
  NegativeLogLikelihoodLoss: since(12, (call) =>
    negativeLogLikelihood(call, call.tensor(0), call.tensor(1), call.tensorIfGiven(2)),
  ),
  SoftmaxCrossEntropyLoss: since(12, softmaxCrossEntropy),
};
