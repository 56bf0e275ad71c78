/** Sampling of images at coordinates that are tensors, with interpolation. Coordinate 0 is the centre of the first pixel. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { contiguousStrides } from "../../../ir/broadcast.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";

/** The value of a pixel outside of the image: 0 ("zeros"), or the value of the nearest pixel ("edge"). */
export type Padding = "zeros" | "edge";

/** Pixels [N, C, P] of x [N, C, ...] at integer coordinates, one tensor [N, P] for each spatial axis. */
export function samplePixels(call: OperatorCall, x: Value, coordinates: readonly Value[], outside: Padding): Value {
  const [batch = 0, channels = 0, ...sizes] = x.type.shape;
  const strides = contiguousStrides(sizes);
  const points = coordinates[0]?.type.shape[1] ?? 0;
  let offset: Value | undefined;
  let inside: Value | undefined;
  for (const [axis, coordinate] of coordinates.entries()) {
    const last = at(sizes, axis) - 1;
    const kept = call.binary("min", call.binary("max", coordinate, 0), last);
    const step = call.binary("mul", call.cast(kept, "int64"), at(strides, axis));
    offset = offset === undefined ? step : call.binary("add", offset, step);
    if (outside === "edge") continue;
    const within = call.binary(
      "and",
      call.binary("greater-or-equal", coordinate, 0),
      call.binary("less-or-equal", coordinate, last),
    );
    inside = inside === undefined ? within : call.binary("and", inside, within);
  }
  if (offset === undefined) throw new Error("there are no coordinates");
  const flat = call.reshape(x, [batch, channels, elementCount(sizes)]);
  const offsets = call.add({ kind: "expand", shape: [batch, channels, points] }, call.reshape(offset, [batch, 1, points]));
  const read = call.add({ kind: "gather-elements", axis: 2 }, flat, offsets);
  return inside === undefined ? read : call.select(call.reshape(inside, [batch, 1, points]), read, 0);
}

/** The pixels around a point along one axis, as offsets from the pixel below it, with their weights. `rest`: distance of the point from that pixel. */
export type Neighbours = (call: OperatorCall, rest: Value) => readonly (readonly [offset: number, weight: Value])[];

/** The two neighbours of a coordinate along one axis and their weights under linear interpolation. */
export const linearNeighbours: Neighbours = (call, rest) => [
  [0, call.binary("sub", 1, rest)],
  [1, rest],
];

/**
 * The four neighbours of a coordinate and their weights under cubic convolution with coefficient `slope` (Keys 1981,
 * https://doi.org/10.1109/TASSP.1981.1163711).
 */
export function cubicNeighbours(slope: number): Neighbours {
  return (call, rest) => {
    const near = (distance: Value): Value => {
      const line = call.binary("sub", call.binary("mul", distance, slope + 2), slope + 3);
      return call.binary("add", call.binary("mul", line, call.binary("mul", distance, distance)), 1);
    };
    const far = (distance: Value): Value => {
      const square = call.binary("add", call.binary("mul", call.binary("sub", distance, 5), distance), 8);
      return call.binary("mul", call.binary("sub", call.binary("mul", square, distance), 4), slope);
    };
    const above = call.binary("sub", 1, rest);
    return [
      [-1, far(call.binary("add", rest, 1))],
      [0, near(rest)],
      [1, near(above)],
      [2, far(call.binary("add", above, 1))],
    ];
  };
}

/** The weighted values [N, C, P] of each neighbour of every point; their sum is the interpolated value. `fold` maps coordinates back into the image. */
export function weightedNeighbours(
  call: OperatorCall,
  x: Value,
  coordinates: readonly Value[],
  neighbours: Neighbours,
  outside: Padding,
  fold?: (pixel: Value, axis: number) => Value,
): readonly Value[] {
  const byAxis = coordinates.map((coordinate, axis) => {
    const below = call.unary("floor", coordinate);
    return neighbours(call, call.binary("sub", coordinate, below)).map(([offset, weight]) => {
      const pixel = offset === 0 ? below : call.binary("add", below, offset);
      return { pixel: fold?.(pixel, axis) ?? pixel, weight };
    });
  });
  // All combinations of neighbours, the first axis slowest.
  const all = byAxis.reduce<(typeof byAxis)[number][]>(
    (chosen, axis) => chosen.flatMap((before) => axis.map((each) => [...before, each])),
    [[]],
  );
  return all.map((chosen) => {
    const read = samplePixels(
      call,
      x,
      chosen.map(({ pixel }) => pixel),
      outside,
    );
    const weight = chosen.map((each) => each.weight).reduce((product, each) => call.binary("mul", product, each));
    const [batch = 0, points = 0] = weight.type.shape;
    return call.binary("mul", read, call.reshape(weight, [batch, 1, points]));
  });
}

/** Interpolated values [N, C, P] of x [N, C, ...] at coordinates, one tensor [N, P] for each spatial axis. */
export function interpolate(
  call: OperatorCall,
  x: Value,
  coordinates: readonly Value[],
  neighbours: Neighbours,
  outside: Padding,
  fold?: (pixel: Value, axis: number) => Value,
): Value {
  const parts = weightedNeighbours(call, x, coordinates, neighbours, outside, fold);
  return parts.reduce((sum, part) => call.binary("add", sum, part));
}
