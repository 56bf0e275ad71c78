/** Images read at places that are data, between the pixels if need be. Coordinates count pixels from the centre of the first one. */
import { elementCount } from "../../../../tensor.ts";
import { stridesOf } from "../../../ir/broadcast.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";

/** What lies outside of the image: zeros, or its nearest pixel. */
export type Padding = "zeros" | "edge";

/** x [N, C, ...], whole coordinates by axis, each [N, P], gives [N, C, P]. */
export function samplePixels(call: OperatorCall, x: Value, at: readonly Value[], outside: Padding): Value {
  const [batch = 0, channels = 0, ...sizes] = x.type.shape;
  const strides = stridesOf(sizes);
  const points = at[0]?.type.shape[1] ?? 0;
  let place: Value | undefined;
  let inside: Value | undefined;
  for (const [axis, coordinate] of at.entries()) {
    const last = (sizes[axis] ?? 0) - 1;
    const kept = call.binary("min", call.binary("max", coordinate, 0), last);
    const step = call.binary("mul", call.cast(kept, "int64"), strides[axis] ?? 1);
    place = place === undefined ? step : call.binary("add", place, step);
    if (outside === "edge") continue;
    const within = call.binary(
      "and",
      call.binary("greater-or-equal", coordinate, 0),
      call.binary("less-or-equal", coordinate, last),
    );
    inside = inside === undefined ? within : call.binary("and", inside, within);
  }
  if (place === undefined) throw new Error("it reads at no axis");
  const flat = call.reshape(x, [batch, channels, elementCount(sizes)]);
  const places = call.add({ kind: "expand", shape: [batch, channels, points] }, call.reshape(place, [batch, 1, points]));
  const read = call.add({ kind: "gather-elements", axis: 2 }, flat, places);
  return inside === undefined ? read : call.select(call.reshape(inside, [batch, 1, points]), read, 0);
}

/** Neighbours of a point along one axis: pixels from the one below it, and how much each counts, given how far the point is above that one. */
export type Neighbours = (call: OperatorCall, rest: Value) => readonly (readonly [offset: number, weight: Value])[];

export const linearNeighbours: Neighbours = (call, rest) => [
  [0, call.binary("sub", 1, rest)],
  [1, rest],
];

/** Keys' cubic convolution with this slope: https://doi.org/10.1109/TASSP.1981.1163711. */
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

/** What the neighbours of every point give, each weighted, one after the other. `fold` brings a pixel's coordinate back into the image. */
export function weightedNeighbours(
  call: OperatorCall,
  x: Value,
  at: readonly Value[],
  neighbours: Neighbours,
  outside: Padding,
  fold?: (pixel: Value, axis: number) => Value,
): readonly Value[] {
  const byAxis = at.map((coordinate, axis) => {
    const below = call.unary("floor", coordinate);
    return neighbours(call, call.binary("sub", coordinate, below)).map(([offset, weight]) => {
      const pixel = offset === 0 ? below : call.binary("add", below, offset);
      return { pixel: fold?.(pixel, axis) ?? pixel, weight };
    });
  });
  // The first axis varies slowest, as the corners of a cell are usually listed.
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

/** x [N, C, ...], coordinates by axis, each [N, P], gives [N, C, P]. */
export function interpolate(
  call: OperatorCall,
  x: Value,
  at: readonly Value[],
  neighbours: Neighbours,
  outside: Padding,
  fold?: (pixel: Value, axis: number) => Value,
): Value {
  const parts = weightedNeighbours(call, x, at, neighbours, outside, fold);
  return parts.reduce((sum, part) => call.binary("add", sum, part));
}
