/** Recognizes the scale and zero point of ONNX DynamicQuantizeLinear, which is ten primitive operations. */
import { elementCount } from "../../contract/tensor.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import { eitherOrder, getOperand, getOperands, getScalar } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Replaces the operations that compute scale and zero point from the minimum and maximum of a tensor by one "quantization-range". */
export const recognizeDynamicQuantization: Pass = valuePass(
  (node, rewriter) => getScale(node, rewriter) ?? getZeroPoint(node, rewriter),
);

/** The scale: `width == 0 ? 1 : width / 255`, where width is max(x, 0) - min(x, 0). */
function getScale({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [isEmpty, one, quotient] = inputs;
  if (operation.kind !== "select" || isEmpty === undefined || one === undefined || quotient === undefined) return undefined;
  const [width, levels] = getOperands(rewriter, quotient, "div") ?? [];
  if (width === undefined || levels === undefined || getScalar(levels) !== 255 || getScalar(one) !== 1) return undefined;
  if (!eitherOrder(rewriter, isEmpty, "equal").some(([a, b]) => a === width && getScalar(b) === 0)) return undefined;
  const [max, min] = getOperands(rewriter, width, "sub") ?? [];
  const x = max && getExtreme(rewriter, max, "max");
  if (x === undefined || min === undefined || getExtreme(rewriter, min, "min") !== x) return undefined;
  return x.type.dataType === "float32" ? rewriter.add({ kind: "quantization-range" }, x) : undefined;
}

/** The zero point: `round(0 - min / scale)` as uint8, for a scale that was recognized before. */
function getZeroPoint({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  if (operation.kind !== "cast" || operation.to !== "uint8" || !operation.saturate || inputs[0] === undefined) return undefined;
  const unrounded = getOperand(rewriter, inputs[0], "round");
  const [zero, steps] = (unrounded && getOperands(rewriter, unrounded, "sub")) ?? [];
  const [min, scale] = (steps && getOperands(rewriter, steps, "div")) ?? [];
  if (zero === undefined || min === undefined || getScalar(zero) !== 0) return undefined;
  const range = rewriter.producerOfKind(scale, "quantization-range");
  return range !== undefined && getExtreme(rewriter, min, "min") === range.inputs[0] ? range.outputs[1] : undefined;
}

/** The tensor x of max(max(x), 0), or of min(min(x), 0). */
function getExtreme(rewriter: Rewriter, value: Value, name: "max" | "min"): Value | undefined {
  for (const [extreme, zero] of eitherOrder(rewriter, value, name)) {
    const node = rewriter.producerOfKind(extreme, "reduce");
    if (getScalar(zero) !== 0 || node?.operation.function !== name || elementCount(extreme.type.shape) !== 1) continue;
    return extreme.type.shape.length === 0 ? node.inputs[0] : undefined;
  }
  return undefined;
}
