/** Products of 8-bit activations with constant weights, as MatMulInteger and the operators around it spell them out. */
import { elementCount } from "../../tensor.ts";
import type { Graph, GraphNode, Value } from "../ir/graph.ts";
import { rangeIncludingZero } from "../ir/literal.ts";
import { eitherOrder, operandOf, operandsOf } from "./patterns.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

export function fuseQuantizedMatmul(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    const value = integerMatmul(node, rewriter) ?? scaled(node, rewriter);
    return value === undefined ? undefined : [value];
  });
}

/** The kernel reads pairs along k, and its weights span one byte at most. */
function integerMatmul({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [x, weights] = inputs;
  if (operation.kind !== "matmul" || x === undefined || weights?.constant === undefined) return undefined;
  if (weights.type.dataType !== "int32" || weights.type.shape.length !== 2 || (weights.type.shape[0] ?? 1) % 2 !== 0)
    return undefined;
  const [min, max] = rangeIncludingZero(weights.constant);
  if (max - min > 255) return undefined;
  const centred = centredOf(rewriter, x);
  return centred && rewriter.add({ kind: "integer-matmul" }, centred, weights);
}

/** int16 of the same numbers, where they are bytes, perhaps without their zero point. */
function centredOf(rewriter: Rewriter, x: Value): Value | undefined {
  const shifted = operandsOf(rewriter, x, "sub");
  const bytes = bytesOf(rewriter, shifted?.[0] ?? x);
  const zero = shifted && bytesOf(rewriter, shifted[1]);
  if (bytes === undefined || (shifted !== undefined && (zero === undefined || elementCount(zero.type.shape) !== 1)))
    return undefined;
  if (zero !== undefined && zero.type.dataType !== bytes.type.dataType) return undefined;
  const quantized = zero && quantizedOf(rewriter, bytes, zero);
  if (quantized !== undefined) return quantized;
  return rewriter.add({ kind: "centre" }, bytes, ...(zero === undefined ? [] : [zero]));
}

/** What a cast to int32 takes, where that is bytes. */
function bytesOf(rewriter: Rewriter, value: Value): Value | undefined {
  const node = rewriter.producerOfKind(value, "cast");
  const [x] = node?.inputs ?? [];
  const type = x?.type.dataType;
  return node?.operation.to === "int32" && (type === "uint8" || type === "int8") ? x : undefined;
}

/** clamp(round(x / scale) + zero) of uint8. */
function quantizedOf(rewriter: Rewriter, bytes: Value, zero: Value): Value | undefined {
  const clamped = rewriter.producerOfKind(bytes, "cast");
  const [sum] = clamped?.inputs ?? [];
  if (clamped === undefined || sum === undefined || !clamped.operation.saturate || bytes.type.dataType !== "uint8")
    return undefined;
  for (const [rounded, shift] of eitherOrder(rewriter, sum, "add")) {
    const wide = rewriter.producerOfKind(shift, "cast");
    const ratio = operandOf(rewriter, rounded, "round");
    const parts = ratio && operandsOf(rewriter, ratio, "div");
    if (parts === undefined || wide?.inputs[0] !== zero || parts[0].type.dataType !== "float32") continue;
    const [x, scale] = parts;
    if (elementCount(scale.type.shape) === 1 && x.type.shape.length === bytes.type.shape.length)
      return rewriter.add({ kind: "quantize" }, x, scale, zero);
  }
  return undefined;
}

/** The sums as float32, times the product of two scales. */
function scaled({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [a, b] = inputs;
  if (operation.kind !== "binary" || operation.function !== "mul" || a === undefined || b === undefined) return undefined;
  return scaledBy(rewriter, a, b) ?? scaledBy(rewriter, b, a);
}

function scaledBy(rewriter: Rewriter, sums: Value, scales: Value): Value | undefined {
  const cast = rewriter.producerOfKind(sums, "cast");
  const integers = cast === undefined ? undefined : rewriter.producerOfKind(cast.inputs[0], "integer-matmul");
  const [x, weights] = integers?.inputs ?? [];
  if (cast === undefined || x === undefined || weights === undefined || cast.operation.to !== "float32") return undefined;
  const columns = weights.type.shape[1] ?? 0;
  for (const [one, column] of eitherOrder(rewriter, scales, "mul")) {
    const count = elementCount(column.type.shape);
    if (elementCount(one.type.shape) !== 1 || (count !== 1 && count !== columns) || column.type.shape.length > 1) continue;
    const parts = { bias: false, activation: "none", residual: "none" } as const;
    return rewriter.add({ kind: "integer-linear", ...parts }, x, weights, one, column);
  }
  return undefined;
}
