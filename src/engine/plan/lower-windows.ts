/** Convolutions and pooling of one to three spatial axes. One axis is a plane of height 1. */
import { elementCount } from "../../tensor.ts";
import { conv2d, type DepthWindow, elementwise, type Kernel, pool2d } from "../emit/wasm/index.ts";
import type { Value } from "../graph/graph.ts";
import type { Window } from "../graph/operations.ts";
import type { NodeOf } from "../passes/rewrite.ts";
import { type LoweredNode, oneCall, type Operand, type Surroundings, tensor } from "./planned-call.ts";

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
  const type = x?.type.dataType;
  if (x === undefined || weights === undefined || (type !== "float32" && type !== "int32")) return undefined;
  const [batch = 0, inChannels = 0, ...sizes] = x.type.shape;
  const [outChannels = 0, , ...kernel] = weights.type.shape;
  const { groups, activation = "none" } = operation;
  if (type === "int32" && activation !== "none") return undefined;
  const deep = depthOf(sizes, kernel, operation, outputs[0]?.type.shape[2] ?? 0);
  const plane = sizes.length === 3 ? lastTwo(sizes, kernel, operation) : planeOf(sizes, kernel, operation);
  if (plane === undefined) return undefined;
  const common = { batch, inChannels, outChannels, groups, bias: bias !== undefined, activation, type };
  const added = bias === undefined ? [] : [tensor(bias)];
  const request = { ...common, window: plane, ...(deep === undefined ? {} : { depth: deep }) };
  return oneCall(conv2d(request), tensor(x), tensor(weights), ...added, tensor(outputs[0]));
}

/** The first of three axes. */
function depthOf(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
  output: number,
): DepthWindow | undefined {
  if (sizes.length !== 3) return undefined;
  const [input = 1, size = 1, stride = 1, dilation = 1, pad = 0] = [sizes[0], kernel[0], strides[0], dilations[0], pads[0]];
  return { input, size, stride, dilation, pad, output };
}

/** The others. */
function lastTwo(sizes: readonly number[], kernel: readonly number[], { strides, dilations, pads }: Window): Plane | undefined {
  const [, top = 0, left = 0, , bottom = 0, right = 0] = pads;
  const window = { strides: strides.slice(1), dilations: dilations.slice(1), pads: [top, left, bottom, right] };
  return planeOf(sizes.slice(1), kernel.slice(1), window);
}

export function lowerMaxPool(
  { operation, inputs, outputs }: NodeOf<"max-pool">,
  { isUsed }: Surroundings,
): LoweredNode | undefined {
  const [x] = inputs;
  const [y] = outputs;
  if (x === undefined || y === undefined || isUsed(1)) return undefined;
  const type = x.type.dataType;
  if (type === "float32") return pooled({ x, y, kind: "max", kernel: operation.kernel, window: operation, countPadding: false });
  if (type !== "uint8" && type !== "int8") return undefined;
  // Bytes are compared as float32, which holds them all.
  const floats = pooled({ x, y, kind: "max", kernel: operation.kernel, window: operation, countPadding: false });
  if (floats === undefined) return undefined;
  const { temporaries = [], calls } = floats;
  const [wide, pooledFloats] = [temporaries.length, temporaries.length + 1];
  const [from, to] = [temporary(wide), temporary(pooledFloats)];
  const moved = calls.map(({ kernel, operands }, index) => ({
    kernel,
    operands: [index === 0 ? from : operands[0], index === calls.length - 1 ? to : operands[1]].filter(
      (operand) => operand !== undefined,
    ),
  }));
  const bytes = ({ type: { shape } }: Value): number => elementCount(shape) * 4;
  return {
    calls: [
      { kernel: casting(x.type.shape, type, "float32"), operands: [tensor(x), from] },
      ...moved,
      { kernel: casting(y.type.shape, "float32", type), operands: [to, tensor(y)] },
    ],
    temporaries: [...temporaries, bytes(x), bytes(y)],
  };
}

function casting(shape: readonly number[], from: "float32" | "uint8" | "int8", to: "float32" | "uint8" | "int8"): Kernel {
  return elementwise({ shape, inputs: [{ type: from }], steps: [{ op: "cast", of: [0], to }], output: to });
}

function temporary(index: number): Operand {
  return { kind: "temporary", index };
}

export function lowerAveragePool({ operation, inputs, outputs }: NodeOf<"average-pool">): LoweredNode | undefined {
  const [x] = inputs;
  const [y] = outputs;
  if (x === undefined || y === undefined || x.type.dataType !== "float32") return undefined;
  const { kernel, countPadding } = operation;
  return pooled({ x, y, kind: "average", kernel, window: operation, countPadding });
}

interface Pooling {
  readonly x: Value;
  readonly y: Value;
  readonly kind: "max" | "average";
  readonly kernel: readonly number[];
  readonly window: Window;
  readonly countPadding: boolean;
}

/** Of three axes the last two are pooled first, and then the first over planes that lie in one row. */
function pooled({ x, y, kind, kernel, window, countPadding }: Pooling): LoweredNode | undefined {
  const [from, to] = [x.type.shape, y.type.shape];
  const [batch = 0, channels = 0, ...sizes] = from;
  const spatial = to.slice(2);
  if (sizes.length !== 3) {
    const kernelOf = poolKernel(batch * channels, kind, sizes, spatial, kernel, window, countPadding);
    return kernelOf && oneCall(kernelOf, tensor(x), tensor(y));
  }
  const [levels = 1] = sizes;
  const others = (values: readonly number[]): readonly number[] => values.slice(1);
  const [front = 0, top = 0, left = 0, back = 0, bottom = 0, right = 0] = window.pads;
  const flat = { strides: others(window.strides), dilations: others(window.dilations), pads: [top, left, bottom, right] };
  const planes = poolKernel(batch * channels * levels, kind, others(sizes), others(spatial), others(kernel), flat, countPadding);
  const area = elementCount(others(spatial));
  const [stride = 1, dilation = 1, size = 1] = [window.strides[0], window.dilations[0], kernel[0]];
  const along = { strides: [stride, 1], dilations: [dilation, 1], pads: [front, 0, back, 0] };
  const column = [spatial[0] ?? 1, area];
  const deep = poolKernel(batch * channels, kind, [levels, area], column, [size, 1], along, countPadding);
  if (planes === undefined || deep === undefined) return undefined;
  return {
    calls: [
      { kernel: planes, operands: [tensor(x), temporary(0)] },
      { kernel: deep, operands: [temporary(0), tensor(y)] },
    ],
    temporaries: [batch * channels * levels * area * 4],
  };
}

function poolKernel(
  planes: number,
  kind: "max" | "average",
  sizes: readonly number[],
  to: readonly number[],
  kernel: readonly number[],
  window: Window,
  countPadding: boolean,
): Kernel | undefined {
  const stated = planeOf(sizes, kernel, window);
  const grown = grownPlane(sizes, to, kernel, window);
  if (stated === undefined || grown === undefined) return undefined;
  return pool2d({ planes, kind, window: grown, ...(countPadding ? { countedPads: stated.pads } : {}) });
}

/** Windows that begin inside and end outside are padding at the bottom and the right. */
function grownPlane(
  from: readonly number[],
  to: readonly number[],
  kernel: readonly number[],
  window: Window,
): Plane | undefined {
  const plane = planeOf(from, kernel, window);
  if (plane === undefined) return undefined;
  const target: Pair = to.length === 1 ? [1, to[0] ?? 1] : [to[0] ?? 1, to[1] ?? 1];
  const missing = (axis: 0 | 1): number => {
    const reach = (target[axis] - 1) * plane.strides[axis] + (plane.size[axis] - 1) * plane.dilations[axis] + 1;
    return Math.max(plane.pads[axis + 2] ?? 0, reach - plane.input[axis] - (plane.pads[axis] ?? 0));
  };
  const [top, left] = plane.pads;
  return { ...plane, pads: [top, left, missing(0), missing(1)] };
}
