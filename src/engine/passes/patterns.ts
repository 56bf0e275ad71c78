/** Small questions that passes ask of a graph while they look for patterns. They match on structure, never on names. */
import { elementCount } from "../../tensor.ts";
import type { Value } from "../ir/graph.ts";
import { numbersOf } from "../ir/literal.ts";
import type { BinaryFunction, UnaryFunction } from "../ir/operations.ts";
import type { Rewriter } from "./rewrite.ts";

/** The number, where the value is a constant of one element. */
export function scalarOf({ constant }: Value): number | undefined {
  if (constant === undefined || constant.dataType === "string" || elementCount(constant.shape) !== 1) return undefined;
  return numbersOf(constant)[0];
}

/** The operands of a binary operation, if the value is one. */
export function operandsOf(rewriter: Rewriter, value: Value, name: BinaryFunction): readonly [Value, Value] | undefined {
  const node = rewriter.producerOfKind(value, "binary");
  if (node?.operation.function !== name) return undefined;
  const [a, b] = node.inputs;
  return a === undefined || b === undefined ? undefined : [a, b];
}

/** Both orders of the operands of a binary operation; none where the value is no such operation. */
export function eitherOrder(rewriter: Rewriter, value: Value, name: BinaryFunction): readonly (readonly [Value, Value])[] {
  const operands = operandsOf(rewriter, value, name);
  return operands === undefined ? [] : [operands, [operands[1], operands[0]]];
}

export function operandOf(rewriter: Rewriter, value: Value, name: UnaryFunction): Value | undefined {
  const node = rewriter.producerOfKind(value, "unary");
  return node?.operation.function === name ? node.inputs[0] : undefined;
}

/** The factors of a product, however its multiplications are nested. */
export function factorsOf(rewriter: Rewriter, value: Value): readonly Value[] {
  const operands = operandsOf(rewriter, value, "mul");
  return operands === undefined ? [value] : operands.flatMap((each) => factorsOf(rewriter, each));
}

/** Whether two numbers are one, as far as float32 tells them apart. */
export function isClose(one: number | undefined, other: number): boolean {
  return one !== undefined && Math.abs(one - other) <= 1e-6 * Math.abs(other);
}
