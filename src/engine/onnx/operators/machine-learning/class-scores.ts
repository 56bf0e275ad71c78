/** What ai.onnx.ml's models make of their sums: probabilities, and labels. */
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, type Literal } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";

export const postTransforms = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"] as const;
export type PostTransform = (typeof postTransforms)[number];

export function postTransformOf(call: OperatorCall): PostTransform {
  const name = call.string("post_transform", "NONE");
  const found = postTransforms.find((each) => each === name);
  if (found === undefined) throw new Error(`its post_transform "${name}" is unknown`);
  return found;
}

/** Of scores [N, E]. */
export function applyPostTransform(call: OperatorCall, scores: Value, transform: PostTransform): Value {
  if (transform === "NONE") return scores;
  if (transform === "LOGISTIC") return call.unary("sigmoid", scores);
  if (transform === "SOFTMAX") return call.add({ kind: "softmax", axis: 1, logarithm: false }, scores);
  if (transform === "PROBIT") throw new Error("its post_transform PROBIT is not built");
  // The softmax of what is not zero; a zero stays one.
  const there = call.binary("greater", call.unary("abs", scores), 1e-7);
  const largest = call.reduce("max", scores, [1], true);
  const grown = call.select(there, call.unary("exp", call.binary("sub", scores, largest)), 0);
  return call.binary("div", grown, call.reduce("sum", grown, [1], true));
}

/** The labels of classes, texts or whole numbers. */
export function classLabels(call: OperatorCall, texts: string, numbers: string): Literal {
  const data = call.strings(texts);
  const values = call.ints(numbers);
  if (data !== undefined && data.length > 0) return { dataType: "string", shape: [data.length], data };
  if (values !== undefined && values.length > 0) return int64Literal(values);
  throw new Error("it names no classes");
}

/** One label for each place [N]. */
export function gatherLabels(call: OperatorCall, labels: Literal, places: Value): Value {
  return call.add({ kind: "gather", axis: 0 }, call.builder.constant(labels), places);
}

/** The label of the largest score of each row. */
export function argmaxLabel(call: OperatorCall, labels: Literal, scores: Value): Value {
  const place = call.add({ kind: "arg", function: "max", axis: 1, last: false }, scores);
  return gatherLabels(call, labels, call.reshape(place, [scores.type.shape[0] ?? 0]));
}

/** [C] counts as one row; whole numbers become float32. */
export function asMatrix(call: OperatorCall, x: Value, type: ElementType = "float32"): Value {
  const { shape } = x.type;
  const rows = shape.length === 1 ? call.reshape(x, [1, ...shape]) : x;
  if (rows.type.shape.length !== 2) throw new Error(`[${shape.join(", ")}] is neither [C] nor [N, C]`);
  return call.cast(rows, type);
}
