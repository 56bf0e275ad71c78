/** Transposed convolution and pooling. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { contiguousStrides } from "../ir/broadcast.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { int64Literal, type Literal, toLiteral, toNumbers, pickElements } from "../ir/literal.ts";
import type { One, Two } from "./operands.ts";
import type { OperationOf, Window } from "../ir/operations.ts";
import { getCoordinates, linearOffset, kernelOffsets } from "./products.ts";

type Literals = readonly Literal[];

/** The sums of a transposed convolution in float64, rounded to the type of x, without bias and activation. */
export function convolveTransposed(operation: OperationOf<"convolution-transpose">, [x, weights]: Two): One {
  const { groups, strides, dilations, pads } = operation;
  const shape = inferTypes(operation, [x, weights])[0]?.shape ?? [];
  const [batch = 0, channels = 0, ...sizes] = x.shape;
  const [, filters = 0, ...kernel] = weights.shape;
  const spatial = shape.slice(2);
  const { offsets } = kernelOffsets(kernel, dilations);
  const [volume, area, taps] = [elementCount(sizes), elementCount(spatial), offsets.length];
  const [from, to] = [contiguousStrides(sizes), contiguousStrides(spatial)];
  const [values, factors] = [toNumbers(x), toNumbers(weights)];
  const results = new Float64Array(elementCount(shape));
  for (let element = 0; element < volume; element += 1) {
    const point = getCoordinates(element, sizes, from);
    for (const [tap, offset] of offsets.entries()) {
      const target = point.map((coordinate, axis) => coordinate * at(strides, axis) + at(offset, axis) - at(pads, axis));
      const position = linearOffset(target, spatial, to);
      if (position < 0) continue;
      for (let image = 0; image < batch; image += 1) {
        for (let channel = 0; channel < channels; channel += 1) {
          const value = values[(image * channels + channel) * volume + element] ?? 0;
          const first = Math.floor(channel / (channels / groups)) * filters;
          for (let filter = 0; filter < filters; filter += 1) {
            const sum = (image * filters * groups + first + filter) * area + position;
            results[sum] = (results[sum] ?? 0) + value * (factors[(channel * filters + filter) * taps + tap] ?? 0);
          }
        }
      }
    }
  }
  return [toLiteral(x.dataType, shape, results)];
}

/**
 * Evaluates `max-pool`: the maximum of each window and its index in the flattened input, as int64. A window in the padding alone gives the first
 * element of its channel.
 */
export function evaluateMaxPool(operation: OperationOf<"max-pool">, [x]: One): Literals {
  const shape = inferTypes(operation, [x])[0]?.shape ?? [];
  const values = toNumbers(x);
  const sizes = x.shape.slice(2);
  const volume = elementCount(sizes);
  const columnStrides = contiguousStrides(sizes.toReversed()).toReversed();
  const offsets: number[] = [];
  const indices: number[] = [];
  eachWindow(x.shape, shape, operation.kernel, operation, (start, inside) => {
    let best = inside[0] ?? 0; // a window in the padding alone gives the first element
    for (const offset of inside) if ((values[start + offset] ?? 0) > (values[start + best] ?? 0)) best = offset;
    offsets.push(start + best);
    const point = getCoordinates(best, sizes, contiguousStrides(sizes));
    indices.push(operation.columnMajor ? start + linearOffset(point, sizes, columnStrides) : start + best);
  });
  if (volume === 0) throw new Error("the input has no elements");
  return [pickElements(x, shape, offsets), int64Literal(indices, shape)];
}

/** Evaluates `average-pool`: the mean of each window over the spatial axes. Padding counts as zeros if `countPadding` is set, else it is left out. */
export function evaluateAveragePool(operation: OperationOf<"average-pool">, [x]: One): Literals {
  const shape = inferTypes(operation, [x])[0]?.shape ?? [];
  const values = toNumbers(x);
  const means: number[] = [];
  eachWindow(x.shape, shape, operation.kernel, operation, (start, inside, padded) => {
    let sum = 0;
    for (const offset of inside) sum += values[start + offset] ?? 0;
    means.push(sum / (operation.countPadding ? padded : inside.length));
  });
  return [toLiteral(x.dataType, shape, means)];
}

/**
 * Calls `visit` for every window of every channel, in row-major order, with the offset of the channel, the offsets inside the channel of the elements
 * that are not padding, and the number of elements inside the padded input.
 */
function eachWindow(
  from: readonly number[],
  to: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
  visit: (start: number, inside: readonly number[], padded: number) => void,
): void {
  const sizes = from.slice(2);
  const spatial = to.slice(2);
  const [own, out] = [contiguousStrides(sizes), contiguousStrides(spatial)];
  const { offsets } = kernelOffsets(kernel, dilations);
  const windows = Array.from({ length: elementCount(spatial) }, (_, element) => {
    const point = getCoordinates(element, spatial, out);
    const inside: number[] = [];
    let padded = 0;
    for (const tap of offsets) {
      const coordinates = point.map((step, axis) => step * at(strides, axis) + at(tap, axis) - at(pads, axis));
      if (coordinates.every((coordinate, axis) => coordinate < at(sizes, axis) + at(pads, axis + sizes.length))) padded += 1;
      const offset = linearOffset(coordinates, sizes, own);
      if (offset >= 0) inside.push(offset);
    }
    return { inside, padded };
  });
  const channels = at(from, 0) * at(from, 1);
  const volume = elementCount(sizes);
  for (let channel = 0; channel < channels; channel += 1) {
    for (const { inside, padded } of windows) visit(channel * volume, inside, padded);
  }
}
