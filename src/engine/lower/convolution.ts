/** Lowers convolutions of one to three spatial axes to the conv2d kernel. */
import type { NodeOf } from "../ir/graph.ts";
import { at, omitUndefined } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import {
  channelPanelsLength,
  type Conv2dRequest,
  conv2d,
  type DepthWindow,
  flattenPointwise,
  packChannelPanels,
  panelChannels,
  resolveWindow,
  unpackChannelPanels,
} from "../codegen/wasm/index.ts";
import { usesChannelPanels } from "../codegen/x64/index.ts";
import type { Literal } from "../ir/literal.ts";
import type { Window } from "../ir/operations.ts";
import {
  type LoweredNode,
  type LoweringContext,
  type Operand,
  type PackedWeights,
  singleCall,
  tensorOperand,
  toFloats,
} from "./lowered-node.ts";
import { type Window2d, window2d } from "./window-2d.ts";

/** Lowers a convolution of one to three spatial axes in float32 or int32. int32 takes no activation. */
export function lowerConvolution(
  { operation, inputs, outputs }: NodeOf<"convolution">,
  { hasWideVectors }: LoweringContext,
): LoweredNode | undefined {
  const [x, weights, bias] = inputs;
  const type = x?.type.dataType;
  if (x === undefined || weights === undefined || (type !== "float32" && type !== "int32")) return undefined;
  const [batch, inChannels] = [at(x.type.shape, 0), at(x.type.shape, 1)];
  const sizes = x.type.shape.slice(2);
  const outChannels = at(weights.type.shape, 0);
  const kernel = weights.type.shape.slice(2);
  const { groups, activation = "none" } = operation;
  if (type === "int32" && activation !== "none") return undefined;
  const depth = depthWindow(sizes, kernel, operation, outputs[0]?.type.shape[2]);
  const plane = sizes.length === 3 ? spatialWindow(sizes, kernel, operation) : window2d(sizes, kernel, operation);
  if (plane === undefined) return undefined;
  const common = { batch, inChannels, outChannels, groups, bias: bias !== undefined, activation, type };
  const added = bias === undefined ? [] : [tensorOperand(bias)];
  const request = { ...common, window: plane, ...omitUndefined({ depth }) };
  const source = weights.constant;
  const isPacked = hasWideVectors && source !== undefined && isFasterPacked(request);
  const operand = isPacked ? channelPanels(source, groups) : tensorOperand(weights);
  return singleCall(conv2d({ ...request, hasPanels: isPacked }), tensorOperand(x), operand, ...added, tensorOperand(outputs[0]));
}

/** Whether machine code is faster with weights in panels of channels. */
function isFasterPacked({ window: given, inChannels, outChannels, groups = 1, depth, type }: Conv2dRequest): boolean {
  const isDepthwise = groups === inChannels && groups === outChannels;
  if (depth !== undefined || type !== "float32" || isDepthwise) return false;
  const window = resolveWindow(given);
  const positions = at(flattenPointwise(window).output, 1);
  return usesChannelPanels({ window, channels: inChannels / groups, outputs: outChannels / groups, positions });
}

/** Constant weights [output channels, ...] in panels, packed once. */
function channelPanels(source: Literal, groups: number): Operand {
  const shape = { groups, outputs: at(source.shape, 0) / groups, depth: elementCount(source.shape.slice(1)) };
  const weights: PackedWeights = {
    source,
    layout: `convolution ${groups}x${shape.outputs}x${shape.depth} by ${panelChannels}`,
    bytes: channelPanelsLength(shape) * Float32Array.BYTES_PER_ELEMENT,
    pack: (target, elements) => packChannelPanels(toFloats(target), elements as Float32Array, shape),
    unpack: (from) => unpackChannelPanels(toFloats(from), shape),
  };
  return { kind: "packed", weights };
}

/** The depth axis of a 3-D convolution; undefined for fewer axes. */
function depthWindow(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
  output: number | undefined,
): DepthWindow | undefined {
  if (sizes.length !== 3 || output === undefined) return undefined;
  return {
    input: at(sizes, 0),
    size: at(kernel, 0),
    stride: at(strides, 0),
    dilation: at(dilations, 0),
    pad: at(pads, 0),
    output,
  };
}

/** Height and width of a 3-D convolution's window. */
function spatialWindow(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
): Window2d | undefined {
  const [top, left, bottom, right] = [at(pads, 1), at(pads, 2), at(pads, 4), at(pads, 5)];
  const window = { strides: strides.slice(1), dilations: dilations.slice(1), pads: [top, left, bottom, right] };
  return window2d(sizes.slice(1), kernel.slice(1), window);
}
