/** Resizing of images. Along each axis an output element is a weighted sum of input elements, whose indices and weights are constants. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { isFloat } from "../../../ir/element-types.ts";
import { int64Literal, toLiteral, toNumbers, toIntegers } from "../../../ir/literal.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since, versions } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import {
  inputCoordinate,
  nearestIndex,
  type ResizedAxis,
  interpolationTaps,
  type InterpolationOptions,
} from "./resize-coordinates.ts";

interface Style extends InterpolationOptions {
  readonly transformation: string;
  readonly nearest: string;
  readonly extrapolation: number;
}

/** Bytes of coordinates, taps, indices and weights of one element of a resized axis. */
const axisEntryBytes = 512;

/** The tensor resized along each of the axes. */
function resized(call: OperatorCall, x: Value, axes: readonly ResizedAxis[], style: Style): Value {
  const { dataType } = x.type;
  if (style.mode !== "nearest" && style.mode !== "linear" && style.mode !== "cubic")
    throw new Error(`mode "${style.mode}" is unknown`);
  const nearest = style.mode === "nearest";
  const whole = axes.reduce((shape, { axis, to }) => shape.with(axis, to), x.type.shape);
  if (whole.some((size) => !Number.isSafeInteger(size) || size < 0))
    throw new Error(`the output shape [${whole.join(", ")}] is invalid`);
  call.builder.checkSize({ dataType, shape: whole });
  if (whole.includes(0)) return call.zeros(dataType, whole);
  if (!nearest && !isFloat(dataType) && style.mode === "cubic") throw new Error(`mode "cubic" is not supported for ${dataType}`);
  let result = nearest ? x : isFloat(dataType) ? widened(call, x) : call.cast(x, "float32");
  const crops = style.transformation === "tf_crop_and_resize";
  for (const resizing of axes) {
    const { axis, from, to, scale } = resizing;
    if (!crops && from === to && scale === 1) continue;
    call.builder.reserve({ dataType: "float64", shape: [to] }, axisEntryBytes);
    const coordinates = Array.from({ length: to }, (_, at) => inputCoordinate(style.transformation, at, resizing));
    if (nearest) {
      const indices = coordinates.map((coordinate) =>
        Math.min(Math.max(nearestIndex(style.nearest, coordinate, scale), 0), from - 1),
      );
      result = call.add({ kind: "gather", axis }, result, call.builder.constant(int64Literal(indices)));
    } else result = weightedSum(call, result, resizing, coordinates, style);
  }
  const cast = call.cast(result, dataType);
  return crops ? extrapolated(call, cast, axes, style) : cast;
}

/** The tensor resized along one axis by interpolation at the given coordinates. */
function weightedSum(
  call: OperatorCall,
  x: Value,
  { axis, from, scale }: ResizedAxis,
  coordinates: readonly number[],
  style: Style,
): Value {
  const taps = coordinates.map((at) => interpolationTaps(style, at, from, scale));
  const shape = x.type.shape.map((_, at) => (at === axis ? coordinates.length : 1));
  const maxTaps = Math.max(0, ...taps.map(({ length }) => length));
  let sum: Value | undefined;
  for (let tap = 0; tap < maxTaps; tap += 1) {
    const indices = taps.map((each) => each[tap]?.index ?? 0);
    const weights = Float64Array.from(taps, (each) => each[tap]?.weight ?? 0);
    if (weights.every((weight) => weight === 0)) continue;
    const read = call.add({ kind: "gather", axis }, x, call.builder.constant(int64Literal(indices)));
    const ones = weights.every((weight) => weight === 1);
    const part = ones ? read : call.binary("mul", read, call.builder.constant(toLiteral(x.type.dataType, shape, weights)));
    sum = sum === undefined ? part : call.binary("add", sum, part);
  }
  if (sum === undefined) throw new Error(`no element of axis ${axis} has a weight`);
  return sum;
}

/** Replaces elements whose coordinates are outside of the input by extrapolation_value. */
function extrapolated(call: OperatorCall, x: Value, axes: readonly ResizedAxis[], style: Style): Value {
  let result = x;
  for (const resizing of axes) {
    const outside = Float64Array.from({ length: resizing.to }, (_, at) => {
      const coordinate = inputCoordinate(style.transformation, at, resizing);
      return Number(coordinate < 0 || coordinate > resizing.from - 1);
    });
    if (!outside.includes(1)) continue;
    const shape = x.type.shape.map((_, at) => (at === resizing.axis ? resizing.to : 1));
    result = call.select(call.builder.constant(toLiteral("bool", shape, outside)), style.extrapolation, result);
  }
  return result;
}

/** ONNX Resize from version 11 on. Inputs: x, region of interest, scales, sizes; one of the last two. */
function resize(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const transformation = call.string("coordinate_transformation_mode", "half_pixel");
  const axes = (call.ints("axes") ?? [...shape.keys()]).map((axis) => normalizeAxis(axis, shape.length));
  const box = transformation === "tf_crop_and_resize" ? Array.from(toNumbers(call.known(1))) : [];
  const mode = call.string("mode", "nearest");
  const resizings = targets(call, shape, axes).map((target, index): ResizedAxis => ({
    ...target,
    axis: at(axes, index),
    from: at(shape, at(axes, index)),
    start: box[index] ?? 0,
    end: box[index + axes.length] ?? 1,
  }));
  if (resizings.some(({ from, to }) => from === 0 && to > 0)) throw new Error("an axis of size 0 cannot be enlarged");
  return resized(call, x, resizings, {
    mode,
    transformation,
    nearest: call.string("nearest_mode", "round_prefer_floor"),
    slope: call.float("cubic_coeff_a", -0.75),
    excludeOutside: call.int("exclude_outside", 0) === 1,
    antialias: call.int("antialias", 0) === 1,
    extrapolation: call.float("extrapolation_value", 0),
  });
}

type Target = Pick<ResizedAxis, "to" | "scale" | "byFactor">;

/** The output size and scale of each axis, from scales or sizes. */
function targets(call: OperatorCall, shape: readonly number[], axes: readonly number[]): readonly Target[] {
  const lengths = axes.map((axis) => at(shape, axis));
  const policy = call.string("keep_aspect_ratio_policy", "stretch");
  const scales = call.tensorIfGiven(2);
  if (scales !== undefined && scales.type.shape[0] !== 0) {
    const factors = toNumbers(call.known(2));
    checkCount(factors.length, axes.length);
    return lengths.map((from, index) => {
      const scale = factors[index] ?? 1;
      return { to: Math.floor(from * scale), scale, byFactor: true };
    });
  }
  const sizes = call.knownIntegers(3);
  checkCount(sizes.length, axes.length);
  const ratios = lengths.map((from, index) => (from === 0 ? 1 : at(sizes, index) / from));
  if (policy === "stretch")
    return lengths.map((_, index) => ({ to: at(sizes, index), scale: ratios[index] ?? 1, byFactor: false }));
  if (policy !== "not_larger" && policy !== "not_smaller") throw new Error(`keep_aspect_ratio_policy "${policy}" is unknown`);
  const scale = policy === "not_larger" ? Math.min(...ratios) : Math.max(...ratios);
  return lengths.map((from) => ({ to: Math.floor(from * scale + 0.5), scale, byFactor: true }));
}

function checkCount(given: number, wanted: number): void {
  if (given !== wanted) throw new Error(`${given} sizes or scales are given for ${wanted} axes`);
}

/** ONNX Upsample, and Resize of version 10: coordinates are divided by the scale, and nearest means floor, or ceil if the axis shrinks. */
function resizeByScales(scalesOf: (call: OperatorCall) => readonly number[]): (call: OperatorCall) => Value {
  return (call) => {
    const x = call.tensor(0);
    const scales = scalesOf(call);
    checkCount(scales.length, x.type.shape.length);
    const resizings = x.type.shape.map((from, axis): ResizedAxis => ({
      axis,
      from,
      to: Math.floor(from * at(scales, axis)),
      scale: at(scales, axis),
      byFactor: true,
      start: 0,
      end: 1,
    }));
    const mode = call.string("mode", "nearest");
    return resized(call, x, resizings, {
      mode: mode === "bilinear" ? "linear" : mode,
      transformation: "asymmetric",
      nearest: "simple",
      slope: -0.75,
      excludeOutside: false,
      antialias: false,
      extrapolation: 0,
    });
  };
}

const scalesInput = resizeByScales((call) => Array.from(toNumbers(call.known(1))));

/** ONNX CenterCropPad, opset 18: each axis cropped to its centre or zero-padded on both sides. */
function centerCropPad(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const wanted = toIntegers(call.known(1));
  const axes = (call.ints("axes") ?? [...shape.keys()]).map((axis) => normalizeAxis(axis, shape.length));
  checkCount(wanted.length, axes.length);
  let result = x;
  for (const [index, axis] of axes.entries()) {
    const size = at(wanted, index);
    const more = size - at(shape, axis);
    const half = Math.floor(Math.abs(more) / 2);
    const none = shape.map(() => 0);
    if (more < 0) result = call.slice(result, axis, half, size);
    else if (more > 0)
      result = call.add(
        { kind: "pad", mode: "constant", before: none.with(axis, half), after: none.with(axis, more - half) },
        result,
        call.scalar(0, x.type.dataType),
      );
  }
  return result;
}

/** ONNX SpaceToDepth: blocks of pixels become channels, [N, C, h * b, w * b] to [N, b * b * C, h, w]. */
function spaceToDepth(call: OperatorCall): Value {
  const [x, block, [batch, channels, height, width]] = blockwise(call);
  const blocks = call.reshape(x, [batch, channels, height / block, block, width / block, block]);
  return call.reshape(call.transpose(blocks, [0, 3, 5, 1, 2, 4]), [
    batch,
    channels * block * block,
    height / block,
    width / block,
  ]);
}

/** ONNX DepthToSpace: channels become blocks of pixels. The position in the block varies slowest in mode "DCR", fastest in "CRD". */
function depthToSpace(call: OperatorCall): Value {
  const [x, block, [batch, depth, height, width]] = blockwise(call);
  const mode = call.string("mode", "DCR");
  if (mode !== "DCR" && mode !== "CRD") throw new Error(`mode "${mode}" is unknown`);
  const channels = depth / (block * block);
  const first = mode === "DCR";
  const blocks = call.reshape(
    x,
    first ? [batch, block, block, channels, height, width] : [batch, channels, block, block, height, width],
  );
  const permuted = call.transpose(blocks, first ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3]);
  return call.reshape(permuted, [batch, channels, height * block, width * block]);
}

/** The input [N, C, H, W], its block size and its shape. */
function blockwise(call: OperatorCall): readonly [Value, number, readonly [number, number, number, number]] {
  const x = call.tensor(0);
  const [batch, channels, height, width, ...rest] = x.type.shape;
  const block = call.int("blocksize", 0);
  if (
    batch === undefined ||
    channels === undefined ||
    height === undefined ||
    width === undefined ||
    rest.length > 0 ||
    block < 1
  )
    throw new Error("the input must be [N, C, H, W], and blocksize at least 1");
  return [x, block, [batch, channels, height, width]];
}

/** Translates the ONNX operators Resize, Upsample, CenterCropPad, SpaceToDepth and DepthToSpace to graph operations. */
export const resizing: OperatorFamily = {
  Resize: versions([10, scalesInput], [11, resize]),
  Upsample: versions([7, resizeByScales((call) => call.floats("scales") ?? [])], [9, scalesInput]),
  CenterCropPad: since(18, centerCropPad),
  SpaceToDepth: since(1, spaceToDepth),
  DepthToSpace: since(1, depthToSpace),
};
