/** Pattern matching on graphs, shared by the passes. Patterns match structure and constants, never names. */
import { elementCount } from "../../contract/tensor.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import { toNumbers } from "../ir/literal.ts";
import type { Activation, BinaryFunction, UnaryFunction } from "../ir/operations.ts";
import type { Rewriter } from "./rewrite.ts";

/** The value of a constant with one element as a number; undefined for anything else. */
export function getScalar({ constant }: Value): number | undefined {
  if (constant === undefined || constant.dataType === "string" || elementCount(constant.shape) !== 1) return undefined;
  return toNumbers(constant)[0];
}

/** The operands of the binary operation `name` that computes the value; undefined if another operation computes it. */
export function getOperands(rewriter: Rewriter, value: Value, name: BinaryFunction): readonly [Value, Value] | undefined {
  const node = rewriter.producerOfKind(value, "binary");
  if (node?.operation.function !== name) return undefined;
  const [a, b] = node.inputs;
  return a === undefined || b === undefined ? undefined : [a, b];
}

/** The operands of the commutative operation `name` that computes the value, in both orders, to match either; empty if another operation computes it. */
export function eitherOrder(rewriter: Rewriter, value: Value, name: BinaryFunction): readonly (readonly [Value, Value])[] {
  const operands = getOperands(rewriter, value, name);
  return operands === undefined ? [] : [operands, [operands[1], operands[0]]];
}

/** The operand of the unary operation `name` that computes the value; undefined if another operation computes it. */
export function getOperand(rewriter: Rewriter, value: Value, name: UnaryFunction): Value | undefined {
  const node = rewriter.producerOfKind(value, "unary");
  return node?.operation.function === name ? node.inputs[0] : undefined;
}

/** The operand and the name of an activation that a product can be fused with: tanh, sigmoid or ReLU; undefined if the node computes something else. */
export function getFollowingActivation({ operation, inputs }: GraphNode): readonly [x: Value, name: Activation] | undefined {
  const [x, other] = inputs;
  if (x === undefined) return undefined;
  if (operation.kind === "unary" && (operation.function === "tanh" || operation.function === "sigmoid"))
    return [x, operation.function];
  const isRelu = operation.kind === "binary" && operation.function === "max" && other !== undefined && getScalar(other) === 0;
  return isRelu ? [x, "relu"] : undefined;
}

/** The factors of a product of any nesting: [a, b, c] for (a * b) * c, [x] for a value that is no product. */
export function getFactors(rewriter: Rewriter, value: Value): readonly Value[] {
  const operands = getOperands(rewriter, value, "mul");
  return operands === undefined ? [value] : operands.flatMap((each) => getFactors(rewriter, each));
}

/** Whether a number equals `other` to within float32 precision (a relative error of 1e-6). False for undefined. */
export function isClose(one: number | undefined, other: number): boolean {
  return one !== undefined && Math.abs(one - other) <= 1e-6 * Math.abs(other);
}
