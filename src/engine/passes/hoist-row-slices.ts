/** Moves a slice of rows before the linear layer that it selects from, so that only these rows are computed: the logits of the last token, say. */
import { at } from "../../contract/checked.ts";
import { type NodeOf, type Value } from "../ir/graph.ts";
import { sameShape } from "../ir/tensor-type.ts";
import type { OperationOf } from "../ir/operations.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Replaces slice(linear(x)) by linear(slice(x)) where the slice selects whole rows and the linear has no other reader. */
export const hoistRowSlices: Pass = valuePass(({ operation, inputs }, rewriter) => {
  const [x] = inputs;
  const linear = rewriter.producerOfKind(x, "linear");
  if (operation.kind !== "slice" || x === undefined || linear === undefined || !rewriter.hasOneUse(x)) return undefined;
  const [columns, last] = [x.type.shape.at(-1), operation.sizes.length - 1];
  const isWhole = operation.sizes[last] === columns && operation.steps[last] === 1;
  return isWhole && !sameShape(operation.sizes, x.type.shape) ? ofRows(linear, operation, rewriter) : undefined;
});

function ofRows(linear: NodeOf<"linear">, rows: OperationOf<"slice">, rewriter: Rewriter): Value {
  const operands = linear.inputs.map((input, index): Value => {
    const isResidual = linear.operation.residual !== "none" && index === linear.inputs.length - 1;
    if (index !== 0 && !isResidual) return input;
    const width = at(input.type.shape, input.type.shape.length - 1);
    return rewriter.add({ ...rows, sizes: rows.sizes.with(rows.sizes.length - 1, width) }, input);
  });
  return rewriter.add(linear.operation, ...operands);
}
