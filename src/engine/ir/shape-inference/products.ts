/** Shape inference of matrix products, convolutions and pooling. */
import { at } from "../../../contract/checked.ts";
import { broadcastShape } from "../broadcast.ts";
import { describeType, type TensorType } from "../tensor-type.ts";
import type { OperationOf, Window } from "../operations.ts";
import { dilatedSize, transposedWindowSizes, windowCounts, windowTravel } from "../window-arithmetic.ts";
import { checkRank, checkSameDataType, operands } from "./operands.ts";

type Types = readonly TensorType[];

/** Output type of `matmul`: [..., rows, columns], with the leading axes broadcast. Throws Error if the inner sizes differ. */
export function inferMatmul(inputs: Types): Types {
  const [a, b] = operands(inputs, "a", "b");
  checkSameDataType(inputs);
  const [rows, inner] = a.shape.slice(-2);
  const [depth, columns] = b.shape.slice(-2);
  if (rows === undefined || columns === undefined || inner === undefined || inner !== depth) {
    throw new Error(
      `${describeType(a)} and ${describeType(b)} cannot be multiplied: the last axis of the first must equal the second to last of the second`,
    );
  }
  return [{ dataType: a.dataType, shape: [...broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2)), rows, columns] }];
}

/**
 * Output type of `convolution`: [N, filters, ...], with the number of window positions along each spatial axis. Throws Error if weights or bias do
 * not fit.
 */
export function inferConvolution({ groups, ...window }: OperationOf<"convolution">, inputs: Types): Types {
  const [x, weights, bias] = inputs;
  if (x === undefined || weights === undefined)
    throw new Error(`expected the inputs x, weights and an optional bias, got ${inputs.length}`);
  checkSameDataType(inputs);
  const [batch = 0, channels = 0, ...sizes] = x.shape;
  const [filters = 0, depth = 0, ...kernel] = weights.shape;
  if (bias !== undefined && bias.shape.join() !== String(filters))
    throw new Error(`the bias is ${describeType(bias)}, and must be a vector of one element per filter`);
  if (x.shape.length < 3 || kernel.length !== sizes.length || depth * groups !== channels || filters % groups !== 0) {
    throw new Error(`weights ${describeType(weights)} in ${groups} groups do not fit the input ${describeType(x)}`);
  }
  checkWindow(sizes, kernel, window);
  const spatial = windowCounts(sizes, kernel, window);
  return [{ dataType: x.dataType, shape: [batch, filters, ...spatial] }];
}

/**
 * Output type of `convolution-transpose`: [N, filters, ...], with the size of the enlarged image along each spatial axis. Throws Error if weights,
 * bias or pads do not fit.
 */
export function inferConvolutionTranspose(
  { groups, outputPads, strides, dilations, pads }: OperationOf<"convolution-transpose">,
  inputs: Types,
): Types {
  const [x, weights, bias] = inputs;
  if (x === undefined || weights === undefined)
    throw new Error(`expected the inputs x, weights and an optional bias, got ${inputs.length}`);
  checkSameDataType(inputs);
  const [batch = 0, channels = 0, ...sizes] = x.shape;
  const [depth = 0, filters = 0, ...kernel] = weights.shape;
  if (bias !== undefined && bias.shape.join() !== String(filters * groups))
    throw new Error(`the bias is ${describeType(bias)}, and must be a vector of one element per filter`);
  if (x.shape.length < 3 || kernel.length !== sizes.length || depth !== channels || channels % groups !== 0) {
    throw new Error(`weights ${describeType(weights)} in ${groups} groups do not fit the input ${describeType(x)}`);
  }
  const window = { strides, dilations, pads };
  checkRanks(sizes.length, window);
  checkRank(outputPads, sizes.length, "outputPads");
  const spatial = transposedWindowSizes(sizes, kernel, window).map((size, axis) => size + at(outputPads, axis));
  if (spatial.some((size) => size < 0)) throw new Error(`pads [${pads.join(", ")}] exceed the output [${spatial.join(", ")}]`);
  return [{ dataType: x.dataType, shape: [batch, filters * groups, ...spatial] }];
}

/**
 * Output types of `max-pool`: the values [N, C, ...], with the number of window positions along each spatial axis, and int64 indices of the same
 * shape.
 */
export function inferMaxPool({ kernel, ceil, ...window }: OperationOf<"max-pool">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  const shape = pooledShape(x, kernel, window, ceil);
  return [
    { dataType: x.dataType, shape },
    { dataType: "int64", shape },
  ];
}

/** Output type of `average-pool`: [N, C, ...], with the number of window positions along each spatial axis. */
export function inferAveragePool({ kernel, ceil, ...window }: OperationOf<"average-pool">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  return [{ dataType: x.dataType, shape: pooledShape(x, kernel, window, ceil) }];
}

function pooledShape({ shape }: TensorType, kernel: readonly number[], window: Window, ceil: boolean): readonly number[] {
  const [batch = 0, channels = 0, ...sizes] = shape;
  checkRank(kernel, sizes.length, "kernel");
  checkWindow(sizes, kernel, window);
  const { strides, pads } = window;
  const spatial = windowTravel(sizes, kernel, window).map((travel, axis) => {
    const stride = at(strides, axis);
    if (!ceil) return Math.floor(travel / stride) + 1;
    const count = Math.ceil(travel / stride) + 1;
    const lastStart = (count - 1) * stride; // a window must start inside the input or the padding before it
    return lastStart >= at(sizes, axis) + at(pads, axis) ? count - 1 : count;
  });
  return [batch, channels, ...spatial];
}

/** Throws unless strides, dilations and pads have an entry for each of `rank` axes. */
function checkRanks(rank: number, { strides, dilations, pads }: Window): void {
  checkRank(strides, rank, "strides");
  checkRank(dilations, rank, "dilations");
  checkRank(pads, 2 * rank, "pads");
}

/** Throws unless the window is well formed and fits into every padded axis. */
function checkWindow(sizes: readonly number[], kernel: readonly number[], window: Window): void {
  const { strides, dilations } = window;
  checkRanks(sizes.length, window);
  if ([...strides, ...dilations, ...kernel].some((size) => !(size > 0)))
    throw new Error(
      `kernel [${kernel.join(", ")}], strides [${strides.join(", ")}] and dilations [${dilations.join(", ")}] must be positive`,
    );
  for (const [axis, travel] of windowTravel(sizes, kernel, window).entries()) {
    if (travel >= 0) continue;
    const span = dilatedSize(at(kernel, axis), at(dilations, axis));
    throw new Error(`a window of ${span} elements exceeds spatial axis ${axis}, which has ${span + travel} with its padding`);
  }
}
