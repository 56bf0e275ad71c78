/** Fuses matrix products of 8-bit quantized activations with constant weights, which ONNX spells as MatMulInteger with casts and scales around it. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import { rangeIncludingZero } from "../ir/literal.ts";
import { eitherOrder, getOperand, getOperands } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/**
 * Turns int32 matmul of zero-point-corrected bytes into "integer-matmul", its multiplication by float32 scales into "integer-linear", and the
 * quantization of the activations before it into "quantize".
 */
export const fuseQuantizedMatmul: Pass = valuePass((node, rewriter) => integerMatmul(node, rewriter) ?? scaled(node, rewriter));

/** An int32 matmul by constant weights as "integer-matmul". The kernel needs an even inner dimension and weights that span at most 256 values. */
function integerMatmul({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [x, weights] = inputs;
  if (operation.kind !== "matmul" || x === undefined || weights?.constant === undefined) return undefined;
  if (weights.type.dataType !== "int32" || weights.type.shape.length !== 2 || at(weights.type.shape, 0) % 2 !== 0)
    return undefined;
  const [min, max] = rangeIncludingZero(weights.constant);
  if (max - min > 255) return undefined;
  const activations = withoutZeroPoint(rewriter, x);
  return activations && rewriter.add({ kind: "integer-matmul" }, activations, weights);
}

/** x as int16, if it is a byte tensor cast to int32, with or without its zero point subtracted. */
function withoutZeroPoint(rewriter: Rewriter, x: Value): Value | undefined {
  const shifted = getOperands(rewriter, x, "sub");
  const bytes = getBytes(rewriter, shifted?.[0] ?? x);
  const zero = shifted && getBytes(rewriter, shifted[1]);
  if (bytes === undefined || (shifted !== undefined && (zero === undefined || elementCount(zero.type.shape) !== 1)))
    return undefined;
  if (zero !== undefined && zero.type.dataType !== bytes.type.dataType) return undefined;
  const quantized = zero && getQuantized(rewriter, bytes, zero);
  if (quantized !== undefined) return quantized;
  return rewriter.add({ kind: "subtract-zero-point" }, bytes, ...(zero === undefined ? [] : [zero]));
}

/** The uint8 or int8 tensor that the value is an int32 cast of. */
function getBytes(rewriter: Rewriter, value: Value): Value | undefined {
  const node = rewriter.producerOfKind(value, "cast");
  const [x] = node?.inputs ?? [];
  const type = x?.type.dataType;
  return node?.operation.to === "int32" && (type === "uint8" || type === "int8") ? x : undefined;
}

/** "quantize" for bytes that are `clamp(round(x / scale) + zero)` in uint8. */
function getQuantized(rewriter: Rewriter, bytes: Value, zero: Value): Value | undefined {
  const clamped = rewriter.producerOfKind(bytes, "cast");
  const [sum] = clamped?.inputs ?? [];
  if (clamped === undefined || sum === undefined || !clamped.operation.saturate || bytes.type.dataType !== "uint8")
    return undefined;
  for (const [rounded, shift] of eitherOrder(rewriter, sum, "add")) {
    const wide = rewriter.producerOfKind(shift, "cast");
    const ratio = getOperand(rewriter, rounded, "round");
    const division = ratio && getOperands(rewriter, ratio, "div");
    if (division === undefined || wide?.inputs[0] !== zero || division[0].type.dataType !== "float32") continue;
    const [x, scale] = division;
    if (elementCount(scale.type.shape) === 1 && x.type.shape.length === bytes.type.shape.length)
      return rewriter.add({ kind: "quantize" }, x, scale, zero);
  }
  return undefined;
}

/** "integer-linear" for an integer product cast to float32 and multiplied by the product of the two scales. */
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
  const columns = at(weights.type.shape, 1);
  for (const [one, column] of eitherOrder(rewriter, scales, "mul")) {
    const count = elementCount(column.type.shape);
    if (elementCount(one.type.shape) !== 1 || (count !== 1 && count !== columns) || column.type.shape.length > 1) continue;
    const epilogue = { bias: false, activation: "none", residual: "none" } as const;
    return rewriter.add({ kind: "integer-linear", ...epilogue }, x, weights, one, column);
  }
  return undefined;
}
