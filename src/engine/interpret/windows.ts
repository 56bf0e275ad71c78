/** Transposed convolution and pooling, by their definitions. */
import { elementCount } from "../../tensor.ts";
import { stridesOf } from "../ir/broadcast.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { int64Literal, type Literal, literalOf, numbersOf, pickElements } from "../ir/literal.ts";
import type { OperationOf, Window } from "../ir/operations.ts";
import { coordinatesOf, linearOffset, kernelOffsets } from "./products.ts";

type Literals = readonly Literal[];

/** Without its bias and activation. */
export function convolveTransposed(operation: OperationOf<"convolution-transpose">, [x, weights]: Literals): Literals {
  if (x === undefined || weights === undefined) throw new Error("it lacks an operand");
  const { groups, strides, dilations, pads } = operation;
  const shape = inferTypes(operation, [x, weights])[0]?.shape ?? [];
  const [batch = 0, channels = 0, ...sizes] = x.shape;
  const [, filters = 0, ...kernel] = weights.shape;
  const spatial = shape.slice(2);
  const { offsets } = kernelOffsets(kernel, dilations);
  const [volume, area, taps] = [elementCount(sizes), elementCount(spatial), offsets.length];
  const [from, to] = [stridesOf(sizes), stridesOf(spatial)];
  const [values, factors] = [numbersOf(x), numbersOf(weights)];
  const results = new Float64Array(elementCount(shape));
  for (let element = 0; element < volume; element += 1) {
    const point = coordinatesOf(element, sizes, from);
    for (const [tap, offset] of offsets.entries()) {
      const into = point.map((at, axis) => at * (strides[axis] ?? 1) + (offset[axis] ?? 0) - (pads[axis] ?? 0));
      const place = linearOffset(into, spatial, to);
      if (place < 0) continue;
      for (let image = 0; image < batch; image += 1) {
        for (let channel = 0; channel < channels; channel += 1) {
          const value = values[(image * channels + channel) * volume + element] ?? 0;
          const first = Math.floor(channel / (channels / groups)) * filters;
          for (let filter = 0; filter < filters; filter += 1) {
            const at = (image * filters * groups + first + filter) * area + place;
            results[at] = (results[at] ?? 0) + value * (factors[(channel * filters + filter) * taps + tap] ?? 0);
          }
        }
      }
    }
  }
  return [literalOf(x.dataType, shape, results)];
}

export function evaluateMaxPool(operation: OperationOf<"max-pool">, [x]: Literals): Literals {
  if (x === undefined) throw new Error("it lacks its operand");
  const shape = inferTypes(operation, [x])[0]?.shape ?? [];
  const values = numbersOf(x);
  const sizes = x.shape.slice(2);
  const volume = elementCount(sizes);
  const columnStrides = stridesOf(sizes.toReversed()).toReversed();
  const places: number[] = [];
  const told: number[] = [];
  eachWindow(x.shape, shape, operation.kernel, operation, (start, inside) => {
    let best = inside[0]?.place ?? 0;
    for (const { place } of inside) if ((values[start + place] ?? 0) > (values[start + best] ?? 0)) best = place;
    places.push(start + best);
    const point = coordinatesOf(best, sizes, stridesOf(sizes));
    told.push(operation.columnMajor ? start + linearOffset(point, sizes, columnStrides) : start + best);
  });
  if (volume === 0) throw new Error("it pools nothing");
  return [pickElements(x, shape, places), int64Literal(told, shape)];
}

export function evaluateAveragePool(operation: OperationOf<"average-pool">, [x]: Literals): Literals {
  if (x === undefined) throw new Error("it lacks its operand");
  const shape = inferTypes(operation, [x])[0]?.shape ?? [];
  const values = numbersOf(x);
  const means: number[] = [];
  eachWindow(x.shape, shape, operation.kernel, operation, (start, inside, padded) => {
    let sum = 0;
    for (const { place } of inside) sum += values[start + place] ?? 0;
    means.push(sum / (operation.countPadding ? padded : inside.length));
  });
  return [literalOf(x.dataType, shape, means)];
}

interface Tap {
  /** Of the element in its channel. */
  readonly place: number;
}

/** Calls with every window of every channel, row-major: where the channel begins, the elements inside, and how many lie inside the padded input. */
function eachWindow(
  from: readonly number[],
  to: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
  visit: (start: number, inside: readonly Tap[], padded: number) => void,
): void {
  const sizes = from.slice(2);
  const spatial = to.slice(2);
  const [own, out] = [stridesOf(sizes), stridesOf(spatial)];
  const { offsets } = kernelOffsets(kernel, dilations);
  const windows = Array.from({ length: elementCount(spatial) }, (_, element) => {
    const point = coordinatesOf(element, spatial, out);
    const inside: Tap[] = [];
    let padded = 0;
    for (const offset of offsets) {
      const at = point.map((step, axis) => step * (strides[axis] ?? 1) + (offset[axis] ?? 0) - (pads[axis] ?? 0));
      if (at.every((coordinate, axis) => coordinate < (sizes[axis] ?? 0) + (pads[axis + sizes.length] ?? 0))) padded += 1;
      const place = linearOffset(at, sizes, own);
      if (place >= 0) inside.push({ place });
    }
    return { inside, padded };
  });
  const channels = (from[0] ?? 0) * (from[1] ?? 0);
  for (let channel = 0; channel < channels; channel += 1) {
    for (const { inside, padded } of windows) visit(channel * elementCount(sizes), inside, padded);
  }
}
