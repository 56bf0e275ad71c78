/** Fuses matrix products of two computed operands with the transposes and scalar factors around them, as in attention. */
import { at } from "../../contract/checked.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import { eitherOrder, getOperands, getScalar } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/**
 * Turns float32 matmul into "fused-matmul", which reads its operands through axis permutations and multiplies by a factor, and merges transposes and
 * scalar multiplications of the operands and of the result into it.
 */
export const fuseMatmul: Pass = valuePass(fused);

function fused({ operation, inputs, outputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [a, b] = inputs;
  if (a === undefined) return undefined;
  if (operation.kind === "matmul" && b !== undefined && a.type.dataType === "float32") {
    const [left, right] = [strippedOperand(rewriter, a), strippedOperand(rewriter, b)];
    const rank = at(outputs, 0).type.shape.length;
    if (a.type.shape.length !== rank || b.type.shape.length !== rank) return undefined;
    const result = Array.from({ length: rank }, (_, axis) => axis);
    const product = {
      kind: "fused-matmul",
      a: left.permutation,
      b: right.permutation,
      result,
      alpha: left.factor * right.factor,
    } as const;
    return rewriter.add(product, left.value, right.value);
  }
  if (operation.kind === "transpose") return reordered(rewriter, a, operation.permutation);
  if (operation.kind === "binary" && b !== undefined) {
    if (operation.function === "mul") return scaled(rewriter, a, getScalar(b)) ?? scaled(rewriter, b, getScalar(a));
    if (operation.function === "div") return scaled(rewriter, a, inverse(getScalar(b)));
  }
  return undefined;
}

/** An operand without its transposes and factors: it equals `factor` times `value` with permuted axes. */
interface StrippedOperand {
  readonly value: Value;
  /** Axis i of the operand is axis `permutation[i]` of `value`. */
  readonly permutation: readonly number[];
  readonly factor: number;
}

/** Strips transposes and scalar multiplications or divisions from an operand. */
function strippedOperand(rewriter: Rewriter, operand: Value): StrippedOperand {
  let value = operand;
  let permutation: readonly number[] = Array.from(operand.type.shape, (_, axis) => axis);
  let factor = 1;
  for (;;) {
    const transposed = rewriter.producerOfKind(value, "transpose");
    const [source] = transposed?.inputs ?? [];
    if (transposed !== undefined && source !== undefined) {
      const inner = transposed.operation.permutation;
      permutation = permutation.map((axis) => at(inner, axis));
      value = source;
      continue;
    }
    const next = eitherOrder(rewriter, value, "mul").find(
      ([x, by]) => getScalar(by) !== undefined && x.type.shape.length === permutation.length,
    );
    const divided = getOperands(rewriter, value, "div");
    const [x, by] = next ?? divided ?? [];
    const number = by && getScalar(by);
    if (x === undefined || number === undefined || number === 0 || x.type.shape.length !== permutation.length) break;
    factor *= next === undefined ? 1 / number : number;
    value = x;
  }
  return { value, permutation, factor };
}

/** Merges a transpose of the result. The kernel writes contiguous rows, so the last axis must stay last. */
function reordered(rewriter: Rewriter, value: Value, permutation: readonly number[]): Value | undefined {
  const node = rewriter.producerOfKind(value, "fused-matmul");
  if (node === undefined || !rewriter.hasOneUse(value) || permutation.at(-1) !== permutation.length - 1) return undefined;
  const result = permutation.map((axis) => at(node.operation.result, axis));
  return rewriter.add({ ...node.operation, result }, ...node.inputs);
}

function scaled(rewriter: Rewriter, value: Value, factor: number | undefined): Value | undefined {
  const node = rewriter.producerOfKind(value, "fused-matmul");
  if (node === undefined || factor === undefined || !rewriter.hasOneUse(value)) return undefined;
  return rewriter.add({ ...node.operation, alpha: node.operation.alpha * factor }, ...node.inputs);
}

function inverse(number: number | undefined): number | undefined {
  return number === undefined || number === 0 ? undefined : 1 / number;
}
