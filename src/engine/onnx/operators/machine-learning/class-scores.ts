/** Scores, probabilities and labels of ai.onnx.ml models: https://onnx.ai/onnx/operators/index_ml.html. */
import { at } from "../../../../contract/checked.ts";
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, type Literal } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";

/** Values of the attribute post_transform, in the order of their numbers in TreeEnsemble. */
export const postTransforms = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"] as const;
/** A value of the attribute `post_transform` of ai.onnx.ml classifiers: the function from raw scores to returned scores. */
export type PostTransform = (typeof postTransforms)[number];

/** Reads the attribute `post_transform`. Default: "NONE". Throws for an unknown value. */
export function getPostTransform(call: OperatorCall): PostTransform {
  const name = call.string("post_transform", "NONE");
  const found = postTransforms.find((each) => each === name);
  if (found === undefined) throw new Error(`post_transform "${name}" is unknown`);
  return found;
}

/**
 * Applies a post-transform to scores [N, classes]; "NONE" returns them unchanged. The result has the same shape. Throws for "PROBIT", which is not
 * supported.
 */
export function applyPostTransform(call: OperatorCall, scores: Value, transform: PostTransform): Value {
  if (transform === "NONE") return scores;
  if (transform === "LOGISTIC") return call.unary("sigmoid", scores);
  if (transform === "SOFTMAX") return call.add({ kind: "softmax", axis: 1, logarithm: false }, scores);
  if (transform === "PROBIT") throw new Error("post_transform PROBIT is not supported");
  // SOFTMAX_ZERO: softmax over the scores that are not 0, which stay 0.
  const isNonzero = call.binary("greater", call.unary("abs", scores), 1e-7);
  const largest = call.reduce("max", scores, [1], true);
  const grown = call.select(isNonzero, call.unary("exp", call.binary("sub", scores, largest)), 0);
  return call.binary("div", grown, call.reduce("sum", grown, [1], true));
}

/**
 * The labels of the classes of a classifier, read from the attribute named `texts` (strings) or `numbers` (int64). Throws if the node has neither.
 */
export function classLabels(call: OperatorCall, texts: string, numbers: string): Literal {
  const data = call.strings(texts);
  const values = call.ints(numbers);
  if (data !== undefined && data.length > 0) return { dataType: "string", shape: [data.length], data };
  if (values !== undefined && values.length > 0) return int64Literal(values);
  throw new Error("the class labels are missing");
}

/** The labels at `indices`, an integer tensor [N]; the result is [N], of strings or int64. */
export function gatherLabels(call: OperatorCall, labels: Literal, indices: Value): Value {
  return call.add({ kind: "gather", axis: 0 }, call.builder.constant(labels), indices);
}

/** The label of the highest score of each row. `scores` is [N, classes]; the result is [N]. */
export function argmaxLabel(call: OperatorCall, labels: Literal, scores: Value): Value {
  const index = call.add({ kind: "arg", function: "max", axis: 1, last: false }, scores);
  return gatherLabels(call, labels, call.reshape(index, [at(scores.type.shape, 0)]));
}

/** The features x as a matrix [N, C] of element type `type`; a vector [C] becomes one row. Throws for other ranks. */
export function asMatrix(call: OperatorCall, x: Value, type: ElementType = "float32"): Value {
  const { shape } = x.type;
  const rows = shape.length === 1 ? call.reshape(x, [1, ...shape]) : x;
  if (rows.type.shape.length !== 2) throw new Error(`the input shape [${shape.join(", ")}] is neither [C] nor [N, C]`);
  return call.cast(rows, type);
}
