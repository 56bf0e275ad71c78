/** Operators that sample images at computed coordinates: GridSample, AffineGrid and RoiAlign. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import type { Value } from "../../../ir/graph.ts";
import { toLiteral, toNumbers } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import {
  cubicNeighbours,
  linearNeighbours,
  weightedNeighbours,
  type Neighbours,
  interpolate,
  samplePixels,
} from "./interpolation.ts";

const modes: Readonly<Record<string, Neighbours | "nearest">> = {
  linear: linearNeighbours,
  bilinear: linearNeighbours,
  cubic: cubicNeighbours(-0.75),
  bicubic: cubicNeighbours(-0.75),
  nearest: "nearest",
};

/** ONNX GridSample, opset 16 (Jaderberg et al., https://arxiv.org/abs/1506.02025). The grid holds coordinates x, y(, z) from -1 to 1. */
function gridSample(call: OperatorCall): Value {
  const x = widened(call, call.tensor(0));
  const grid = widened(call, call.tensor(1));
  const [batch = 0, channels = 0, ...sizes] = x.type.shape;
  const spatial = grid.type.shape.slice(1, -1);
  const corners = call.int("align_corners", 0) === 1;
  const padding = call.string("padding_mode", "zeros");
  if (padding !== "zeros" && padding !== "border" && padding !== "reflection")
    throw new Error(`padding_mode "${padding}" is unknown`);
  const name = call.string("mode", call.version < 20 ? "bilinear" : "linear");
  const mode = Object.hasOwn(modes, name) ? modes[name] : undefined;
  if (mode === undefined) throw new Error(`mode "${name}" is unknown`);
  if (grid.type.shape.at(-1) !== sizes.length || grid.type.shape[0] !== batch)
    throw new Error(`a grid of shape [${grid.type.shape.join(", ")}] does not fit an input of [${x.type.shape.join(", ")}]`);
  const points = call.reshape(grid, [batch, elementCount(spatial), sizes.length]);
  const folded = (coordinate: Value, axis: number): Value => foldedBack(call, coordinate, at(sizes, axis), corners);
  const coordinates = sizes.map((size, axis) => {
    const part = call.reshape(call.slice(points, 2, sizes.length - 1 - axis, 1), [batch, elementCount(spatial)]);
    const moved = call.binary("add", part, 1);
    const exact = corners
      ? call.binary("mul", moved, (size - 1) / 2)
      : call.binary("div", call.binary("sub", call.binary("mul", moved, size), 1), 2);
    const coordinate = mode === "nearest" ? call.unary("round", exact) : exact;
    if (padding === "zeros" || (padding === "border" && mode !== "nearest" && mode !== linearNeighbours)) return coordinate;
    if (padding === "reflection") return folded(coordinate, axis);
    const edge = corners ? 0 : 0.5;
    const beyond = call.binary("or", call.binary("less", coordinate, -edge), call.binary("greater", coordinate, size - 1 + edge));
    return call.select(beyond, call.binary("min", call.binary("max", coordinate, 0), size - 1), coordinate);
  });
  const outside = padding === "zeros" ? "zeros" : "edge";
  const fold = padding === "reflection" ? folded : undefined;
  const read =
    mode === "nearest" ? samplePixels(call, x, coordinates, outside) : interpolate(call, x, coordinates, mode, outside, fold);
  return call.cast(call.reshape(read, [batch, channels, ...spatial]), call.tensor(0).type.dataType);
}

/** A coordinate reflected at the centres (`corners`) or outer edges of the outermost pixels until it is inside of the image. */
function foldedBack(call: OperatorCall, x: Value, size: number, corners: boolean): Value {
  const start = corners ? 0 : -0.5;
  const range = corners ? size - 1 : size;
  if (range === 0) return call.binary("mul", call.cast(call.binary("equal", x, x), x.type.dataType), start);
  const within = call.binary("mod", call.binary("sub", x, start), 2 * range);
  const turned = call.select(call.binary("greater", within, range), call.binary("sub", 2 * range, within), within);
  return call.binary("add", turned, start);
}

/** ONNX AffineGrid, opset 20: the normalized coordinates of every pixel, transformed by affine matrices [N, d, d + 1]. */
function affineGrid(call: OperatorCall): Value {
  const theta = widened(call, call.tensor(0));
  const [batch = 0, , ...sizes] = call.knownIntegers(1);
  const corners = call.int("align_corners", 0) === 1;
  const rank = sizes.length;
  if (corners && sizes.includes(1)) throw new Error("align_corners needs at least two pixels along each axis");
  const count = elementCount(sizes);
  call.builder.reserve({ dataType: theta.type.dataType, shape: [Math.max(batch, 1), ...sizes, rank] });
  const strides = sizes.map((_, axis) => elementCount(sizes.slice(axis + 1)));
  // Rows x, y(, z) and 1: the last axis comes first.
  const coordinates = Float64Array.from({ length: (rank + 1) * count }, (_, index) => {
    const row = Math.floor(index / count);
    if (row === rank) return 1;
    const axis = rank - 1 - row;
    const size = at(sizes, axis);
    const position = Math.floor((index % count) / (strides[axis] ?? 1)) % size;
    return corners ? -1 + (2 * position) / (size - 1) : -1 + (2 * position + 1) / size;
  });
  const columns = call.builder.constant(toLiteral(theta.type.dataType, [rank + 1, count], coordinates));
  const grid = call.transpose(call.add({ kind: "matmul" }, theta, columns), [0, 2, 1]);
  return call.cast(call.reshape(grid, [batch, ...sizes, rank]), call.tensor(0).type.dataType);
}

/** ONNX RoiAlign (He et al., https://arxiv.org/abs/1703.06870): each region is divided into parts, and each part sampled at a grid of points. */
function roiAlign(call: OperatorCall): Value {
  const x = widened(call, call.tensor(0));
  const boxes = call.cast(call.tensor(1), x.type.dataType);
  const indices = call.tensor(2);
  const ratio = call.int("sampling_ratio", 0);
  const align = getAlignment(call);
  const { dataType } = call.tensor(0).type;
  if (ratio > 0) return call.cast(aligned(call, x, boxes, indices, align, [ratio, ratio]), dataType);
  // The number of points depends on the size of the region, so the regions must be constant.
  const known = toNumbers(call.known(1));
  const each = Array.from({ length: at(boxes.type.shape, 0) }, (_, box) => {
    const grid = [1, 0].map((axis, spatial) => {
      const length = (at(known, box * 4 + axis + 2) - at(known, box * 4 + axis)) * align.scale;
      return Math.ceil((align.half ? length : Math.max(length, 1)) / at(align.parts, spatial));
    });
    if (grid.some((count) => count < 1)) throw new Error("a region of interest is empty");
    return aligned(call, x, call.slice(boxes, 0, box, 1), call.slice(indices, 0, box, 1), align, grid);
  });
  return call.cast(call.add({ kind: "concat", axis: 0 }, ...each), dataType);
}

/** Attributes of RoiAlign. */
interface Alignment {
  /** Rows and columns of the output. */
  readonly parts: readonly number[];
  readonly scale: number;
  readonly half: boolean;
  readonly largest: boolean;
}

function getAlignment(call: OperatorCall): Alignment {
  const transformation = call.string("coordinate_transformation_mode", call.version < 16 ? "output_half_pixel" : "half_pixel");
  if (transformation !== "half_pixel" && transformation !== "output_half_pixel")
    throw new Error(`coordinate_transformation_mode "${transformation}" is unknown`);
  const mode = call.string("mode", "avg");
  if (mode !== "avg" && mode !== "max") throw new Error(`mode "${mode}" is unknown`);
  return {
    parts: [call.int("output_height", 1), call.int("output_width", 1)],
    scale: call.float("spatial_scale", 1),
    half: transformation === "half_pixel",
    largest: mode === "max",
  };
}

/** The parts of all regions [R, 4], each sampled at a grid of the same number of points. */
function aligned(
  call: OperatorCall,
  x: Value,
  boxes: Value,
  indices: Value,
  { parts, scale, half, largest }: Alignment,
  grid: readonly number[],
): Value {
  const [images = 0, channels = 0, ...sizes] = x.type.shape;
  const count = at(boxes.type.shape, 0);
  const corners = call.binary("sub", call.binary("mul", boxes, scale), half ? 0.5 : 0);
  const lengths = parts.map((part, axis) => part * at(grid, axis));
  const points = elementCount(lengths);
  call.builder.reserve({ dataType: x.type.dataType, shape: [Math.max(count, 1), Math.max(channels, 1), points] });
  const alone = images === 1; // then regions need no copies of their image
  const axes = sizes.map((size, axis) => {
    const [start, end] = [1 - axis, 3 - axis].map((corner) => call.slice(corners, 1, corner, 1));
    if (start === undefined || end === undefined) throw new Error("a corner is missing");
    const length = call.binary("sub", end, start);
    const step = call.binary("div", half ? length : call.binary("max", length, 1), at(lengths, axis));
    const steps = Float64Array.from({ length: points }, (_, index) => {
      const at = axis === 0 ? Math.floor(index / (lengths[1] ?? 1)) : index % (lengths[1] ?? 1);
      return at + 0.5;
    });
    const offsets = call.builder.constant(toLiteral(x.type.dataType, [1, points], steps));
    const exact = call.binary("add", start, call.binary("mul", step, offsets));
    const inside = call.binary("and", call.binary("greater-or-equal", exact, -1), call.binary("less-or-equal", exact, size));
    return { inside, at: call.binary("min", call.binary("max", exact, 0), size - 1) };
  });
  const [rows, columns] = axes;
  if (rows === undefined || columns === undefined || axes.length !== 2)
    throw new Error("only inputs of rank 4, [N, C, H, W], are supported");
  const shape = alone ? [1, count * points] : [count, points];
  const source = alone ? x : call.add({ kind: "gather", axis: 0 }, x, indices);
  const weight = call.reshape(call.cast(call.binary("and", rows.inside, columns.inside), x.type.dataType), [count, 1, points]);
  const read = weightedNeighbours(
    call,
    source,
    axes.map(({ at }) => call.reshape(at, shape)),
    linearNeighbours,
    "edge",
  ).map((part) => {
    const byBox = alone
      ? call.transpose(call.reshape(part, [channels, count, points]), [1, 0, 2])
      : call.reshape(part, [count, channels, points]);
    return call.binary("mul", byBox, weight);
  });
  // The maximum is over the weighted neighbours and not over their sums, as in ONNX's reference implementation.
  const values = read.reduce((all, part) => call.binary(largest ? "max" : "add", all, part));
  const cells = call.reshape(values, [count, channels, at(parts, 0), at(grid, 0), at(parts, 1), at(grid, 1)]);
  return call.reduce(largest ? "max" : "mean", cells, [3, 5], false);
}

/** Translates the ONNX operators GridSample, AffineGrid and RoiAlign, which read images at computed coordinates, to graph operations. */
export const sampling: OperatorFamily = {
  GridSample: since(16, gridSample),
  AffineGrid: since(20, affineGrid),
  RoiAlign: since(10, roiAlign),
};
