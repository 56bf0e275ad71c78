/** Positions of elements as expressions of CUDA C: shapes and strides are known, so that they are constants of the code. */
import { at } from "../../../../contract/checked.ts";

/** A part of a shape with its strides, without axes of one element; neighbours that are contiguous with respect to one another are one axis. */
function collapse(shape: readonly number[], strides: readonly number[]): { readonly size: number; readonly stride: number }[] {
  const axes: { size: number; stride: number }[] = [];
  for (const [axis, size] of shape.entries()) {
    if (size === 1) continue;
    const stride = at(strides, axis);
    const last = axes.at(-1);
    if (last !== undefined && last.stride === stride * size) {
      last.size *= size;
      last.stride = stride;
    } else axes.push({ size, stride });
  }
  return axes;
}

/** The offset, with these strides, of the element with the number `index` of a tensor of `shape` in row-major order. `index` is a name. */
export function offsetCode(index: string, shape: readonly number[], strides: readonly number[], start = 0): string {
  const axes = collapse(shape, strides);
  const terms: string[] = start === 0 ? [] : [String(start)];
  let inner = 1;
  for (let axis = axes.length - 1; axis >= 0; axis -= 1) {
    const { size, stride } = at(axes, axis);
    if (stride !== 0) {
      const quotient = inner === 1 ? index : `${index} / ${inner}`;
      const coordinate = axis === 0 ? quotient : `${inner === 1 ? index : `(${quotient})`} % ${size}`;
      terms.push(stride !== 1 ? `(${coordinate}) * ${stride}` : axis === 0 ? coordinate : `(${coordinate})`);
    }
    inner *= size;
  }
  return terms.length === 0 ? "0" : terms.join(" + ");
}

/** The coordinates of the element with the number `index` of a tensor of `shape` in row-major order. `index` is a name. */
export function coordinatesCode(index: string, shape: readonly number[]): readonly string[] {
  let inner = 1;
  const codes = shape.map(() => "0");
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    const size = at(shape, axis);
    const quotient = inner === 1 ? index : `(${index} / ${inner})`;
    if (size !== 1) codes[axis] = axis === 0 ? quotient : `(${quotient} % ${size})`;
    inner *= size;
  }
  return codes;
}
