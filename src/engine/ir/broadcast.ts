/** Broadcasting by NumPy's rules: shapes are aligned at their last axes, and an axis of size 1 is repeated. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";

/** The common shape that all shapes broadcast to. Throws if two sizes of an axis differ and neither is 1. */
export function broadcastShape(...shapes: readonly (readonly number[])[]): readonly number[] {
  const rank = Math.max(0, ...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, axis) => {
    let size = 1;
    for (const shape of shapes) {
      const own = shape[axis - rank + shape.length] ?? 1; // a missing leading axis counts as 1
      if (own === size || own === 1) continue;
      if (size !== 1)
        throw new Error(`the shapes ${shapes.map((each) => `[${each.join(", ")}]`).join(" and ")} do not broadcast`);
      size = own;
    }
    return size;
  });
}

/** Row-major strides of a contiguous tensor, in elements. */
export function contiguousStrides(shape: readonly number[]): number[] {
  const strides = Array.from(shape, () => 1);
  for (let axis = shape.length - 2; axis >= 0; axis -= 1) strides[axis] = at(strides, axis + 1) * at(shape, axis + 1);
  return strides;
}

/** Strides in elements with which a contiguous tensor of shape `from` is read as if it had the shape `to`; 0 along repeated axes. */
export function broadcastStrides(from: readonly number[], to: readonly number[]): number[] {
  const own = contiguousStrides(from);
  return Array.from(to, (size, axis) => {
    const source = axis - to.length + from.length;
    return source < 0 || (from[source] === 1 && size !== 1) ? 0 : at(own, source);
  });
}

/**
 * For every element of a tensor of `shape`, in row-major order, its offset in a buffer with the given strides. Strides, offsets and `start`, the
 * offset of the first element, are in elements.
 */
export function elementOffsets(shape: readonly number[], strides: readonly number[], start = 0): Int32Array | Float64Array {
  const count = elementCount(shape);
  const offsets = start + count < 2 ** 31 ? new Int32Array(count) : new Float64Array(count);
  if (count === 0) return offsets;
  const index = Array.from(shape, () => 0);
  let offset = start;
  for (let element = 0; element < count; element += 1) {
    offsets[element] = offset;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const next = at(index, axis) + 1;
      const stride = at(strides, axis);
      offset += stride;
      if (next < at(shape, axis)) {
        index[axis] = next;
        break;
      }
      offset -= next * stride;
      index[axis] = 0;
    }
  }
  return offsets;
}
