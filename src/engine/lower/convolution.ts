/** Convolutions of one to three spatial axes. */
import type { NodeOf } from "../ir/graph.ts";
import { conv2d, type DepthWindow } from "../codegen/wasm/index.ts";
import type { Window } from "../ir/operations.ts";
import { type LoweredNode, singleCall, tensorOperand } from "./lowered-node.ts";
import { type Window2d, window2d } from "./window-2d.ts";

export function lowerConvolution({ operation, inputs, outputs }: NodeOf<"convolution">): LoweredNode | undefined {
  const [x, weights, bias] = inputs;
  const type = x?.type.dataType;
  if (x === undefined || weights === undefined || (type !== "float32" && type !== "int32")) return undefined;
  const [batch = 0, inChannels = 0, ...sizes] = x.type.shape;
  const [outChannels = 0, , ...kernel] = weights.type.shape;
  const { groups, activation = "none" } = operation;
  if (type === "int32" && activation !== "none") return undefined;
  const deep = depthWindow(sizes, kernel, operation, outputs[0]?.type.shape[2] ?? 0);
  const plane = sizes.length === 3 ? spatialWindow(sizes, kernel, operation) : window2d(sizes, kernel, operation);
  if (plane === undefined) return undefined;
  const common = { batch, inChannels, outChannels, groups, bias: bias !== undefined, activation, type };
  const added = bias === undefined ? [] : [tensorOperand(bias)];
  const request = { ...common, window: plane, ...(deep === undefined ? {} : { depth: deep }) };
  return singleCall(conv2d(request), tensorOperand(x), tensorOperand(weights), ...added, tensorOperand(outputs[0]));
}

/** The first of three axes. */
function depthWindow(
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
function spatialWindow(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
): Window2d | undefined {
  const [, top = 0, left = 0, , bottom = 0, right = 0] = pads;
  const window = { strides: strides.slice(1), dilations: dilations.slice(1), pads: [top, left, bottom, right] };
  return window2d(sizes.slice(1), kernel.slice(1), window);
}
