/** Lowers pooling operations to StableHLO. */
import { at, required } from "../../../contract/checked.ts";
import { elementTypes, isFloat } from "../../ir/element-types.ts";
import { toLiteral } from "../../ir/literal.ts";
import type { OperationOf, Window } from "../../ir/operations.ts";
import type { TensorType } from "../../ir/tensor-type.ts";
import { dilatedSize } from "../../ir/window-arithmetic.ts";
import { widenedOperand } from "./elementwise.ts";
import { type HloFunction, type HloValue, formatList } from "./hlo-function.ts";

/** Attributes of a pooling window over the spatial axes of [N,C,…]. The padding at the end is computed from the shape of the result. */
function windowAttributes(
  input: readonly number[],
  result: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
): Readonly<Record<string, string>> {
  const padding = kernel.map((size, axis) => {
    const before = at(pads, axis);
    const reach = (at(result, axis + 2) - 1) * at(strides, axis) + dilatedSize(size, at(dilations, axis));
    return [before, reach - before - at(input, axis + 2)];
  });
  return {
    window_dimensions: formatList([1, 1, ...kernel]),
    window_strides: formatList([1, 1, ...strides]),
    window_dilations: formatList([1, 1, ...dilations]),
    padding: `dense<${JSON.stringify([[0, 0], [0, 0], ...padding])}> : tensor<${kernel.length + 2}x2xi64>`,
  };
}

/** The minimum value of a type, the identity of max. */
function lowest(hlo: HloFunction, { dataType }: TensorType): HloValue {
  return hlo.scalar(dataType, Number.NEGATIVE_INFINITY);
}

/** Lowers `max-pool` to StableHLO. `hasIndices`: whether the second result, the index of each maximum, is used; if not, it is not computed. */
export function emitMaxPool(
  hlo: HloFunction,
  operation: OperationOf<"max-pool">,
  [x]: readonly HloValue[],
  results: readonly TensorType[],
  hasIndices: boolean,
): readonly HloValue[] {
  const data = required(x, "x");
  const type = at(results, 0);
  const attributes = windowAttributes(data.type.shape, type.shape, operation.kernel, operation);
  const { dataType } = type;
  if (!hasIndices) {
    const region = hlo.region([dataType, dataType], (inner, [a, b]) => [
      inner.binary("stablehlo.maximum", required(a, "a"), required(b, "b")),
    ]);
    return hlo.operations("stablehlo.reduce_window", [data, lowest(hlo, type)], [type], attributes, region);
  }
  const region = hlo.region([dataType, "int64", dataType, "int64"], (inner, scalars) => {
    const [best, bestIndex, value, index] = scalars.map((scalar) => required(scalar, "a scalar"));
    return chooseLarger(inner, [required(best, "a"), required(bestIndex, "b")], [required(value, "c"), required(index, "d")]);
  });
  const start = hlo.scalar("int64", Number.POSITIVE_INFINITY);
  const indices = elementNumbers(hlo, data.type.shape, operation.columnMajor);
  const types = [type, at(results, 1)];
  return hlo.operations("stablehlo.reduce_window", [data, indices, lowest(hlo, type), start], types, attributes, region);
}

/** The larger of two elements and its index; for equal elements, the lower index. */
function chooseLarger(
  hlo: HloFunction,
  [best, bestIndex]: readonly [HloValue, HloValue],
  [value, index]: readonly [HloValue, HloValue],
): readonly HloValue[] {
  const isEarlier = hlo.binary("stablehlo.and", hlo.compare(value, "EQ", best), hlo.compare(index, "LT", bestIndex));
  const isBetter = hlo.binary("stablehlo.or", hlo.compare(value, "GT", best), isEarlier);
  return [hlo.select(isBetter, value, best), hlo.select(isBetter, index, bestIndex)];
}

/** Index of each element in the flattened [N,C,…] tensor, in row-major order, or with the spatial axes in column-major order. */
function elementNumbers(hlo: HloFunction, shape: readonly number[], columnMajor: boolean): HloValue {
  const strides = shape.map(() => 1);
  const spatial = [...shape.keys()].slice(2);
  const order = columnMajor ? [0, 1, ...spatial.toReversed()] : [...shape.keys()];
  let stride = 1;
  for (const axis of order.toReversed()) {
    strides[axis] = stride;
    stride *= at(shape, axis);
  }
  return strides
    .map((each, axis) => hlo.binary("stablehlo.multiply", hlo.iota("int64", shape, axis), hlo.scalar("int64", each)))
    .reduce((sum, part) => hlo.binary("stablehlo.add", sum, part));
}

/** Lowers `average-pool` to StableHLO. The number of elements in each window is a constant. */
export function emitAveragePool(
  hlo: HloFunction,
  operation: OperationOf<"average-pool">,
  [x]: readonly HloValue[],
  [result]: readonly TensorType[],
): HloValue {
  const type = required(result, "the result's type");
  return widenedOperand(hlo, required(x, "x"), (wide) => {
    const attributes = windowAttributes(wide.type.shape, type.shape, operation.kernel, operation);
    const { dataType } = wide.type;
    const region = hlo.region([dataType, dataType], (inner, [a, b]) => [
      inner.binary("stablehlo.add", required(a, "a"), required(b, "b")),
    ]);
    const sumType = { dataType, shape: type.shape };
    const [sums] = hlo.operations("stablehlo.reduce_window", [wide, hlo.scalar(dataType, 0)], [sumType], attributes, region);
    const counts = elementsInWindows(wide.type.shape.slice(2), type.shape.slice(2), operation).map((each, axis) => {
      const literal = toLiteral(
        elementTypes[dataType].kind === "float" && isFloat(dataType) ? dataType : "float32",
        [each.length],
        each,
      );
      return hlo.broadcastAxes(hlo.constant(literal), type.shape, [axis + 2]);
    });
    const count = counts.reduce<HloValue | undefined>(
      (product, each) => (product === undefined ? each : hlo.binary("stablehlo.multiply", product, each)),
      undefined,
    );
    return count === undefined ? required(sums, "the sums") : hlo.binary("stablehlo.divide", required(sums, "the sums"), count);
  });
}

/** Number of counted window elements for each spatial axis and each position of the window along that axis. */
function elementsInWindows(
  input: readonly number[],
  result: readonly number[],
  { kernel, strides, dilations, pads, countPadding }: OperationOf<"average-pool">,
): readonly (readonly number[])[] {
  return input.map((size, axis) => {
    const before = at(pads, axis);
    const [low, high] = countPadding ? [-before, size + at(pads, axis + input.length)] : [0, size];
    return Array.from({ length: at(result, axis) }, (_, position) => {
      const start = position * at(strides, axis) - before;
      const taps = Array.from({ length: at(kernel, axis) }, (_unused, tap) => start + tap * at(dilations, axis));
      return taps.filter((tap) => tap >= low && tap < high).length;
    });
  });
}
