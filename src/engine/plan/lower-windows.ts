/** Convolutions and pooling of one or two spatial axes. One axis is a plane of height 1. */
import { conv2d, pool2d } from "../emit/wasm/index.ts";
import type { Window } from "../graph/operations.ts";
import type { NodeOf } from "../passes/rewrite.ts";
import { type LoweredNode, oneCall, type Surroundings, tensor } from "./planned-call.ts";

type Pair = readonly [number, number];
type Sides = readonly [number, number, number, number];

interface Plane {
  readonly input: Pair;
  readonly size: Pair;
  readonly strides: Pair;
  readonly dilations: Pair;
  readonly pads: Sides;
}

/** undefined for other than one or two axes. */
function planeOf(sizes: readonly number[], kernel: readonly number[], { strides, dilations, pads }: Window): Plane | undefined {
  if (sizes.length === 1) {
    const [size = 1, width = 1, stride = 1, dilation = 1] = [sizes[0], kernel[0], strides[0], dilations[0]];
    const [left = 0, right = 0] = pads;
    return { input: [1, size], size: [1, width], strides: [1, stride], dilations: [1, dilation], pads: [0, left, 0, right] };
  }
  if (sizes.length !== 2) return undefined;
  const [top = 0, left = 0, bottom = 0, right = 0] = pads;
  return {
    input: pair(sizes),
    size: pair(kernel),
    strides: pair(strides),
    dilations: pair(dilations),
    pads: [top, left, bottom, right],
  };
}

function pair([first = 1, second = 1]: readonly number[]): Pair {
  return [first, second];
}

export function lowerConvolution({ operation, inputs, outputs }: NodeOf<"convolution">): LoweredNode | undefined {
  const [x, weights, bias] = inputs;
  if (x === undefined || weights === undefined || x.type.dataType !== "float32") return undefined;
  const [batch = 0, inChannels = 0, ...sizes] = x.type.shape;
  const [outChannels = 0, , ...kernel] = weights.type.shape;
  const window = planeOf(sizes, kernel, operation);
  if (window === undefined) return undefined;
  const { groups, activation = "none" } = operation;
  const request = { batch, inChannels, outChannels, groups, window, bias: bias !== undefined, activation };
  const added = bias === undefined ? [] : [tensor(bias)];
  return oneCall(conv2d(request), tensor(x), tensor(weights), ...added, tensor(outputs[0]));
}

export function lowerMaxPool(
  { operation, inputs, outputs }: NodeOf<"max-pool">,
  { isUsed }: Surroundings,
): LoweredNode | undefined {
  const [x] = inputs;
  if (x === undefined || x.type.dataType !== "float32" || isUsed(1)) return undefined;
  const window = grownPlane(x.type.shape, outputs[0]?.type.shape ?? [], operation.kernel, operation);
  if (window === undefined) return undefined;
  return oneCall(pool2d({ planes: planesOf(x.type.shape), kind: "max", window }), tensor(x), tensor(outputs[0]));
}

export function lowerAveragePool({ operation, inputs, outputs }: NodeOf<"average-pool">): LoweredNode | undefined {
  const [x] = inputs;
  if (x === undefined || x.type.dataType !== "float32") return undefined;
  const stated = planeOf(x.type.shape.slice(2), operation.kernel, operation);
  const window = grownPlane(x.type.shape, outputs[0]?.type.shape ?? [], operation.kernel, operation);
  if (window === undefined || stated === undefined) return undefined;
  const counted = operation.countPadding ? { countedPads: stated.pads } : {};
  return oneCall(pool2d({ planes: planesOf(x.type.shape), kind: "average", window, ...counted }), tensor(x), tensor(outputs[0]));
}

function planesOf([batch = 0, channels = 0]: readonly number[]): number {
  return batch * channels;
}

/** Windows that begin inside and end outside are padding at the bottom and the right. */
function grownPlane(
  from: readonly number[],
  to: readonly number[],
  kernel: readonly number[],
  window: Window,
): Plane | undefined {
  const plane = planeOf(from.slice(2), kernel, window);
  if (plane === undefined) return undefined;
  const target: Pair = to.length === 3 ? [1, to[2] ?? 1] : [to[2] ?? 1, to[3] ?? 1];
  const missing = (axis: 0 | 1): number => {
    const reach = (target[axis] - 1) * plane.strides[axis] + (plane.size[axis] - 1) * plane.dilations[axis] + 1;
    return Math.max(plane.pads[axis + 2] ?? 0, reach - plane.input[axis] - (plane.pads[axis] ?? 0));
  };
  const [top, left] = plane.pads;
  return { ...plane, pads: [top, left, missing(0), missing(1)] };
}
