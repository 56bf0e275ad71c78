/** Operations along axes: reductions, argmax, prefix sums, top-k and softmax. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { elementOffsets, contiguousStrides } from "../ir/broadcast.ts";
import { isFloat, isBigIntType } from "../ir/element-types.ts";
import { toBigints, int64Literal, type Literal, toLiteral, literalOfBigints, toNumbers, pickElements } from "../ir/literal.ts";
import type { One } from "./operands.ts";
import type { OperationOf, ReduceFunction } from "../ir/operations.ts";
import { evaluateBinary } from "./elementwise.ts";

const starts: Readonly<Record<ReduceFunction, number>> = {
  sum: 0,
  mean: 0,
  product: 1,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
};

const steps: Readonly<Record<ReduceFunction, (sum: number, value: number) => number>> = {
  sum: (sum, value) => sum + value,
  mean: (sum, value) => sum + value,
  product: (sum, value) => sum * value,
  min: Math.min,
  max: Math.max,
};

const bigintSteps: Readonly<Record<ReduceFunction, (sum: bigint, value: bigint) => bigint>> = {
  sum: (sum, value) => sum + value,
  mean: (sum, value) => sum + value,
  product: (sum, value) => sum * value,
  min: (sum, value) => (value < sum ? value : sum),
  max: (sum, value) => (value > sum ? value : sum),
};

/**
 * Evaluates `reduce` in float64, or in bigints for int64 and uint64. The maximum of no elements is the lowest value of the type, the minimum the
 * highest.
 */
export function evaluateReduce({ function: name, axes, keep }: OperationOf<"reduce">, [x]: One): readonly Literal[] {
  const strides = contiguousStrides(x.shape);
  const others = [...x.shape.keys()].filter((axis) => !axes.includes(axis));
  const outer = subset(others);
  const inner = subset(axes);
  const length = inner.length;
  const shape = x.shape.flatMap((size, axis) => (axes.includes(axis) ? (keep ? [1] : []) : [size]));
  const { dataType } = x;
  if (isBigIntType(dataType)) {
    const values = toBigints(x);
    const step = bigintSteps[name];
    const results = Array.from(outer, (start) => {
      let sum = name === "min" || name === "max" ? emptyExtreme(dataType, name) : BigInt(starts[name]);
      for (const offset of inner) sum = step(sum, values[start + offset] ?? 0n);
      return name === "mean" && length > 0 ? sum / BigInt(length) : sum;
    });
    return [literalOfBigints(dataType, shape, results)];
  }
  const values = toNumbers(x);
  const step = steps[name];
  const results = Float64Array.from(outer, (start) => {
    let sum = starts[name];
    for (let index = 0; index < length; index += 1) sum = step(sum, values[start + (inner[index] ?? 0)] ?? 0);
    return name === "mean" ? sum / length : sum;
  });
  return [toLiteral(x.dataType, shape, isFloat(x.dataType) ? results : results.map(Math.trunc))];

  function subset(chosen: readonly number[]): Int32Array | Float64Array {
    return elementOffsets(
      chosen.map((axis) => at(x.shape, axis)),
      chosen.map((axis) => at(strides, axis)),
    );
  }
}

/** The minimum or maximum of no elements: the other end of the type. */
function emptyExtreme(type: "int64" | "uint64", name: "min" | "max"): bigint {
  if (type === "uint64") return name === "min" ? 2n ** 64n - 1n : 0n;
  return name === "min" ? 2n ** 63n - 1n : -(2n ** 63n);
}

/** The one-dimensional slices of a contiguous tensor along an axis. */
interface AxisSlices {
  readonly starts: Int32Array | Float64Array;
  readonly length: number;
  readonly stride: number;
}

/** The offset of the first element of every slice along an axis, their length and the stride of their elements, all in elements. */
function axisSlices(shape: readonly number[], axis: number): AxisSlices {
  const strides = contiguousStrides(shape);
  return { starts: elementOffsets(shape.with(axis, 1), strides), length: at(shape, axis), stride: at(strides, axis) };
}

/** Evaluates `arg`: the index of the maximum or minimum along an axis, as int64. */
export function evaluateArg({ function: name, axis, last }: OperationOf<"arg">, [x]: One): readonly Literal[] {
  const { starts, length, stride } = axisSlices(x.shape, axis);
  const values: ArrayLike<number | bigint> = isBigIntType(x.dataType) ? toBigints(x) : toNumbers(x);
  const better = (one: number | bigint, other: number | bigint): boolean => (name === "max" ? one > other : one < other);
  const offsets = Array.from(starts, (start) => {
    let best = 0;
    for (let index = 1; index < length; index += 1) {
      const value = values[start + index * stride] ?? 0;
      const found = values[start + best * stride] ?? 0;
      if (better(value, found) || (last && value === found)) best = index;
    }
    return best;
  });
  return [int64Literal(offsets, x.shape.with(axis, 1))];
}

/** Evaluates `cumulative`: prefix sums or products along an axis. */
export function evaluateCumulative(operation: OperationOf<"cumulative">, [x]: One): readonly Literal[] {
  const { function: name, axis, exclusive, reverse } = operation;
  const { starts: begins, length, stride } = axisSlices(x.shape, axis);
  const count = elementCount(x.shape);
  const order = Array.from({ length }, (_, index) => (reverse ? length - 1 - index : index) * stride);
  if (isBigIntType(x.dataType)) {
    const values = toBigints(x);
    const results = Array.from({ length: count }, () => 0n);
    for (const start of begins) {
      let sum = name === "sum" ? 0n : 1n;
      for (const offset of order) {
        const next = bigintSteps[name](sum, values[start + offset] ?? 0n);
        results[start + offset] = exclusive ? sum : next;
        sum = next;
      }
    }
    return [literalOfBigints(x.dataType, x.shape, results)];
  }
  const values = toNumbers(x);
  const results = new Float64Array(count);
  for (const start of begins) {
    let sum = starts[name];
    for (const offset of order) {
      const next = steps[name](sum, values[start + offset] ?? 0);
      results[start + offset] = exclusive ? sum : next;
      sum = next;
    }
  }
  return [toLiteral(x.dataType, x.shape, results)];
}

/**
 * Evaluates `top-k`: the `count` largest or smallest elements along an axis, sorted, and their indices. Equal elements keep their order; NaN counts
 * as the largest.
 */
export function evaluateTopK({ axis, count, largest }: OperationOf<"top-k">, [x]: One): readonly Literal[] {
  const { starts, length, stride } = axisSlices(x.shape, axis);
  const shape = x.shape.with(axis, count);
  const values: ArrayLike<number | bigint> = isBigIntType(x.dataType) ? toBigints(x) : toNumbers(x);
  const found = axisSlices(shape, axis);
  const offsets = new Float64Array(elementCount(shape));
  const indices = new Float64Array(offsets.length);
  for (const [lane, start] of starts.entries()) {
    const order = Array.from({ length }, (_, index) => index).sort((one, other) => {
      const [a, b] = [values[start + one * stride] ?? 0, values[start + other * stride] ?? 0];
      if (a === b) return one - other;
      if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(b)) - Number(Number.isNaN(a)); // NaN sorts as the largest, as in NumPy
      return a > b === largest ? -1 : 1;
    });
    for (let rank = 0; rank < count; rank += 1) {
      const at = (found.starts[lane] ?? 0) + rank * found.stride;
      offsets[at] = start + (order[rank] ?? 0) * stride;
      indices[at] = order[rank] ?? 0;
    }
  }
  return [pickElements(x, shape, offsets), toLiteral("int64", shape, indices)];
}

/** Evaluates `softmax` or its logarithm along an axis. Subtracts the maximum first, so that exp does not overflow. */
export function evaluateSoftmax(
  { axis, logarithm }: OperationOf<"softmax">,
  [x, mask]: readonly [Literal, Literal?],
): readonly Literal[] {
  const { starts, length, stride } = axisSlices(x.shape, axis);
  const values = toNumbers(mask === undefined ? x : evaluateBinary({ kind: "binary", function: "add" }, [x, mask])[0]);
  const results = new Float64Array(values.length);
  for (const start of starts) {
    let largest = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < length; index += 1) largest = Math.max(largest, values[start + index * stride] ?? 0);
    let sum = 0;
    for (let index = 0; index < length; index += 1) sum += Math.exp((values[start + index * stride] ?? 0) - largest);
    for (let index = 0; index < length; index += 1) {
      const shifted = (values[start + index * stride] ?? 0) - largest;
      results[start + index * stride] = logarithm ? shifted - Math.log(sum) : Math.exp(shifted) / sum;
    }
  }
  return [toLiteral(x.dataType, x.shape, results)];
}
