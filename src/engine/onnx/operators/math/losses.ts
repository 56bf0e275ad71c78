/** Classification losses. */
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/**
 * ONNX NegativeLogLikelihoodLoss, opset 12: -weight[target] * score[target] for scores [N, C, ...] and targets [N, ...]. Targets equal to
 * `ignore_index` contribute nothing. The mean divides by the sum of the weights.
 */
function negativeLogLikelihood(call: OperatorCall, scores: Value, target: Value, weights: Value | undefined): Value {
  const { shape, dataType } = scores.type;
  const reduction = call.string("reduction", "mean");
  if (reduction !== "none" && reduction !== "sum" && reduction !== "mean") throw new Error(`reduction "${reduction}" is unknown`);
  if (shape.length < 2) throw new Error(`scores of shape [${shape.join(", ")}] have no class axis`);
  const ignored = call.intIfGiven("ignore_index");
  const labels = call.cast(target, "int64");
  const kept = ignored === undefined ? undefined : call.unary("not", call.binary("equal", labels, ignored));
  const classes = kept === undefined ? labels : call.select(kept, labels, 0);
  const indices = call.reshape(classes, shape.with(1, 1));
  const chosen = call.reshape(call.add({ kind: "gather-elements", axis: 1 }, scores, indices), shape.toSpliced(1, 1));
  const classWeights = weights === undefined ? undefined : call.add({ kind: "gather", axis: 0 }, weights, classes);
  const weighted = classWeights === undefined ? chosen : call.binary("mul", chosen, classWeights);
  const loss = call.unary("neg", kept === undefined ? weighted : call.select(kept, weighted, 0));
  if (reduction === "none") return loss;
  const all = [...loss.type.shape.keys()];
  if (reduction === "mean" && classWeights === undefined && kept === undefined) return call.reduce("mean", loss, all, false);
  const sum = call.reduce("sum", loss, all, false);
  if (reduction === "sum") return sum;
  const ones = classWeights ?? call.add({ kind: "expand", shape: loss.type.shape }, call.scalar(1, dataType));
  const counting = kept === undefined ? ones : call.select(kept, ones, 0);
  return call.binary("div", sum, call.reduce("sum", counting, all, false));
}

/** ONNX SoftmaxCrossEntropyLoss, opset 12. Inputs: scores, labels, optional weights. Outputs: the loss, and the log-softmax of the scores. */
function softmaxCrossEntropy(call: OperatorCall): readonly Value[] {
  const logarithms = call.add({ kind: "softmax", axis: 1, logarithm: true }, call.tensor(0));
  return [negativeLogLikelihood(call, logarithms, call.tensor(1), call.tensorIfGiven(2)), logarithms];
}

/** Translates the loss functions NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss of ai.onnx to graph operations. */
export const losses: OperatorFamily = {
  NegativeLogLikelihoodLoss: since(12, (call) =>
    negativeLogLikelihood(call, call.tensor(0), call.tensor(1), call.tensorIfGiven(2)),
  ),
  SoftmaxCrossEntropyLoss: since(12, softmaxCrossEntropy),
};
