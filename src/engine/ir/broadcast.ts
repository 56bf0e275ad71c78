/** Broadcasting as numpy does it: shapes are aligned at their ends, and an axis of size 1 is repeated. */
import { elementCount } from "../../tensor.ts";

/** The shape that all broadcast to; Error where two sizes of an axis differ and neither is 1. */
export function broadcastShape(...shapes: readonly (readonly number[])[]): readonly number[] {
  const rank = Math.max(0, ...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, axis) => {
    let size = 1;
    for (const shape of shapes) {
      const own = shape[axis - rank + shape.length] ?? 1;
      if (own === size || own === 1) continue;
      if (size !== 1)
        throw new Error(`the shapes ${shapes.map((each) => `[${each.join(", ")}]`).join(" and ")} do not broadcast`);
      size = own;
    }
    return size;
  });
}

/** Elements from one index of an axis to the next, row-major. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = Array.from(shape, () => 1);
  for (let axis = shape.length - 2; axis >= 0; axis -= 1) strides[axis] = (strides[axis + 1] ?? 1) * (shape[axis + 1] ?? 1);
  return strides;
}

/** Strides of a tensor of shape `from` read as if it had the shape `to`: 0 along repeated axes. */
export function broadcastStrides(from: readonly number[], to: readonly number[]): number[] {
  const own = stridesOf(from);
  return Array.from(to, (size, axis) => {
    const at = axis - to.length + from.length;
    return at < 0 || (from[at] === 1 && size !== 1) ? 0 : (own[at] ?? 0);
  });
}

/** For every element of `shape`, row-major, its place in a buffer with these strides. */
export function elementOffsets(shape: readonly number[], strides: readonly number[], start = 0): Int32Array | Float64Array {
  const count = elementCount(shape);
  const places = start + count < 2 ** 31 ? new Int32Array(count) : new Float64Array(count);
  if (count === 0) return places;
  const index = Array.from(shape, () => 0);
  let place = start;
  for (let element = 0; element < count; element += 1) {
    places[element] = place;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const next = (index[axis] ?? 0) + 1;
      place += strides[axis] ?? 0;
      if (next < (shape[axis] ?? 0)) {
        index[axis] = next;
        break;
      }
      place -= next * (strides[axis] ?? 0);
      index[axis] = 0;
    }
  }
  return places;
}
