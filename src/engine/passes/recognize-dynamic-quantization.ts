/** The range of activations for dynamic quantisation, which DynamicQuantizeLinear spells out in ten operations. */
import { elementCount } from "../../tensor.ts";
import type { Graph, GraphNode, Value } from "../ir/graph.ts";
import { eitherOrder, operandOf, operandsOf, scalarOf } from "./patterns.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

export function recognizeDynamicQuantization(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    const value = scaleOf(node, rewriter) ?? zeroPointOf(node, rewriter);
    return value === undefined ? undefined : [value];
  });
}

/** width == 0 ? 1 : width / 255 */
function scaleOf({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [isEmpty, one, share] = inputs;
  if (operation.kind !== "select" || isEmpty === undefined || one === undefined || share === undefined) return undefined;
  const [width, all] = operandsOf(rewriter, share, "div") ?? [];
  if (width === undefined || all === undefined || scalarOf(all) !== 255 || scalarOf(one) !== 1) return undefined;
  if (!eitherOrder(rewriter, isEmpty, "equal").some(([a, b]) => a === width && scalarOf(b) === 0)) return undefined;
  const [most, least] = operandsOf(rewriter, width, "sub") ?? [];
  const x = most && extremeOf(rewriter, most, "max");
  if (x === undefined || least === undefined || extremeOf(rewriter, least, "min") !== x) return undefined;
  return x.type.dataType === "float32" ? rewriter.add({ kind: "quantization-range" }, x) : undefined;
}

/** round(0 - least / scale) as uint8, where the scale is already recognised. */
function zeroPointOf({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  if (operation.kind !== "cast" || operation.to !== "uint8" || !operation.saturate || inputs[0] === undefined) return undefined;
  const start = operandOf(rewriter, inputs[0], "round");
  const [nothing, steps] = (start && operandsOf(rewriter, start, "sub")) ?? [];
  const [least, scale] = (steps && operandsOf(rewriter, steps, "div")) ?? [];
  if (nothing === undefined || least === undefined || scalarOf(nothing) !== 0) return undefined;
  const range = rewriter.producerOfKind(scale, "quantization-range");
  return range !== undefined && extremeOf(rewriter, least, "min") === range.inputs[0] ? range.outputs[1] : undefined;
}

/** What the value is the greatest or least number of, or 0 where that is further out. */
function extremeOf(rewriter: Rewriter, value: Value, name: "max" | "min"): Value | undefined {
  for (const [extreme, zero] of eitherOrder(rewriter, value, name)) {
    const node = rewriter.producerOfKind(extreme, "reduce");
    if (scalarOf(zero) !== 0 || node?.operation.function !== name || elementCount(extreme.type.shape) !== 1) continue;
    return extreme.type.shape.length === 0 ? node.inputs[0] : undefined;
  }
  return undefined;
}
