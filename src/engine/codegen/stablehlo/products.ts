/** Lowers matrix products and convolutions with their epilogues to StableHLO. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { broadcastShape } from "../../ir/broadcast.ts";
import { isFloat } from "../../ir/element-types.ts";
import type { Activation, LinearEpilogue, OperationOf } from "../../ir/operations.ts";
import { dilatedSize, transposedWindowSizes, windowCounts } from "../../ir/window-arithmetic.ts";
import { emitGelu, unary, wideType } from "./elementwise.ts";
import { type HloFunction, type HloValue, formatList } from "./hlo-function.ts";

/** Lowers `matmul` to StableHLO. */
export function emitMatmul(hlo: HloFunction, _: OperationOf<"matmul">, [a, b]: readonly HloValue[]): HloValue {
  return lowerMatmulToHlo(hlo, required(a, "the first matrix"), required(b, "the second matrix"));
}

/** Matrix product with broadcast leading axes. Accumulates in float32 or wider. */
export function lowerMatmulToHlo(hlo: HloFunction, a: HloValue, b: HloValue): HloValue {
  const { dataType } = a.type;
  const [aBatch, bBatch] = [a.type.shape.slice(0, -2), b.type.shape.slice(0, -2)];
  const [rows, depth, columns] = [at(a.type.shape.slice(-2), 0), at(a.type.shape.slice(-1), 0), at(b.type.shape.slice(-1), 0)];
  const wide = wideType(dataType);
  if (b.swapped !== undefined) {
    const one = hlo.reshape(a, [elementCount(a.type.shape) / depth, depth]);
    const product = hlo.dot(
      b.swapped,
      one,
      { dataType: wide, shape: [columns, at(one.type.shape, 0)] },
      { batch: 0, a: 1, b: 1 },
    );
    // Without the barrier XLA joins product and transposition, and swaps the operands back.
    const kept = hlo.operation("stablehlo.optimization_barrier", [product], product.type);
    return hlo.convert(hlo.reshape(hlo.transpose(kept, [1, 0]), [...a.type.shape.slice(0, -1), columns]), dataType);
  }
  const isShared = elementCount(bBatch) === 1; // one matrix b for all of a: a single product, without repeating b
  if (isShared) {
    const matrix = hlo.reshape(b, [depth, columns]);
    const result = { dataType: wide, shape: [...a.type.shape.slice(0, -1), columns] };
    const product = hlo.dot(a, matrix, result, { batch: 0, a: a.type.shape.length - 1, b: 0 });
    const leading = Array.from({ length: Math.max(0, bBatch.length - aBatch.length) }, () => 1);
    return hlo.convert(hlo.reshape(product, [...leading, ...result.shape]), dataType);
  }
  const batch = broadcastShape(aBatch, bBatch);
  const [one, other] = [hlo.broadcast(a, [...batch, rows, depth]), hlo.broadcast(b, [...batch, depth, columns])];
  const result = { dataType: wide, shape: [...batch, rows, columns] };
  const axes = { batch: batch.length, a: batch.length + 1, b: batch.length };
  return hlo.convert(hlo.dot(one, other, result, axes), dataType);
}

/** Lowers `linear` to StableHLO: inputs x, weights, then bias and residual if the epilogue has them. */
export function emitLinear(hlo: HloFunction, operation: OperationOf<"linear">, inputs: readonly HloValue[]): HloValue {
  const [x, weights, ...others] = inputs;
  return epilogue(hlo, operation, lowerMatmulToHlo(hlo, required(x, "x"), required(weights, "the weights")), others);
}

/** Applies the epilogue of a product. `others`: the optional operands, bias and then residual. */
export function epilogue(
  hlo: HloFunction,
  { bias, residual, activation }: LinearEpilogue,
  product: HloValue,
  others: readonly HloValue[],
): HloValue {
  const plus = (a: HloValue, b: HloValue | undefined): HloValue => hlo.binary("stablehlo.add", a, required(b, "an operand"));
  let result = product;
  if (bias) result = plus(result, others[0]);
  if (residual === "before-activation") result = plus(result, others.at(-1));
  result = activations[activation](hlo, result);
  return residual === "after-activation" ? plus(result, others.at(-1)) : result;
}

const activations: Readonly<Record<Activation, (hlo: HloFunction, x: HloValue) => HloValue>> = {
  none: (_hlo, x) => x,
  relu: (hlo, x) => hlo.binary("stablehlo.maximum", x, hlo.scalar(x.type.dataType, 0)),
  gelu: (hlo, x) => emitGelu(hlo, { kind: "gelu", approximate: "none" }, [x]),
  "gelu-tanh": (hlo, x) => emitGelu(hlo, { kind: "gelu", approximate: "tanh" }, [x]),
  tanh: (hlo, x) => unary(hlo, "tanh", x),
  sigmoid: (hlo, x) => unary(hlo, "sigmoid", x),
  silu: (hlo, x) => hlo.binary("stablehlo.multiply", x, unary(hlo, "sigmoid", x)),
};

/** Lowers `fused-matmul` to StableHLO: axes of the operands are permuted before the product, axes of the result after it. */
export function emitFusedMatmul(
  hlo: HloFunction,
  { a, b, result, alpha }: OperationOf<"fused-matmul">,
  [one, other]: readonly HloValue[],
): HloValue {
  const operands = [hlo.transpose(required(one, "the first matrix"), a), hlo.transpose(required(other, "the second matrix"), b)];
  const product = hlo.transpose(lowerMatmulToHlo(hlo, at(operands, 0), at(operands, 1)), result);
  return alpha === 1 ? product : hlo.binary("stablehlo.multiply", product, hlo.scalar(product.type.dataType, alpha));
}

/** Lowers `convolution` to StableHLO: inputs x [N,C,…], weights [M,C/groups,…], and optionally a bias [M]. */
export function emitConvolution(
  hlo: HloFunction,
  operation: OperationOf<"convolution">,
  [x, weights, bias]: readonly HloValue[],
): HloValue {
  const [image, filters] = [required(x, "x"), required(weights, "the weights")];
  const kernel = filters.type.shape.slice(2);
  const spatial = windowCounts(image.type.shape.slice(2), kernel, operation);
  const { groups, strides, dilations, pads } = operation;
  const axes = kernel.length;
  const sums = convolve(hlo, image, filters, [at(image.type.shape, 0), at(filters.type.shape, 0), ...spatial], {
    groups,
    strides,
    inputDilations: kernel.map(() => 1),
    dilations,
    padding: kernel.map((_, axis) => [at(pads, axis), at(pads, axes + axis)]),
  });
  return withBias(hlo, sums, bias, operation.activation);
}

/**
 * Lowers `convolution-transpose` to StableHLO: inputs x [N,C,…], weights [C,M/groups,…], and optionally a bias [M]. Computed as a convolution of the
 * input, dilated by the strides, with the reversed kernel.
 */
export function emitConvolutionTranspose(
  hlo: HloFunction,
  operation: OperationOf<"convolution-transpose">,
  [x, weights, bias]: readonly HloValue[],
): HloValue {
  const [image, given] = [required(x, "x"), required(weights, "the weights")];
  const { groups, strides, dilations, pads, outputPads } = operation;
  const [channels, own, ...kernel] = given.type.shape;
  const [inputs, outputs] = [(channels ?? 0) / groups, own ?? 0];
  const axes = kernel.length;
  const spatialAxes = kernel.map((_, axis) => axis + 3);
  const grouped = hlo.transpose(hlo.reshape(given, [groups, inputs, outputs, ...kernel]), [0, 2, 1, ...spatialAxes]);
  const filters = hlo.reshape(grouped, [groups * outputs, inputs, ...kernel]);
  const turned = hlo.reverse(
    filters,
    kernel.map((_, axis) => axis + 2),
  );
  const spatial = transposedWindowSizes(image.type.shape.slice(2), kernel, operation).map(
    (size, axis) => size + at(outputPads, axis),
  );
  const sums = convolve(hlo, image, turned, [at(image.type.shape, 0), groups * outputs, ...spatial], {
    groups,
    strides: kernel.map(() => 1),
    inputDilations: strides,
    dilations,
    padding: kernel.map((size, axis) => {
      const reach = dilatedSize(size, at(dilations, axis)) - 1;
      return [reach - at(pads, axis), reach - at(pads, axes + axis) + at(outputPads, axis)];
    }),
  });
  return withBias(hlo, sums, bias, operation.activation);
}

interface ConvolutionWindow {
  readonly groups: number;
  readonly strides: readonly number[];
  /** Dilation of the input along each spatial axis; more than 1 in a transposed convolution with strides. */
  readonly inputDilations: readonly number[];
  readonly dilations: readonly number[];
  /** Elements added before and after each spatial axis; negative numbers remove elements. */
  readonly padding: readonly (readonly [before: number, after: number])[];
}

function convolve(
  hlo: HloFunction,
  image: HloValue,
  filters: HloValue,
  shape: readonly number[],
  { groups, strides, inputDilations, dilations, padding }: ConvolutionWindow,
): HloValue {
  const { dataType } = image.type;
  const wide = isFloat(dataType) ? wideType(dataType) : "float64"; // GPUs convolve no integers; float64 holds sums below 2^53 exactly
  const spatial = strides.map((_, axis) => axis).join(", ");
  const axes = (first: string, second: string): string => `[${first}, ${second}${spatial === "" ? "" : `, ${spatial}`}]`;
  const sums = hlo.operation(
    "stablehlo.convolution",
    [hlo.convert(image, wide), hlo.convert(filters, wide)],
    { dataType: wide, shape },
    {
      window_strides: formatList(strides),
      padding: `dense<${JSON.stringify(padding)}> : tensor<${padding.length}x2xi64>`,
      lhs_dilation: formatList(inputDilations),
      rhs_dilation: formatList(dilations),
      dimension_numbers: `#stablehlo.conv<${axes("b", "f")}x${axes("o", "i")}->${axes("b", "f")}>`,
      feature_group_count: `${groups} : i64`,
      batch_group_count: "1 : i64",
      precision_config: "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]",
    },
  );
  return hlo.convert(sums, dataType);
}

function withBias(hlo: HloFunction, sums: HloValue, bias: HloValue | undefined, activation: Activation = "none"): HloValue {
  if (bias === undefined) return activations[activation](hlo, sums);
  const wide = hlo.broadcastAxes(hlo.reshape(bias, [at(sums.type.shape, 1)]), sums.type.shape, [1]);
  return activations[activation](hlo, hlo.binary("stablehlo.add", sums, wide));
}
