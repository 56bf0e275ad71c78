/**
 * Computes convolutions and matrix products of bytes with constant weights in float32, whose kernels are the fastest. float32 represents every integer up
 * to 2^24 exactly, so that sums are exact in any order where no partial sum can be larger: the weights of each output are added up to find that.
 */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import { evaluateNode } from "../interpret/evaluate.ts";
import { cachedAnalysis, type Literal, rangeIncludingZero, toNumbers } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { getOperands } from "./patterns.ts";
import { type Pass, type Rewriter, rewrite } from "./rewrite.ts";

const maxExactInteger = 2 ** 24;
const toFloat = { kind: "cast", to: "float32", saturate: false } as const;
const toInteger = { kind: "cast", to: "int32", saturate: false } as const;

/** For float32 arithmetic that rounds no product: not for devices that multiply in fewer bits. */
export const multiplyIntegersAsFloats: Pass = (graph, fold = evaluateNode) =>
  rewrite(graph, (node, rewriter) => {
    const { operation, inputs } = node;
    const [x, weights, bias] = inputs;
    const source = weights?.constant;
    if (x?.type.dataType !== "int32" || source === undefined || bias !== undefined || !isSupported(node)) return undefined;
    const largest = maxMagnitude(rewriter, x);
    if (largest === undefined || largest * maxWeightSum(source, operation) > maxExactInteger) return undefined;
    const [constant] = fold(toFloat, [source]);
    if (constant === undefined) return undefined;
    const floats: Value = { type: { dataType: "float32", shape: source.shape }, constant };
    return [rewriter.add(toInteger, rewriter.add(operation, rewriter.add(toFloat, x), floats))];
  });

function isSupported({ operation, inputs }: GraphNode): boolean {
  if (operation.kind === "convolution") return operation.activation === undefined || operation.activation === "none";
  return operation.kind === "matmul" && inputs[1]?.type.shape.length === 2;
}

/** The largest magnitude of an int32 tensor that comes from bytes, with or without a zero point subtracted; undefined for others. */
function maxMagnitude(rewriter: Rewriter, x: Value): number | undefined {
  const [minuend, zero] = getOperands(rewriter, x, "sub") ?? [x];
  const range = getByteRange(rewriter, minuend);
  if (range === undefined || zero === undefined) return range && Math.max(-range[0], range[1]);
  const zeros = zero.constant === undefined ? getByteRange(rewriter, zero) : rangeIncludingZero(zero.constant);
  return zeros && Math.max(range[1] - zeros[0], zeros[1] - range[0]);
}

/** The range of uint8 or int8, if the value is an int32 cast of one. */
function getByteRange(rewriter: Rewriter, value: Value): readonly [min: number, max: number] | undefined {
  const node = rewriter.producerOfKind(value, "cast");
  if (node?.operation.to !== "int32") return undefined;
  const type = node.inputs[0]?.type.dataType;
  return type === "uint8" ? [0, 255] : type === "int8" ? [-128, 127] : undefined;
}

/** The largest sum of the magnitudes of the weights of one output: the first axis of a convolution's weights, the columns of a matrix. */
function maxWeightSum(weights: Literal, { kind }: Operation): number {
  return cachedAnalysis(weights, `${kind} weight sums`, () => {
    const numbers = toNumbers(weights);
    const outputs = at(weights.shape, kind === "convolution" ? 0 : 1);
    const depth = outputs === 0 ? 0 : elementCount(weights.shape) / outputs;
    const [outputStep, depthStep] = kind === "convolution" ? [depth, 1] : [1, outputs];
    let max = 0;
    for (let output = 0; output < outputs; output += 1) {
      let sum = 0;
      for (let index = 0; index < depth; index += 1) sum += Math.abs(numbers[output * outputStep + index * depthStep] ?? 0);
      if (sum > max) max = sum;
    }
    return max;
  });
}
