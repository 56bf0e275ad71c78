/** Quantised layers. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import {
  byteMatmul,
  type ByteWeights,
  subtractZeroPoint,
  fitsBytes,
  type IntegerOutput,
  integerMatmul,
  type IntegerWeightsShape,
  packedIntegerLength,
  packBytes,
  packedBytesLength,
  packIntegerWeights,
  quantizationRange,
  quantize,
  quantizeRows,
  rowBytes,
} from "../codegen/wasm/index.ts";
import type { Graph, NodeOf, Value } from "../ir/graph.ts";
import { cachedAnalysis, type Literal, toNumbers, rangeIncludingZero } from "../ir/literal.ts";
import {
  type LoweredNode,
  singleCall,
  type Operand,
  type PackedWeights,
  type LoweringContext,
  tensorOperand,
} from "./lowered-node.ts";

/** The quantised activations of a graph that are used only by products with weights that fit bytes: these activations may be stored as rows of bytes. */
export function valuesWithByteLayout({ nodes, outputs }: Graph): ReadonlySet<Value> {
  const values = new Set(nodes.flatMap(({ operation, outputs: made }) => (operation.kind === "quantize" ? made : [])));
  for (const value of values) {
    const { rows, columns } = matrixShape(value);
    if (!hasEvenColumns(value) || rows * rowBytes(columns) > elementCount(value.type.shape) * int16Bytes) values.delete(value);
  }
  for (const { operation, inputs } of nodes) {
    const [x, weights] = inputs;
    const isProduct = operation.kind === "integer-matmul" || operation.kind === "integer-linear";
    const fits = isProduct && x !== undefined && values.has(x) && weights?.constant !== undefined;
    if (fits && fitsByteLayout(weights.constant)) continue; // no other operand of a product is of int16
    for (const input of inputs) values.delete(input);
  }
  for (const { value } of outputs) values.delete(value);
  return values;
}

const int16Bytes = 2;

/** Lowers the scale and zero point of a dynamic quantization of a whole float32 tensor. */
export function lowerQuantizationRange({ inputs, outputs }: NodeOf<"quantization-range">): LoweredNode | undefined {
  const [x] = inputs;
  if (x === undefined || x.type.dataType !== "float32") return undefined;
  const kernel = quantizationRange({ rows: 1, columns: elementCount(x.type.shape) });
  return singleCall(kernel, ...[x, ...outputs].map((value) => tensorOperand(value)));
}

/** Lowers quantization with one scale and zero point, to rows of bytes where all consumers read them, else to int16 without the zero point. */
export function lowerQuantize(
  { inputs, outputs }: NodeOf<"quantize">,
  { hasByteLayout }: LoweringContext,
): LoweredNode | undefined {
  const [x, scale, zero] = inputs;
  if (x === undefined || !hasEvenColumns(x)) return undefined;
  const kernel = hasByteLayout(outputs[0]) ? quantizeRows(matrixShape(x)) : quantize(matrixShape(x));
  return singleCall(kernel, tensorOperand(x), tensorOperand(scale), tensorOperand(zero), tensorOperand(outputs[0]));
}

/** Lowers the subtraction of the zero point from uint8 or int8 activations; the result is int16. */
export function lowerSubtractZeroPoint({ inputs, outputs }: NodeOf<"subtract-zero-point">): LoweredNode | undefined {
  const [x, zero] = inputs;
  const type = x?.type.dataType;
  if (x === undefined || (type !== "uint8" && type !== "int8") || !hasEvenColumns(x)) return undefined;
  const kernel = subtractZeroPoint({ ...matrixShape(x), type, zeroPoint: zero !== undefined });
  return singleCall(kernel, tensorOperand(x), ...(zero === undefined ? [] : [tensorOperand(zero)]), tensorOperand(outputs[0]));
}

/** Lowers a product of int16 activations and constant integer weights to exact int32 sums. */
export function lowerIntegerMatmul(
  { inputs, outputs }: NodeOf<"integer-matmul">,
  context: LoweringContext,
): LoweredNode | undefined {
  return lowerIntegerProduct(inputs, "int32", [tensorOperand(outputs[0])], context);
}

/** Lowers a quantized linear layer: integer sums times scales, with bias, activation and residual, to float32. */
export function lowerIntegerLinear(
  { operation, inputs, outputs }: NodeOf<"integer-linear">,
  context: LoweringContext,
): LoweredNode | undefined {
  const [, , scale, columnScale, ...added] = inputs;
  if (columnScale === undefined) return undefined;
  const { bias, activation, residual } = operation;
  const bScale = elementCount(columnScale.type.shape) === 1 ? "tensor" : "column";
  const output = { bScale, bias, activation, residual } as const;
  const rest = [scale, columnScale, ...added, outputs[0]].map((value) => tensorOperand(value));
  return lowerIntegerProduct(inputs, output, rest, context);
}

function lowerIntegerProduct(
  [x, weights]: readonly Value[],
  output: IntegerOutput,
  rest: readonly Operand[],
  { hasByteLayout }: LoweringContext,
): LoweredNode | undefined {
  if (x === undefined || !hasEvenColumns(x)) return undefined;
  const m = matrixShape(x).rows;
  const source = weights?.constant;
  if (source !== undefined && hasByteLayout(x)) {
    const bytes = packedByteWeights(source);
    return singleCall(
      byteMatmul({ ...bytes.shape, m, output }),
      tensorOperand(x),
      { kind: "packed", weights: bytes.weights },
      ...rest,
    );
  }
  const packed = packedIntegerWeights(source);
  if (packed === undefined) return undefined;
  return singleCall(
    integerMatmul({ ...packed.shape, m, output }),
    tensorOperand(x),
    { kind: "packed", weights: packed.weights },
    ...rest,
  );
}

/** Kernels fill rows to an even number of int16; tensors do not. */
function hasEvenColumns({ type }: Value): boolean {
  return (type.shape.at(-1) ?? 1) % 2 === 0;
}

function matrixShape({ type }: Value): { readonly rows: number; readonly columns: number } {
  return { rows: elementCount(type.shape.slice(0, -1)), columns: type.shape.at(-1) ?? 1 };
}

/** Packed int32 weights whose values span at most 256: as int8 if they fit, else as int16. */
function packedIntegerWeights(
  source: Literal | undefined,
): { readonly shape: IntegerWeightsShape; readonly weights: PackedWeights } | undefined {
  if (source === undefined) return undefined;
  const [k, n] = [at(source.shape, 0), at(source.shape, 1)];
  const [min, max] = rangeIncludingZero(source);
  if (max - min > 255 || min < -255) return undefined;
  const shape = { k, n, weightBytes: min >= -128 && max <= 127 ? 1 : 2 } as const;
  const { dataType } = source;
  const weights: PackedWeights = {
    source,
    layout: `integer ${k}x${n}`,
    bytes: packedIntegerLength(shape),
    pack: (target, data) => packIntegerWeights(target, toNumbers({ dataType, shape: source.shape, data }), shape),
  };
  return { shape, weights };
}

function fitsByteLayout(source: Literal): boolean {
  const [k, n] = [at(source.shape, 0), at(source.shape, 1)];
  return cachedAnalysis(source, `lies as bytes ${k}x${n}`, () => fitsBytes({ values: toNumbers(source), k, n }));
}

function packedByteWeights(source: Literal): { readonly shape: Pick<ByteWeights, "k" | "n">; readonly weights: PackedWeights } {
  const { dataType, shape } = source;
  const [k, n] = [at(shape, 0), at(shape, 1)];
  const weights: PackedWeights = {
    source,
    layout: `bytes ${k}x${n}`,
    bytes: packedBytesLength({ k, n }),
    pack: (target, data) => packBytes(target, { values: toNumbers({ dataType, shape, data }), k, n }),
  };
  return { shape: { k, n }, weights };
}
