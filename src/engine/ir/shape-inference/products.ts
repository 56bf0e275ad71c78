/** Operations whose results are sums of products over windows or axes, and pooling. */
import { broadcastShape } from "../broadcast.ts";
import { describeType, type TensorType } from "../graph.ts";
import type { OperationOf, Window } from "../operations.ts";
import { checkRank, checkSameDataType, operands } from "./operands.ts";

type Types = readonly TensorType[];

export function inferMatmul(inputs: Types): Types {
  const [a, b] = operands(inputs, "a", "b");
  checkSameDataType(inputs);
  const [rows, inner] = a.shape.slice(-2);
  const [depth, columns] = b.shape.slice(-2);
  if (rows === undefined || columns === undefined || inner === undefined || inner !== depth) {
    throw new Error(`${describeType(a)} and ${describeType(b)} do not multiply`);
  }
  return [{ dataType: a.dataType, shape: [...broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2)), rows, columns] }];
}

export function inferConvolution({ groups, ...window }: OperationOf<"convolution">, inputs: Types): Types {
  const [x, weights, bias] = inputs;
  if (x === undefined || weights === undefined) throw new Error("it takes x, weights and perhaps a bias");
  checkSameDataType(inputs);
  const [batch = 0, channels = 0, ...sizes] = x.shape;
  const [filters = 0, depth = 0, ...kernel] = weights.shape;
  if (bias !== undefined && bias.shape.join() !== String(filters)) throw new Error(`its bias is ${describeType(bias)}`);
  if (x.shape.length < 3 || kernel.length !== sizes.length || depth * groups !== channels || filters % groups !== 0) {
    throw new Error(`${describeType(weights)} in ${groups} groups does not fit ${describeType(x)}`);
  }
  const { strides } = window;
  const spatial = spannedSizes(sizes, kernel, window).map((span, axis) => Math.floor(span / (strides[axis] ?? 1)) + 1);
  return [{ dataType: x.dataType, shape: [batch, filters, ...spatial] }];
}

export function inferConvolutionTranspose(
  { groups, outputPads, strides, dilations, pads }: OperationOf<"convolution-transpose">,
  inputs: Types,
): Types {
  const [x, weights, bias] = inputs;
  if (x === undefined || weights === undefined) throw new Error("it takes x, weights and perhaps a bias");
  checkSameDataType(inputs);
  const [batch = 0, channels = 0, ...sizes] = x.shape;
  const [depth = 0, filters = 0, ...kernel] = weights.shape;
  if (bias !== undefined && bias.shape.join() !== String(filters * groups)) throw new Error(`its bias is ${describeType(bias)}`);
  if (x.shape.length < 3 || kernel.length !== sizes.length || depth !== channels || channels % groups !== 0) {
    throw new Error(`${describeType(weights)} in ${groups} groups does not fit ${describeType(x)}`);
  }
  const spatial = sizes.map((size, axis) => {
    const reach = ((kernel[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
    const cut = (pads[axis] ?? 0) + (pads[axis + sizes.length] ?? 0);
    return (size - 1) * (strides[axis] ?? 1) + reach - cut + (outputPads[axis] ?? 0);
  });
  if (spatial.some((size) => size < 0)) throw new Error("its pads cut more away than there is");
  return [{ dataType: x.dataType, shape: [batch, filters * groups, ...spatial] }];
}

export function inferMaxPool({ kernel, ceil, ...window }: OperationOf<"max-pool">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  const shape = pooledShape(x, kernel, window, ceil);
  return [
    { dataType: x.dataType, shape },
    { dataType: "int64", shape },
  ];
}

export function inferAveragePool({ kernel, ceil, ...window }: OperationOf<"average-pool">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  return [{ dataType: x.dataType, shape: pooledShape(x, kernel, window, ceil) }];
}

function pooledShape({ shape }: TensorType, kernel: readonly number[], window: Window, ceil: boolean): readonly number[] {
  const [batch = 0, channels = 0, ...sizes] = shape;
  checkRank(kernel, sizes.length, "kernel");
  const { strides, pads } = window;
  const spatial = spannedSizes(sizes, kernel, window).map((span, axis) => {
    const stride = strides[axis] ?? 1;
    if (!ceil) return Math.floor(span / stride) + 1;
    const count = Math.ceil(span / stride) + 1;
    const begins = (count - 1) * stride; // a window must begin inside the input or the padding before it
    return begins >= (sizes[axis] ?? 0) + (pads[axis] ?? 0) ? count - 1 : count;
  });
  return [batch, channels, ...spatial];
}

/** How far windows move along each axis: the padded size without the window's own reach. */
function spannedSizes(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
): readonly number[] {
  checkRank(strides, sizes.length, "strides");
  checkRank(dilations, sizes.length, "dilations");
  checkRank(pads, 2 * sizes.length, "pads");
  if ([...strides, ...dilations, ...kernel].some((size) => !(size > 0)))
    throw new Error("its windows, strides and dilations must be positive");
  return sizes.map((size, axis) => {
    const reach = ((kernel[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
    const span = size + (pads[axis] ?? 0) + (pads[axis + sizes.length] ?? 0) - reach;
    if (span < 0) throw new Error(`a window of ${reach} does not fit into ${size} with its padding`);
    return span;
  });
}
