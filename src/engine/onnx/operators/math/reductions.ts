/** Operators along axes: sums and norms, places of extremes, running sums, sorting, softmax. */
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import type { ReduceFunction } from "../../../ir/operations.ts";
import { normalizeAxes, normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since, versions } from "../operator-rule.ts";
import { computeWidened, widened } from "../precision.ts";

interface Reduced {
  readonly axes: readonly number[];
  readonly keep: boolean;
}

/** Axes are an attribute up to the version before `inputSince`, then an input; none means all, or nothing at all where the operator says so. */
function reduced(call: OperatorCall, inputSince: number): Reduced | undefined {
  const rank = call.tensor(0).type.shape.length;
  const written = call.version < inputSince ? call.ints("axes") : call.knownIntegersIfGiven(1);
  const keep = call.int("keepdims", 1) === 1;
  const nothing = call.int("noop_with_empty_axes", 0) === 1;
  if (written !== undefined && written.length > 0) return { axes: normalizeAxes(written, rank), keep };
  return nothing ? undefined : { axes: Array.from({ length: rank }, (_, axis) => axis), keep };
}

/** Whole numbers that are reduced in int32. */
const small: ReadonlySet<ElementType> = new Set(["bool", "int8", "uint8", "int16", "uint16"]);

/** `before` is applied to each element, `after` to each result; with either, all is rounded once. */
function reduce(
  name: ReduceFunction,
  inputSince: number,
  before?: (call: OperatorCall, x: Value) => Value,
  after?: (call: OperatorCall, x: Value) => Value,
): Translate {
  return (call) => {
    const given = call.tensor(0);
    const isSmall = name !== "mean" && small.has(given.type.dataType);
    const own = isSmall ? call.cast(given, "int32") : given; // what is more than the type holds wraps around at last
    const wide = before === undefined && after === undefined ? own : widened(call, own);
    const x = before?.(call, wide) ?? wide;
    const over = reduced(call, inputSince);
    const result = over === undefined ? x : call.reduce(name, x, over.axes, over.keep);
    return call.cast(after?.(call, result) ?? result, given.type.dataType);
  };
}

function square(call: OperatorCall, x: Value): Value {
  return call.binary("mul", x, x);
}

function absolute(call: OperatorCall, x: Value): Value {
  return call.unary("abs", x);
}

function root(call: OperatorCall, x: Value): Value {
  return call.unary("sqrt", x);
}

function logarithm(call: OperatorCall, x: Value): Value {
  return call.unary("log", x);
}

/** max + log(sum(exp(x - max))), which overflows nowhere. */
const logSumExp = computeWidened((call, x) => {
  const over = reduced(call, 18);
  if (over === undefined) return x;
  const largest = call.reduce("max", x, over.axes, true);
  const endless = call.unary("is-infinite", largest);
  const shift = call.select(endless, 0, largest);
  const sum = call.reduce("sum", call.unary("exp", call.binary("sub", x, shift)), over.axes, over.keep);
  const squeezed = call.reshape(shift, sum.type.shape);
  return call.binary("add", call.unary("log", sum), squeezed);
});

/** Of bool: whether all, or any, are true. */
function extreme(name: "min" | "max"): Translate {
  const inner = reduce(name, 18);
  return (call) => inner(call);
}

function arg(name: "min" | "max"): Translate {
  return (call) => {
    const x = call.tensor(0);
    const { shape } = x.type;
    const axis = normalizeAxis(call.int("axis", 0), shape.length);
    const last = call.int("select_last_index", 0) === 1;
    const keep = call.int("keepdims", 1) === 1;
    const place = call.add({ kind: "arg", function: name, axis, last }, x);
    return keep ? place : call.reshape(place, shape.toSpliced(axis, 1));
  };
}

function cumulative(name: "sum" | "product"): Translate {
  return (call) => {
    const x = call.tensor(0);
    const axis = normalizeAxis(call.knownIntegers(1)[0] ?? 0, x.type.shape.length);
    const exclusive = call.int("exclusive", 0) === 1;
    const reverse = call.int("reverse", 0) === 1;
    return call.add({ kind: "cumulative", function: name, axis, exclusive, reverse }, x);
  };
}

/** Sorted results are asked for, or any order will do: sorted is one. */
function topK(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", -1), x.type.shape.length);
  const count = call.version < 10 ? call.int("k", 0) : (call.knownIntegers(1)[0] ?? 0);
  call.ignore("sorted");
  return call.builder.addAll({ kind: "top-k", axis, count, largest: call.int("largest", 1) === 1 }, x);
}

/** Up to version 12 the tensor is seen as a matrix whose columns begin at the axis; from 13 on it is one axis. */
function softmax(logarithm: boolean): readonly [old: Translate, current: Translate] {
  return [
    (call) => {
      const x = call.tensor(0);
      const { shape } = x.type;
      const axis = normalizeAxis(call.int("axis", 1), shape.length);
      const rows = shape.slice(0, axis).reduce((product, size) => product * size, 1);
      const columns = shape.slice(axis).reduce((product, size) => product * size, 1);
      const matrix = call.reshape(x, [rows, columns]);
      return call.reshape(call.add({ kind: "softmax", axis: 1, logarithm }, matrix), shape);
    },
    (call) => {
      const x = call.tensor(0);
      return call.add({ kind: "softmax", axis: normalizeAxis(call.int("axis", -1), x.type.shape.length), logarithm }, x);
    },
  ];
}

/** 1 at the largest element of the axis, else 0. */
function hardmax(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape, dataType } = x.type;
  const axis = normalizeAxis(call.int("axis", call.version < 13 ? 1 : -1), shape.length);
  const matrix = call.version < 13 ? [product(shape.slice(0, axis)), product(shape.slice(axis))] : shape;
  const at = call.version < 13 ? 1 : axis;
  const seen = call.reshape(x, matrix);
  const place = call.add({ kind: "arg", function: "max", axis: at, last: false }, seen);
  const size = matrix[at] ?? 0;
  call.builder.reserve({ dataType: "int64", shape: [size] });
  const places = call.builder.constant({
    dataType: "int64",
    shape: matrix.map((_, each) => (each === at ? size : 1)),
    data: BigInt64Array.from({ length: size }, (_, index) => BigInt(index)),
  });
  return call.reshape(call.cast(call.binary("equal", places, place), dataType), shape);
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}

const [oldSoftmax, newSoftmax] = softmax(false);
const [oldLogSoftmax, newLogSoftmax] = softmax(true);

export const reductions: OperatorFamily = {
  ReduceSum: since(1, reduce("sum", 13)),
  ReduceMean: since(1, reduce("mean", 18)),
  ReduceProd: since(1, reduce("product", 18)),
  ReduceMax: since(1, extreme("max")),
  ReduceMin: since(1, extreme("min")),
  ReduceL1: since(1, reduce("sum", 18, absolute)),
  ReduceL2: since(1, reduce("sum", 18, square, root)),
  ReduceSumSquare: since(1, reduce("sum", 18, square)),
  ReduceLogSum: since(1, reduce("sum", 18, undefined, logarithm)),
  ReduceLogSumExp: since(1, logSumExp),
  ArgMax: since(1, arg("max")),
  ArgMin: since(1, arg("min")),
  CumSum: since(11, cumulative("sum")),
  CumProd: since(26, cumulative("product")),
  TopK: since(1, topK),
  Softmax: versions([1, oldSoftmax], [13, newSoftmax]),
  LogSoftmax: versions([1, oldLogSoftmax], [13, newLogSoftmax]),
  Hardmax: since(1, hardmax),
};
