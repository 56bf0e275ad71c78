/** Algebraic simplification: removes operations without effect and rewrites others into the forms that later passes match. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { broadcastShape } from "../ir/broadcast.ts";
import { type GraphNode, type NodeOf, type Value } from "../ir/graph.ts";
import { sameShape } from "../ir/tensor-type.ts";
import { getScalar } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Simplifies reshape, transpose, expand, slice, cast and pow, and moves `expand` behind elementwise operations. */
export const simplify: Pass = valuePass(simpler);

function simpler(node: GraphNode, rewriter: Rewriter): Value | undefined {
  const { operation, inputs, outputs } = node;
  const [x] = inputs;
  if (x === undefined) return undefined;
  const shape = outputs[0]?.type.shape ?? [];
  if (operation.kind === "reshape") return simplerReshape(rewriter, x, shape);
  if (operation.kind === "transpose") return simplerTranspose(rewriter, x, operation.permutation, shape);
  if (operation.kind === "expand") return sameShape(x.type.shape, shape) ? x : undefined;
  if (operation.kind === "slice")
    return sameShape(x.type.shape, shape) && operation.steps.every((step) => step === 1) ? x : undefined;
  if (operation.kind === "cast" && x.type.dataType === operation.to) return x;
  if (operation.kind === "binary") return simplerPower(node as NodeOf<"binary">, rewriter) ?? delayedExpand(node, rewriter);
  if (operation.kind === "cast" || operation.kind === "unary" || operation.kind === "select")
    return delayedExpand(node, rewriter);
  return undefined;
}

/** Removes a reshape to the same shape, and merges two reshapes into one. */
function simplerReshape(rewriter: Rewriter, x: Value, shape: readonly number[]): Value | undefined {
  if (sameShape(x.type.shape, shape)) return x;
  const source = rewriter.producerOfKind(x, "reshape")?.inputs[0];
  if (source === undefined) return undefined;
  return sameShape(source.type.shape, shape) ? source : rewriter.add({ kind: "reshape", shape }, source);
}

/** Merges two transposes into one; a transpose that moves only axes of size 1 becomes a reshape. */
function simplerTranspose(
  rewriter: Rewriter,
  x: Value,
  permutation: readonly number[],
  shape: readonly number[],
): Value | undefined {
  const moved = permutation.filter((axis) => x.type.shape[axis] !== 1);
  if (moved.every((axis, index) => index === 0 || axis > at(moved, index - 1))) {
    return sameShape(x.type.shape, shape) ? x : rewriter.add({ kind: "reshape", shape }, x);
  }
  const inner = rewriter.producerOfKind(x, "transpose");
  const source = inner?.inputs[0];
  if (inner === undefined || source === undefined) return undefined;
  const both = permutation.map((axis) => at(inner.operation.permutation, axis));
  return rewriter.add({ kind: "transpose", permutation: both }, source);
}

/** x^2 as x * x, x^0.5 as sqrt(x). */
function simplerPower({ operation, inputs }: NodeOf<"binary">, rewriter: Rewriter): Value | undefined {
  const [x, power] = inputs;
  if (operation.function !== "pow" || x === undefined || power === undefined || power.type.shape.length > x.type.shape.length)
    return undefined;
  const exponent = getScalar(power);
  if (exponent === 2) return rewriter.add({ kind: "binary", function: "mul" }, x, x);
  return exponent === 0.5 && x.type.dataType === "float32" ? rewriter.add({ kind: "unary", function: "sqrt" }, x) : undefined;
}

/** Computes an elementwise operation on unexpanded operands, which broadcast, and expands the result: each element is computed once. */
function delayedExpand({ operation, inputs, outputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const sources = inputs.map((input) => rewriter.producerOfKind(input, "expand")?.inputs[0] ?? input);
  if (sources.every((source, index) => source === inputs[index])) return undefined;
  const shape = outputs[0]?.type.shape ?? [];
  const small = broadcastShape(...sources.map(({ type }) => type.shape));
  const value = rewriter.add(operation, ...sources);
  if (elementCount(small) === elementCount(shape))
    return sameShape(small, shape) ? value : rewriter.add({ kind: "reshape", shape }, value);
  return rewriter.add({ kind: "expand", shape }, value);
}
