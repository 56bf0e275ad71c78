/** Lowers operations along axes to StableHLO: reductions, indices of extremes, prefix sums, sorting, softmax and normalization. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { isFloat } from "../../ir/element-types.ts";
import type { OperationOf, ReduceFunction } from "../../ir/operations.ts";
import { widenedOperand } from "./elementwise.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";

const reducers: Readonly<Record<ReduceFunction, readonly [name: string, start: number]>> = {
  sum: ["stablehlo.add", 0],
  mean: ["stablehlo.add", 0],
  product: ["stablehlo.multiply", 1],
  min: ["stablehlo.minimum", Number.POSITIVE_INFINITY],
  max: ["stablehlo.maximum", Number.NEGATIVE_INFINITY],
};

/** Lowers `reduce` to StableHLO. */
export function emitReduce(
  hlo: HloFunction,
  { function: name, axes, keep }: OperationOf<"reduce">,
  [x]: readonly HloValue[],
): HloValue {
  return widenedOperand(hlo, required(x, "the operand"), (wide) => {
    const { shape } = wide.type;
    const sums = reduceAxes(hlo, name, wide, axes);
    const result = keep
      ? hlo.reshape(
          sums,
          shape.map((size, axis) => (axes.includes(axis) ? 1 : size)),
        )
      : sums;
    return result;
  });
}

/** Reduces axes and removes them from the shape. */
function reduceAxes(hlo: HloFunction, name: ReduceFunction, x: HloValue, axes: readonly number[]): HloValue {
  if (axes.length === 0) return x;
  const [combine, start] = reducers[name];
  const { dataType, shape } = x.type;
  const [result] = hlo.reduce([x], [hlo.scalar(dataType, start)], axes, (inner, [sum, value]) => [
    inner.binary(combine, required(sum, "the sum"), required(value, "the element")),
  ]);
  const sums = required(result, "the sums");
  const count = axes.reduce((product, axis) => product * at(shape, axis), 1);
  if (name !== "mean" || (count === 0 && !isFloat(dataType))) return sums;
  return hlo.binary("stablehlo.divide", sums, hlo.scalar(dataType, count));
}

/** Reduces one axis, which keeps size 1 in the result. */
function reduceAxis(hlo: HloFunction, name: ReduceFunction, x: HloValue, axis: number): HloValue {
  return hlo.reshape(reduceAxes(hlo, name, x, [axis]), x.type.shape.with(axis, 1));
}

/** Lowers `arg` to StableHLO: elements and their indices are reduced together. */
export function emitArg(
  hlo: HloFunction,
  { function: name, axis, last }: OperationOf<"arg">,
  [x]: readonly HloValue[],
): HloValue {
  const data = required(x, "the operand");
  const { dataType, shape } = data.type;
  const start = hlo.scalar(dataType, name === "max" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const startIndex = hlo.scalar("int64", last ? -1 : at(shape, axis));
  const [, indices] = hlo.reduce([data, hlo.iota("int64", shape, axis)], [start, startIndex], [axis], (inner, scalars) => {
    const [best, bestIndex, value, index] = scalars;
    const [one, oneIndex, other, otherIndex] = [
      required(best, "the best"),
      required(bestIndex, "its index"),
      required(value, "the element"),
      required(index, "the index"),
    ];
    const isBetter = inner.compare(other, name === "max" ? "GT" : "LT", one);
    const isEqual = inner.compare(other, "EQ", one);
    const isChosen = inner.binary("stablehlo.and", isEqual, inner.compare(otherIndex, last ? "GT" : "LT", oneIndex));
    const takes = inner.binary("stablehlo.or", isBetter, isChosen);
    return [inner.select(takes, other, one), inner.select(takes, otherIndex, oneIndex)];
  });
  return hlo.reshape(required(indices, "the indices"), shape.with(axis, 1));
}

/**
 * Lowers `cumulative` to StableHLO as a parallel prefix sum (Hillis and Steele 1986) of log2(n) steps. Each step adds elements from twice the
 * distance of the step before.
 */
export function emitCumulative(
  hlo: HloFunction,
  { function: name, axis, exclusive, reverse }: OperationOf<"cumulative">,
  [x]: readonly HloValue[],
): HloValue {
  return widenedOperand(hlo, required(x, "the operand"), (wide) => {
    const { dataType, shape } = wide.type;
    const size = at(shape, axis);
    const [combine, start] = reducers[name];
    const none = hlo.scalar(dataType, start);
    const shifted = (value: HloValue, by: number): HloValue => {
      const before = shape.map((_, each) => (each === axis ? by : 0));
      return hlo.pad(
        value,
        none,
        before,
        before.map((count) => -count),
      );
    };
    let sums = hlo.reverse(wide, reverse ? [axis] : []);
    if (exclusive && size > 0) sums = shifted(sums, 1);
    for (let distance = 1; distance < size; distance *= 2) sums = hlo.binary(combine, sums, shifted(sums, distance));
    return hlo.reverse(sums, reverse ? [axis] : []);
  });
}

/** Lowers `top-k` to StableHLO by a stable sort of elements and indices. NaN counts as the largest. */
export function emitTopK(
  hlo: HloFunction,
  { axis, count, largest }: OperationOf<"top-k">,
  [x]: readonly HloValue[],
): readonly HloValue[] {
  const data = required(x, "the operand");
  const { dataType, shape } = data.type;
  const indices = hlo.iota("int64", shape, axis);
  const region = hlo.region([dataType, dataType, "int64", "int64"], (inner, [a, b]) => {
    const [one, other] = largest ? [required(a, "a"), required(b, "b")] : [required(b, "b"), required(a, "a")];
    const isLarger = inner.compare(one, "GT", other);
    if (!isFloat(dataType)) return [isLarger];
    const isNumber = inner.compare(other, "EQ", other);
    const isNanBeforeNumber = inner.binary("stablehlo.and", inner.compare(one, "NE", one), isNumber);
    return [inner.binary("stablehlo.or", isLarger, isNanBeforeNumber)];
  });
  const sorted = hlo.operations(
    "stablehlo.sort",
    [data, indices],
    [data.type, indices.type],
    { dimension: `${axis} : i64`, is_stable: "true" },
    region,
  );
  const none = shape.map(() => 0);
  const steps = shape.map(() => 1);
  return sorted.map((each) => hlo.slice(each, none, shape.with(axis, count), steps));
}

/** Lowers `softmax`, or log-softmax, to StableHLO: inputs x, and optionally a mask that is added to it. */
export function emitSoftmax(
  hlo: HloFunction,
  { axis, logarithm }: OperationOf<"softmax">,
  [x, mask]: readonly HloValue[],
): HloValue {
  const data = required(x, "the operand");
  return widenedOperand(hlo, mask === undefined ? data : hlo.binary("stablehlo.add", data, mask), (wide) => {
    const shifted = hlo.binary("stablehlo.subtract", wide, reduceAxis(hlo, "max", wide, axis));
    const powers = hlo.unary("stablehlo.exponential", shifted);
    const sums = reduceAxis(hlo, "sum", powers, axis);
    if (logarithm) return hlo.binary("stablehlo.subtract", shifted, hlo.unary("stablehlo.log", sums));
    return hlo.binary("stablehlo.divide", powers, sums);
  });
}

/** Lowers `layer-norm` to StableHLO: inputs x, and optionally scale and shift. */
export function emitNorm(
  hlo: HloFunction,
  { kind, axis, epsilon }: OperationOf<"layer-norm" | "rms-norm">,
  [x, scale, shift]: readonly HloValue[],
): HloValue {
  return widenedOperand(hlo, required(x, "the operand"), (wide) => {
    const { dataType, shape } = wide.type;
    const axes = shape.slice(axis).map((_, index) => axis + index);
    const kept = shape.map((size, each) => (axes.includes(each) ? 1 : size));
    const count = hlo.scalar(dataType, elementCount(shape.slice(axis)));
    const mean = (values: HloValue): HloValue =>
      hlo.reshape(hlo.binary("stablehlo.divide", reduceAxes(hlo, "sum", values, axes), count), kept);
    const centred = kind === "layer-norm" ? hlo.binary("stablehlo.subtract", wide, mean(wide)) : wide;
    const variance = mean(hlo.binary("stablehlo.multiply", centred, centred));
    const deviation = hlo.unary("stablehlo.sqrt", hlo.binary("stablehlo.add", variance, hlo.scalar(dataType, epsilon)));
    let result = hlo.binary("stablehlo.divide", centred, deviation);
    if (scale !== undefined) result = hlo.binary("stablehlo.multiply", result, hlo.convert(scale, dataType));
    if (shift !== undefined) result = hlo.binary("stablehlo.add", result, hlo.convert(shift, dataType));
    return result;
  });
}
