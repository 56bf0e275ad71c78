/** Convolutions beside the plain one: transposed, of whole numbers, with places that are data; and columns put back into an image. */
import { elementCount } from "../../../../tensor.ts";
import { stridesOf } from "../../../ir/broadcast.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, literalOf } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import { withoutZeroPoint, requantize } from "../quantization/quantized-values.ts";
import { linearNeighbours, interpolate } from "../image/interpolation.ts";
import { alignToChannels, checkWindow, windowOf } from "./window-attributes.ts";

/** The kernel is that of the weights, whatever else is stated is refused. */
function kernelOf(call: OperatorCall, weights: Value): readonly number[] {
  const kernel = weights.type.shape.slice(2);
  const stated = call.ints("kernel_shape");
  if (stated !== undefined && stated.join() !== kernel.join())
    throw new Error(`its kernel is [${kernel.join(", ")}], and it states [${stated.join(", ")}]`);
  return kernel;
}

/** ONNX Conv, https://onnx.ai/onnx/operators/onnx__Conv.html. */
export function convolution(call: OperatorCall): Value {
  const x = call.tensor(0);
  const weights = call.tensor(1);
  const window = windowOf(call, x.type.shape.slice(2), kernelOf(call, weights));
  const result = call.add({ kind: "convolution", groups: call.int("group", 1), ...window }, x, weights);
  const bias = call.tensorIfGiven(2);
  return bias === undefined ? result : call.binary("add", result, alignToChannels(call, bias, x.type.shape.length));
}

/** What is padded away, and what is added at the ends, so that the output has the shape that is stated or that "SAME" means. */
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
  if (!same && automatic !== "NOTSET" && automatic !== "VALID") throw new Error(`its auto_pad "${automatic}" is unknown`);
  const wanted =
    call.ints("output_shape")?.slice(-sizes.length) ??
    (same ? sizes.map((size, axis) => size * (strides[axis] ?? 1)) : undefined);
  if (wanted === undefined) return { pads: automatic === "VALID" ? sizes.flatMap(() => [0, 0]) : stated, outputPads };
  const totals = sizes.map((size, axis) => {
    const reach = ((kernel[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
    return (size - 1) * (strides[axis] ?? 1) + (outputPads[axis] ?? 0) + reach - (wanted[axis] ?? 0);
  });
  // One element too few is added at the end; how two would be shared out, the specification and its implementations see differently.
  if (totals.some((total) => total < -1)) throw new Error(`its windows do not reach an output of [${wanted.join(", ")}]`);
  const small = totals.map((total) => Math.floor(Math.max(total, 0) / 2));
  const large = totals.map((total) => Math.ceil(Math.max(total, 0) / 2));
  return {
    pads: automatic === "SAME_UPPER" ? [...small, ...large] : [...large, ...small],
    outputPads: outputPads.map((pad, axis) => pad + Math.max(0, -(totals[axis] ?? 0))),
  };
}

function transposed(call: OperatorCall): Value {
  const x = widened(call, call.tensor(0));
  const weights = widened(call, call.tensor(1));
  const sizes = x.type.shape.slice(2);
  const strides = call.ints("strides") ?? sizes.map(() => 1);
  const dilations = call.ints("dilations") ?? sizes.map(() => 1);
  const pads = transposedPads(call, sizes, kernelOf(call, weights), strides, dilations);
  checkWindow({ strides, dilations, pads: pads.pads }, sizes.length);
  if (pads.outputPads.length !== sizes.length || pads.outputPads.some((pad) => pad < 0))
    throw new Error(`its output_padding is not that of ${sizes.length} axes`);
  const groups = call.int("group", 1);
  const result = call.add({ kind: "convolution-transpose", groups, strides, dilations, ...pads }, x, weights);
  const bias = call.tensorIfGiven(2);
  const sum =
    bias === undefined ? result : call.binary("add", result, alignToChannels(call, widened(call, bias), x.type.shape.length));
  return call.cast(sum, call.tensor(0).type.dataType);
}

/** In int32; the padding stands for the zero point. */
function wholeConvolution(call: OperatorCall, x: Value, weights: Value): Value {
  const window = windowOf(call, x.type.shape.slice(2), kernelOf(call, weights));
  return call.add({ kind: "convolution", groups: call.int("group", 1), ...window }, x, weights);
}

function convInteger(call: OperatorCall): Value {
  return wholeConvolution(call, withoutZeroPoint(call, 0, 2), withoutZeroPoint(call, 1, 3, 0));
}

/** x, its scale and zero point, weights, theirs, the output's, bias in int32. */
function qlinearConv(call: OperatorCall): Value {
  const weights = call.tensor(3);
  const sums = wholeConvolution(call, withoutZeroPoint(call, 0, 2), withoutZeroPoint(call, 3, 5, 0));
  const rank = weights.type.shape.length;
  const bias = call.tensorIfGiven(8);
  const biased = bias === undefined ? sums : call.binary("add", sums, alignToChannels(call, bias, rank));
  const [xScale, wScale, yScale] = [call.tensor(1), call.tensor(4), call.tensor(6)].map((scale) => widened(call, scale));
  if (xScale === undefined || wScale === undefined || yScale === undefined) throw new Error("it lacks a scale");
  const perFilter = elementCount(wScale.type.shape) === 1 ? call.reshape(wScale, []) : alignToChannels(call, wScale, rank);
  const scale = call.binary("div", call.binary("mul", call.reshape(xScale, []), perFilter), call.reshape(yScale, []));
  return requantize(call, biased, scale, call.reshape(call.tensor(7), []));
}

/** Dai and others, https://arxiv.org/abs/1703.06211: the elements of each window are read where the offsets say, between the pixels if need be. */
function deformConv(call: OperatorCall): Value {
  const x = widened(call, call.tensor(0));
  const weights = widened(call, call.tensor(1));
  const offsets = widened(call, call.tensor(2));
  const bias = call.tensorIfGiven(3);
  const mask = call.tensorIfGiven(4);
  const [batch = 0, channels = 0, height = 0, width = 0] = x.type.shape;
  const [filters = 0, depth = 0, ...kernel] = kernelAndChannels(call, weights);
  if (x.type.shape.length !== 4) throw new Error("it is built for images: inputs of rank 4");
  const groups = call.int("group", 1);
  const shares = call.int("offset_group", 1);
  const { strides, dilations, pads } = windowOf(call, [height, width], kernel);
  const [rows = 0, columns = 0] = offsets.type.shape.slice(2);
  const [kernelRows = 1, kernelColumns = 1] = kernel;
  const taps = kernelRows * kernelColumns;
  const spans = [height, width].map((size, axis) => {
    const reach = ((kernel[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
    return Math.floor((size + (pads[axis] ?? 0) + (pads[axis + 2] ?? 0) - reach) / (strides[axis] ?? 1)) + 1;
  });
  if (spans.join() !== [rows, columns].join())
    throw new Error(`its windows give [${spans.join(", ")}], and its offsets are of [${rows}, ${columns}]`);
  const area = rows * columns;
  // [N * shares, taps, area] for each of y and x: the regular places and the offsets.
  const parts = call.reshape(offsets, [batch * shares, taps, 2, area]);
  call.builder.reserve({ dataType: "float64", shape: [taps, area] });
  const places = [0, 1].map((axis) => {
    const offset = call.reshape(call.slice(parts, 2, axis, 1), [batch * shares, taps, area]);
    const regular = Float64Array.from({ length: taps * area }, (_, index) => {
      const [tap, at] = [Math.floor(index / area), index % area];
      const step = axis === 0 ? Math.floor(at / columns) : at % columns;
      const reach = axis === 0 ? Math.floor(tap / kernelColumns) : tap % kernelColumns;
      return step * (strides[axis] ?? 1) - (pads[axis] ?? 0) + reach * (dilations[axis] ?? 1);
    });
    const start = call.builder.constant(literalOf(offset.type.dataType, [1, taps, area], regular));
    return call.reshape(call.binary("add", start, offset), [batch * shares, taps * area]);
  });
  const image = call.reshape(x, [batch * shares, channels / shares, height, width]);
  const read = interpolate(call, image, places, linearNeighbours, "zeros"); // [N * shares, channels / shares, taps * area]
  const columnsOf = call.reshape(read, [batch, shares, channels / shares, taps, area]);
  const masked =
    mask === undefined
      ? columnsOf
      : call.binary("mul", columnsOf, call.reshape(widened(call, mask), [batch, shares, 1, taps, area]));
  const grouped = call.reshape(masked, [batch, groups, depth * taps, area]);
  const factors = call.reshape(weights, [1, groups, filters / groups, depth * taps]);
  const result = call.reshape(call.add({ kind: "matmul" }, factors, grouped), [batch, filters, rows, columns]);
  const sum = bias === undefined ? result : call.binary("add", result, alignToChannels(call, widened(call, bias), 4));
  return call.cast(sum, call.tensor(0).type.dataType);
}

function kernelAndChannels(call: OperatorCall, weights: Value): readonly number[] {
  return [...weights.type.shape.slice(0, 2), ...kernelOf(call, weights)];
}

/** Adds columns [N, C * taps, blocks] up in an image [N, C, ...]; what falls into the padding is dropped. */
function columnsToImage(call: OperatorCall): Value {
  const columns = call.tensor(0);
  const image = call.knownIntegers(1);
  const block = call.knownIntegers(2);
  const { strides, dilations, pads } = windowOf(call, image, block);
  const counts = image.map((size, axis) => {
    const reach = ((block[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
    return Math.floor((size + (pads[axis] ?? 0) + (pads[axis + image.length] ?? 0) - reach) / (strides[axis] ?? 1)) + 1;
  });
  const [batch = 0, depth = 0, blocks = 0] = columns.type.shape;
  const [taps, volume] = [elementCount(block), elementCount(image)];
  if (depth % taps !== 0 || blocks !== elementCount(counts))
    throw new Error(`[${columns.type.shape.join(", ")}] are no columns of [${block.join(", ")}] in [${image.join(", ")}]`);
  const channels = depth / taps;
  const [blockStrides, countStrides, imageStrides] = [stridesOf(block), stridesOf(counts), stridesOf(image)];
  call.builder.reserve({ dataType: "float64", shape: [taps, blocks] });
  const places = Array.from({ length: taps * blocks }, (_, index) => {
    const [tap, at] = [Math.floor(index / blocks), index % blocks];
    let place = 0;
    for (const [axis, size] of image.entries()) {
      const reach = Math.floor(tap / (blockStrides[axis] ?? 1)) % (block[axis] ?? 1);
      const step = Math.floor(at / (countStrides[axis] ?? 1)) % (counts[axis] ?? 1);
      const into = step * (strides[axis] ?? 1) + reach * (dilations[axis] ?? 1) - (pads[axis] ?? 0);
      if (into < 0 || into >= size) return volume; // the place behind the image
      place += into * (imageStrides[axis] ?? 1);
    }
    return place;
  });
  const wide = call.reshape(widened(call, columns), [batch, channels, taps * blocks]);
  const zeros = call.zeros(wide.type.dataType, [batch, channels, volume + 1]);
  const indices = call.add(
    { kind: "expand", shape: wide.type.shape },
    call.builder.constant(int64Literal(places, [1, 1, places.length])),
  );
  const sums = call.add({ kind: "scatter-elements", axis: 2, reduction: "add" }, zeros, indices, wide);
  return call.cast(call.reshape(call.slice(sums, 2, 0, volume), [batch, channels, ...image]), columns.type.dataType);
}

export const convolutions: OperatorFamily = {
  Conv: since(1, convolution),
  ConvTranspose: since(1, transposed),
  ConvInteger: since(10, convInteger),
  QLinearConv: since(10, qlinearConv),
  DeformConv: since(19, deformConv),
  Col2Im: since(18, columnsToImage),
};
