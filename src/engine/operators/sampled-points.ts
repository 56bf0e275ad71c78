/** Images read at places that are data, between the pixels if need be. Coordinates count pixels from the centre of the first one. */
import { elementCount } from "../../tensor.ts";
import { stridesOf } from "../graph/broadcast.ts";
import type { Value } from "../graph/graph.ts";
import type { OperatorCall } from "./operator-call.ts";

/** What lies outside of the image: zeros, or its nearest pixel. */
export type Outside = "zeros" | "edge";

/** x [N, C, ...], whole coordinates by axis, each [N, P], gives [N, C, P]. */
export function samplePixels(call: OperatorCall, x: Value, at: readonly Value[], outside: Outside): Value {
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

/** x [N, C, ...], coordinates by axis, each [N, P], gives [N, C, P]: between neighbours each counts as much as it is near. */
export function sampleLinear(call: OperatorCall, x: Value, at: readonly Value[], outside: Outside): Value {
  const below = at.map((coordinate) => call.unary("floor", coordinate));
  const rest = at.map((coordinate, axis) => call.binary("sub", coordinate, below[axis] ?? coordinate));
  let sum: Value | undefined;
  for (let corner = 0; corner < 2 ** at.length; corner += 1) {
    const upper = at.map((_, axis) => ((corner >> axis) & 1) === 1);
    const pixel = below.map((each, axis) => (upper[axis] ? call.binary("add", each, 1) : each));
    const weight = rest
      .map((each, axis) => (upper[axis] ? each : call.binary("sub", 1, each)))
      .reduce((product, each) => call.binary("mul", product, each));
    const part = weighted(call, samplePixels(call, x, pixel, outside), weight);
    sum = sum === undefined ? part : call.binary("add", sum, part);
  }
  if (sum === undefined) throw new Error("it reads at no axis");
  return sum;
}

/** What was read [N, C, P], times weights [N, P]. */
export function weighted(call: OperatorCall, read: Value, weight: Value): Value {
  const [batch = 0, points = 0] = weight.type.shape;
  return call.binary("mul", read, call.reshape(weight, [batch, 1, points]));
}
