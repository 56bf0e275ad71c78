/** Quantised layers. */
import { elementCount, type TensorData } from "../../tensor.ts";
import {
  centre,
  integerMatmul,
  integerWeightBytes,
  type IntegerWeights,
  packedIntegerLength,
  packIntegerWeights,
  quantize,
} from "../emit/wasm/index.ts";
import type { Value } from "../graph/graph.ts";
import { type Literal, numbersOf } from "../graph/literal.ts";
import { rangeOfWeights } from "../passes/fuse-integers.ts";
import type { NodeOf } from "../passes/rewrite.ts";
import { type LoweredNode, oneCall, type PackedWeights, tensor } from "./planned-call.ts";

export function lowerQuantize({ inputs, outputs }: NodeOf<"quantize">): LoweredNode | undefined {
  const [x, scale, zero] = inputs;
  if (x === undefined || !hasEvenRows(x)) return undefined;
  const kernel = quantize({ ...matrixOf(x), per: "tensor", output: "centred" });
  return oneCall(kernel, tensor(x), tensor(scale), tensor(zero), tensor(outputs[0]));
}

export function lowerCentre({ inputs, outputs }: NodeOf<"centre">): LoweredNode | undefined {
  const [x, zero] = inputs;
  const type = x?.type.dataType;
  if (x === undefined || (type !== "uint8" && type !== "int8") || !hasEvenRows(x)) return undefined;
  const kernel = centre({ ...matrixOf(x), type, zeroPoint: zero !== undefined });
  return oneCall(kernel, tensor(x), ...(zero === undefined ? [] : [tensor(zero)]), tensor(outputs[0]));
}

export function lowerIntegerMatmul({ inputs, outputs }: NodeOf<"integer-matmul">): LoweredNode | undefined {
  const [x, weights] = inputs;
  const packed = packedOf(weights?.constant);
  if (x === undefined || packed === undefined || !hasEvenRows(x)) return undefined;
  const kernel = integerMatmul({ ...packed.shape, m: matrixOf(x).rows, output: "int32" });
  return oneCall(kernel, tensor(x), { kind: "packed", weights: packed.weights }, tensor(outputs[0]));
}

export function lowerIntegerLinear({ operation, inputs, outputs }: NodeOf<"integer-linear">): LoweredNode | undefined {
  const [x, weights, scale, columnScale, ...added] = inputs;
  const packed = packedOf(weights?.constant);
  if (x === undefined || packed === undefined || columnScale === undefined || !hasEvenRows(x)) return undefined;
  const { bias, activation, residual } = operation;
  const bScale = elementCount(columnScale.type.shape) === 1 ? "tensor" : "column";
  const output = { aScale: "tensor", bScale, bias, activation, residual } as const;
  const kernel = integerMatmul({ ...packed.shape, m: matrixOf(x).rows, output });
  const rest = [scale, columnScale, ...added, outputs[0]].map((value) => tensor(value));
  return oneCall(kernel, tensor(x), { kind: "packed", weights: packed.weights }, ...rest);
}

/** Kernels fill rows to an even number of int16; tensors do not. */
function hasEvenRows({ type }: Value): boolean {
  return (type.shape.at(-1) ?? 1) % 2 === 0;
}

function matrixOf({ type }: Value): { readonly rows: number; readonly columns: number } {
  return { rows: elementCount(type.shape.slice(0, -1)), columns: type.shape.at(-1) ?? 1 };
}

/** Weights of int32 that span a byte, as bytes with a zero point. */
function packedOf(
  source: Literal | undefined,
):
  | { readonly shape: Pick<Parameters<typeof integerMatmul>[0], "n" | "k" | "weightBytes">; readonly weights: PackedWeights }
  | undefined {
  if (source === undefined) return undefined;
  const [k = 0, n = 0] = source.shape;
  const [least, most] = rangeOfWeights(source);
  if (most - least > 255 || least < -255) return undefined;
  const isSigned = least >= -128 && most <= 127;
  const given = (elements: TensorData): IntegerWeights => {
    const numbers = numbersOf({ dataType: source.dataType, shape: source.shape, data: elements });
    return isSigned
      ? { values: new Int8Array(numbers), k, n }
      : { values: Uint8Array.from(numbers, (value) => value - least), k, n, zeroPoints: [-least] };
  };
  // How long it will be does not depend on the elements, so they are not asked for here.
  const outline: IntegerWeights = isSigned
    ? { values: new Int8Array(0), k, n }
    : { values: new Uint8Array(0), k, n, zeroPoints: [-least] };
  const weights: PackedWeights = {
    source,
    layout: `integer ${k}x${n}`,
    bytes: packedIntegerLength(outline),
    pack: (target, elements) => packIntegerWeights(target, given(elements)),
  };
  return { shape: { k, n, weightBytes: integerWeightBytes(outline) }, weights };
}
