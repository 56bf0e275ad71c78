/** Matrix products and convolutions, and the window arithmetic that pooling shares. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { broadcastShape, broadcastStrides, elementOffsets, contiguousStrides } from "../ir/broadcast.ts";
import { isBigIntType } from "../ir/element-types.ts";
import { toBigints, toLiteral, literalOfBigints, toNumbers } from "../ir/literal.ts";
import { windowCounts } from "../ir/window-arithmetic.ts";
import type { One, Two } from "./operands.ts";
import type { OperationOf } from "../ir/operations.ts";

/** Evaluates `matmul`: sums in float64, or in bigints for int64 and uint64, and rounds each sum once. */
export function evaluateMatmul(_: OperationOf<"matmul">, [a, b]: Two): One {
  const batch = broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const [rows = 0, inner = 0] = a.shape.slice(-2);
  const columns = b.shape.at(-1) ?? 0;
  const shape = [...batch, rows, columns];
  const matricesA = elementOffsets(batch, broadcastStrides(a.shape.slice(0, -2), batch));
  const matricesB = elementOffsets(batch, broadcastStrides(b.shape.slice(0, -2), batch));
  if (isBigIntType(a.dataType)) {
    const [one, other] = [toBigints(a), toBigints(b)];
    const sums = Array.from({ length: elementCount(shape) }, (_, element) => {
      const matrix = Math.floor(element / (rows * columns));
      const start = ((matricesA[matrix] ?? 0) * rows + (Math.floor(element / columns) % rows)) * inner;
      const column = (matricesB[matrix] ?? 0) * inner * columns + (element % columns);
      let sum = 0n;
      for (let k = 0; k < inner; k += 1) sum += (one[start + k] ?? 0n) * (other[column + k * columns] ?? 0n);
      return sum;
    });
    return [literalOfBigints(a.dataType, shape, sums)];
  }
  const [one, other] = [Float64Array.from(toNumbers(a)), Float64Array.from(toNumbers(b))];
  const sums = new Float64Array(elementCount(shape));
  for (let matrix = 0; matrix < matricesA.length; matrix += 1) {
    const startA = (matricesA[matrix] ?? 0) * rows * inner;
    const startB = (matricesB[matrix] ?? 0) * inner * columns;
    for (let row = 0; row < rows; row += 1) {
      const into = (matrix * rows + row) * columns;
      for (let k = 0; k < inner; k += 1) {
        const factor = one[startA + row * inner + k] ?? 0;
        const line = startB + k * columns;
        for (let column = 0; column < columns; column += 1) {
          sums[into + column] = (sums[into + column] ?? 0) + factor * (other[line + column] ?? 0);
        }
      }
    }
  }
  return [toLiteral(a.dataType, shape, sums)];
}

/** Positions of the elements of a kernel relative to its first element. */
interface Taps {
  /** For each element of the kernel its offset along every spatial axis, with dilation. */
  readonly offsets: readonly (readonly number[])[];
}

/** For each element of a convolution kernel, in row-major order, its distance from the first element along each spatial axis, in input elements. */
export function kernelOffsets(kernel: readonly number[], dilations: readonly number[]): Taps {
  const strides = contiguousStrides(kernel);
  const offsets = Array.from({ length: elementCount(kernel) }, (_, tap) =>
    kernel.map((size, axis) => (Math.floor(tap / at(strides, axis)) % size) * at(dilations, axis)),
  );
  return { offsets };
}

/** The coordinates of the element with row-major index `element` in a tensor of `shape`, whose contiguous strides are `strides`. */
export function getCoordinates(element: number, shape: readonly number[], strides: readonly number[]): number[] {
  return shape.map((size, axis) => Math.floor(element / at(strides, axis)) % size);
}

/** The offset in elements of the coordinates `point`, or -1 if they are outside of `shape`. */
export function linearOffset(point: readonly number[], shape: readonly number[], strides: readonly number[]): number {
  let offset = 0;
  for (const [axis, coordinate] of point.entries()) {
    if (coordinate < 0 || coordinate >= at(shape, axis)) return -1;
    offset += coordinate * at(strides, axis);
  }
  return offset;
}

/** The sums of a convolution in float64, rounded to the type of x, without bias and activation. */
export function convolve(operation: OperationOf<"convolution">, [x, weights]: Two): One {
  const { groups, strides, dilations, pads } = operation;
  const [batch = 0, channels = 0, ...sizes] = x.shape;
  const [filters = 0, depth = 0, ...kernel] = weights.shape;
  const spatial = windowCounts(sizes, kernel, operation);
  const { offsets } = kernelOffsets(kernel, dilations);
  const [volume, area, taps] = [elementCount(sizes), elementCount(spatial), offsets.length];
  const [from, to] = [contiguousStrides(sizes), contiguousStrides(spatial)];
  const [values, factors] = [toNumbers(x), toNumbers(weights)];
  const results = new Float64Array(batch * filters * area);
  // The offset that each kernel element of each output element reads, -1 for padding: the same for all channels and filters.
  const reads = Int32Array.from({ length: area * taps }, (_, index) => {
    const point = getCoordinates(Math.floor(index / taps), spatial, to);
    const tap = at(offsets, index % taps);
    return linearOffset(
      point.map((coordinate, axis) => coordinate * at(strides, axis) - at(pads, axis) + at(tap, axis)),
      sizes,
      from,
    );
  });
  for (let image = 0; image < batch; image += 1) {
    for (let filter = 0; filter < filters; filter += 1) {
      const firstChannel = Math.floor(filter / (filters / groups)) * depth;
      for (let element = 0; element < area; element += 1) {
        let sum = 0;
        for (let channel = 0; channel < depth; channel += 1) {
          const start = (image * channels + firstChannel + channel) * volume;
          for (let tap = 0; tap < taps; tap += 1) {
            const read = reads[element * taps + tap] ?? -1;
            if (read >= 0) sum += (values[start + read] ?? 0) * (factors[(filter * depth + channel) * taps + tap] ?? 0);
          }
        }
        results[(image * filters + filter) * area + element] = sum;
      }
    }
  }
  return [toLiteral(x.dataType, [batch, filters, ...spatial], results)];
}
