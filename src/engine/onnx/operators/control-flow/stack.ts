/** Stacking of the per-iteration outputs of loops and scans. */
import { InferyardError } from "../../../../contract/errors.ts";
import type { Value } from "../../../ir/graph.ts";
import { type Literal, zeroLiteral } from "../../../ir/literal.ts";
import type { OnnxType } from "../../onnx-model.ts";
import type { OperatorCall } from "../operator-call.ts";

/** Joins tensors of equal shape along a new axis `axis`. Returns the result of `empty` for an empty list. */
export function stack(call: OperatorCall, values: readonly Value[], axis: number, empty: () => Value): Value {
  const expanded = values.map((value) => call.reshape(value, value.type.shape.toSpliced(axis, 0, 1)));
  const [first] = expanded;
  if (first === undefined) return empty();
  return expanded.length === 1 ? first : call.add({ kind: "concat", axis }, ...expanded);
}

/**
 * Stacked output of a loop without iterations: a tensor with a first axis of size 0, of the type that the body declares for its output. Unknown dimensions
 * become 0. Throws MODEL_UNSUPPORTED if the body declares no tensor type.
 */
export function emptyStack(declared: OnnxType | undefined): Literal {
  if (declared?.kind !== "tensor")
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      "a loop has no iteration, and its body does not declare the type of its outputs",
    );
  const shape = (declared.shape ?? []).map((size) => (typeof size === "number" ? size : 0));
  return zeroLiteral(declared.dataType, [0, ...shape]);
}
