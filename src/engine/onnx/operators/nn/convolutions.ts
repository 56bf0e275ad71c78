/** Convolutions: plain, transposed, of quantized integers and deformable; and Col2Im. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { contiguousStrides } from "../../../ir/broadcast.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, toLiteral } from "../../../ir/literal.ts";
import { transposedWindowSizes, windowCounts } from "../../../ir/window-arithmetic.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import { withoutZeroPoint, requantize } from "../quantization/quantized-values.ts";
import { linearNeighbours, interpolate } from "../image/interpolation.ts";
import { alignToChannels, checkWindow, getWindow } from "./window-attributes.ts";

/** The spatial shape of the weights. Throws if `kernel_shape` differs. */
function getKernel(call: OperatorCall, weights: Value): readonly number[] {
  const kernel = weights.type.shape.slice(2);
  const stated = call.ints("kernel_shape");
  if (stated !== undefined && stated.join() !== kernel.join())
    throw new Error(`kernel_shape [${stated.join(", ")}] differs from that of the weights, [${kernel.join(", ")}]`);
  return kernel;
}

/** Translates ONNX Conv (https://onnx.ai/onnx/operators/onnx__Conv.html) to one convolution operation with explicit pads. */
export function convolution(call: OperatorCall): Value {
  const x = call.tensor(0);
  const weights = call.tensor(1);
  const window = getWindow(call, x.type.shape.slice(2), getKernel(call, weights));
  const result = call.add({ kind: "convolution", groups: call.int("group", 1), ...window }, x, weights);
  const bias = call.tensorIfGiven(2);
  return bias === undefined ? result : call.binary("add", result, alignToChannels(call, bias, x.type.shape.length));
}

/** Padding and output padding of a transposed convolution, so that the output has `output_shape`, or the size that `auto_pad` implies. */
function transposedPads(
  call: OperatorCall,
  sizes: readonly number[],
  kernel: readonly number[],
  strides: readonly number[],
  dilations: readonly number[],
): { readonly pads: readonly number[]; readonly outputPads: readonly number[] } {
  const automatic = call.string("auto_pad", "NOTSET");
  const outputPads = call.ints("output_padding") ?? sizes.map(() => 0);
  const stated = call.ints("pads") ?? sizes.flatMap(() => [0, 0]);
  const same = automatic === "SAME_UPPER" || automatic === "SAME_LOWER";
  if (!same && automatic !== "NOTSET" && automatic !== "VALID") throw new Error(`auto_pad "${automatic}" is unknown`);
  const wanted =
    call.ints("output_shape")?.slice(-sizes.length) ?? (same ? sizes.map((size, axis) => size * at(strides, axis)) : undefined);
  if (wanted === undefined) return { pads: automatic === "VALID" ? sizes.flatMap(() => [0, 0]) : stated, outputPads };
  const unpadded = transposedWindowSizes(sizes, kernel, { strides, dilations, pads: sizes.flatMap(() => [0, 0]) });
  const totals = unpadded.map((size, axis) => size + at(outputPads, axis) - at(wanted, axis));
  // One missing element is added at the end. How two would be distributed, the specification and its implementations disagree on.
  if (totals.some((total) => total < -1)) throw new Error(`the windows cannot cover output_shape [${wanted.join(", ")}]`);
  const small = totals.map((total) => Math.floor(Math.max(total, 0) / 2));
  const large = totals.map((total) => Math.ceil(Math.max(total, 0) / 2));
  return {
    pads: automatic === "SAME_UPPER" ? [...small, ...large] : [...large, ...small],
    outputPads: outputPads.map((pad, axis) => pad + Math.max(0, -at(totals, axis))),
  };
}

/** ONNX ConvTranspose, https://onnx.ai/onnx/operators/onnx__ConvTranspose.html. */
function transposed(call: OperatorCall): Value {
  const x = widened(call, call.tensor(0));
  const weights = widened(call, call.tensor(1));
  const sizes = x.type.shape.slice(2);
  const strides = call.ints("strides") ?? sizes.map(() => 1);
  const dilations = call.ints("dilations") ?? sizes.map(() => 1);
  const pads = transposedPads(call, sizes, getKernel(call, weights), strides, dilations);
  checkWindow({ strides, dilations, pads: pads.pads }, sizes.length);
  if (pads.outputPads.length !== sizes.length || pads.outputPads.some((pad) => pad < 0))
    throw new Error(`output_padding [${pads.outputPads.join(", ")}] must have ${sizes.length} entries, none negative`);
  const groups = call.int("group", 1);
  const result = call.add({ kind: "convolution-transpose", groups, strides, dilations, ...pads }, x, weights);
  const bias = call.tensorIfGiven(2);
  const sum =
    bias === undefined ? result : call.binary("add", result, alignToChannels(call, widened(call, bias), x.type.shape.length));
  return call.cast(sum, call.tensor(0).type.dataType);
}

/** A convolution of integers in int32 whose zero points are subtracted already, so that padding means the zero point. */
function integerConvolution(call: OperatorCall, x: Value, weights: Value): Value {
  const window = getWindow(call, x.type.shape.slice(2), getKernel(call, weights));
  return call.add({ kind: "convolution", groups: call.int("group", 1), ...window }, x, weights);
}

/** ONNX ConvInteger. */
function convInteger(call: OperatorCall): Value {
  return integerConvolution(call, withoutZeroPoint(call, 0, 2), withoutZeroPoint(call, 1, 3, 0));
}

/** ONNX QLinearConv. Inputs: x, scale, zero point; weights, scale, zero point; scale and zero point of the output; optional bias in int32. */
function qlinearConv(call: OperatorCall): Value {
  const weights = call.tensor(3);
  const sums = integerConvolution(call, withoutZeroPoint(call, 0, 2), withoutZeroPoint(call, 3, 5, 0));
  const rank = weights.type.shape.length;
  const bias = call.tensorIfGiven(8);
  const biased = bias === undefined ? sums : call.binary("add", sums, alignToChannels(call, bias, rank));
  const [xScale, wScale, yScale] = [call.tensor(1), call.tensor(4), call.tensor(6)].map((scale) => widened(call, scale));
  if (xScale === undefined || wScale === undefined || yScale === undefined) throw new Error("a scale is missing");
  const perFilter = elementCount(wScale.type.shape) === 1 ? call.reshape(wScale, []) : alignToChannels(call, wScale, rank);
  const scale = call.binary("div", call.binary("mul", call.reshape(xScale, []), perFilter), call.reshape(yScale, []));
  return requantize(call, biased, scale, call.reshape(call.tensor(7), []));
}

/**
 * ONNX DeformConv (Dai et al., https://arxiv.org/abs/1703.06211), opset 19: each element of a window is read at its regular position plus an offset,
 * with bilinear interpolation, so the convolution is a matrix product with the sampled values.
 */
function deformConv(call: OperatorCall): Value {
  const x = widened(call, call.tensor(0));
  const weights = widened(call, call.tensor(1));
  const offsets = widened(call, call.tensor(2));
  const bias = call.tensorIfGiven(3);
  const mask = call.tensorIfGiven(4);
  const [batch = 0, channels = 0, height = 0, width = 0] = x.type.shape;
  const [filters = 0, depth = 0, ...kernel] = kernelAndChannels(call, weights);
  if (x.type.shape.length !== 4) throw new Error("only inputs of rank 4, [N, C, H, W], are supported");
  const groups = call.int("group", 1);
  const offsetGroups = call.int("offset_group", 1);
  const { strides, dilations, pads } = getWindow(call, [height, width], kernel);
  const [rows = 0, columns = 0] = offsets.type.shape.slice(2);
  const [kernelRows = 1, kernelColumns = 1] = kernel;
  const taps = kernelRows * kernelColumns;
  const spans = windowCounts([height, width], kernel, { strides, dilations, pads });
  if (spans.join() !== [rows, columns].join())
    throw new Error(`the windows give an output of [${spans.join(", ")}], and the offsets are for [${rows}, ${columns}]`);
  const area = rows * columns;
  // For each of y and x, [N * offsetGroups, taps * area]: regular position plus offset.
  const parts = call.reshape(offsets, [batch * offsetGroups, taps, 2, area]);
  call.builder.reserve({ dataType: "float64", shape: [taps, area] });
  const coordinates = [0, 1].map((axis) => {
    const offset = call.reshape(call.slice(parts, 2, axis, 1), [batch * offsetGroups, taps, area]);
    const [stride, dilation, pad] = [at(strides, axis), at(dilations, axis), at(pads, axis)];
    const regular = Float64Array.from({ length: taps * area }, (_, index) => {
      const [tap, element] = [Math.floor(index / area), index % area];
      const step = axis === 0 ? Math.floor(element / columns) : element % columns;
      const distance = axis === 0 ? Math.floor(tap / kernelColumns) : tap % kernelColumns;
      return step * stride - pad + distance * dilation;
    });
    const start = call.builder.constant(toLiteral(offset.type.dataType, [1, taps, area], regular));
    return call.reshape(call.binary("add", start, offset), [batch * offsetGroups, taps * area]);
  });
  const image = call.reshape(x, [batch * offsetGroups, channels / offsetGroups, height, width]);
  const read = interpolate(call, image, coordinates, linearNeighbours, "zeros"); // [N * offsetGroups, channels / offsetGroups, taps * area]
  const columnsOf = call.reshape(read, [batch, offsetGroups, channels / offsetGroups, taps, area]);
  const masked =
    mask === undefined
      ? columnsOf
      : call.binary("mul", columnsOf, call.reshape(widened(call, mask), [batch, offsetGroups, 1, taps, area]));
  const grouped = call.reshape(masked, [batch, groups, depth * taps, area]);
  const factors = call.reshape(weights, [1, groups, filters / groups, depth * taps]);
  const result = call.reshape(call.add({ kind: "matmul" }, factors, grouped), [batch, filters, rows, columns]);
  const sum = bias === undefined ? result : call.binary("add", result, alignToChannels(call, widened(call, bias), 4));
  return call.cast(sum, call.tensor(0).type.dataType);
}

function kernelAndChannels(call: OperatorCall, weights: Value): readonly number[] {
  return [...weights.type.shape.slice(0, 2), ...getKernel(call, weights)];
}

/** ONNX Col2Im, opset 18: adds columns [N, C * taps, blocks] up to an image [N, C, ...]; what falls into the padding is dropped. */
function columnsToImage(call: OperatorCall): Value {
  const columns = call.tensor(0);
  const image = call.knownIntegers(1);
  const block = call.knownIntegers(2);
  const { strides, dilations, pads } = getWindow(call, image, block);
  const counts = windowCounts(image, block, { strides, dilations, pads });
  const [batch = 0, depth = 0, blocks = 0] = columns.type.shape;
  const [taps, volume] = [elementCount(block), elementCount(image)];
  if (depth % taps !== 0 || blocks !== elementCount(counts))
    throw new Error(
      `the shape [${columns.type.shape.join(", ")}] does not match blocks of [${block.join(", ")}] in an image of [${image.join(", ")}]`,
    );
  const channels = depth / taps;
  const [blockStrides, countStrides, imageStrides] = [
    contiguousStrides(block),
    contiguousStrides(counts),
    contiguousStrides(image),
  ];
  call.builder.reserve({ dataType: "float64", shape: [taps, blocks] });
  const targets = Array.from({ length: taps * blocks }, (_, index) => {
    const [tap, position] = [Math.floor(index / blocks), index % blocks];
    let target = 0;
    for (const [axis, size] of image.entries()) {
      const distance = Math.floor(tap / at(blockStrides, axis)) % at(block, axis);
      const step = Math.floor(position / at(countStrides, axis)) % at(counts, axis);
      const coordinate = step * at(strides, axis) + distance * at(dilations, axis) - at(pads, axis);
      if (coordinate < 0 || coordinate >= size) return volume; // one element after the image collects what falls into the padding
      target += coordinate * at(imageStrides, axis);
    }
    return target;
  });
  const wide = call.reshape(widened(call, columns), [batch, channels, taps * blocks]);
  const zeros = call.zeros(wide.type.dataType, [batch, channels, volume + 1]);
  const indices = call.add(
    { kind: "expand", shape: wide.type.shape },
    call.builder.constant(int64Literal(targets, [1, 1, targets.length])),
  );
  const sums = call.add({ kind: "scatter-elements", axis: 2, reduction: "add" }, zeros, indices, wide);
  return call.cast(call.reshape(call.slice(sums, 2, 0, volume), [batch, channels, ...image]), columns.type.dataType);
}

/** Translates Conv, ConvTranspose, ConvInteger, QLinearConv, DeformConv and Col2Im of ai.onnx to graph operations. */
export const convolutions: OperatorFamily = {
  Conv: since(1, convolution),
  ConvTranspose: since(1, transposed),
  ConvInteger: since(10, convInteger),
  QLinearConv: since(10, qlinearConv),
  DeformConv: since(19, deformConv),
  Col2Im: since(18, columnsToImage),
};
