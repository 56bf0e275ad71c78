/** Operators along axes: reductions, argmax, prefix sums, top-k and softmax. Definitions: https://onnx.ai/onnx/operators/. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import type { ReduceFunction } from "../../../ir/operations.ts";
import { iota } from "../attention/scaled-dot-product.ts";
import { normalizeAxes, normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since } from "../operator-rule.ts";
import { computeWidened, widened } from "../precision.ts";

interface Reduced {
  readonly axes: readonly number[];
  readonly keep: boolean;
}

/**
 * The reduced axes: an attribute before version `inputSince`, an input from then on. Without axes all are reduced, or none (undefined) if
 * `noop_with_empty_axes` is set.
 */
function reduced(call: OperatorCall, inputSince: number): Reduced | undefined {
  const rank = call.tensor(0).type.shape.length;
  const written = call.version < inputSince ? call.ints("axes") : call.knownIntegersIfGiven(1);
  const keep = call.int("keepdims", 1) === 1;
  const nothing = call.int("noop_with_empty_axes", 0) === 1;
  if (written !== undefined && written.length > 0) return { axes: normalizeAxes(written, rank), keep };
  return nothing ? undefined : { axes: Array.from({ length: rank }, (_, axis) => axis), keep };
}

/** Types that are reduced in int32; the result wraps around when it is cast back. */
const small: ReadonlySet<ElementType> = new Set(["bool", "int8", "uint8", "int16", "uint16"]);

/** A reduction. `before` is applied to every element and `after` to every result, in the compute type, so that the result is rounded once. */
function reduce(
  name: ReduceFunction,
  inputSince: number,
  before?: (call: OperatorCall, x: Value) => Value,
  after?: (call: OperatorCall, x: Value) => Value,
): Translate {
  return (call) => {
    const given = call.tensor(0);
    const isSmall = name !== "mean" && small.has(given.type.dataType);
    const exact = isSmall ? call.cast(given, "int32") : given;
    const wide = before === undefined && after === undefined ? exact : widened(call, exact);
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

/** ONNX ReduceLogSumExp: max + log(sum(exp(x - max))), which does not overflow. */
const logSumExp = computeWidened((call, x) => {
  const over = reduced(call, 18);
  if (over === undefined) return x;
  const largest = call.reduce("max", x, over.axes, true);
  const shift = call.select(call.unary("is-infinite", largest), 0, largest); // infinity minus infinity would be NaN
  const sum = call.reduce("sum", call.unary("exp", call.binary("sub", x, shift)), over.axes, over.keep);
  const squeezed = call.reshape(shift, sum.type.shape);
  return call.binary("add", call.unary("log", sum), squeezed);
});

/** ONNX ArgMax and ArgMin. */
function arg(name: "min" | "max"): Translate {
  return (call) => {
    const x = call.tensor(0);
    const { shape } = x.type;
    const axis = normalizeAxis(call.int("axis", 0), shape.length);
    const last = call.int("select_last_index", 0) === 1;
    const keep = call.int("keepdims", 1) === 1;
    const index = call.add({ kind: "arg", function: name, axis, last }, x);
    return keep ? index : call.reshape(index, shape.toSpliced(axis, 1));
  };
}

/** ONNX CumSum and CumProd. */
function cumulative(name: "sum" | "product"): Translate {
  return (call) => {
    const x = call.tensor(0);
    const axis = normalizeAxis(call.knownInteger(1), x.type.shape.length);
    const exclusive = call.int("exclusive", 0) === 1;
    const reverse = call.int("reverse", 0) === 1;
    return call.add({ kind: "cumulative", function: name, axis, exclusive, reverse }, x);
  };
}

/** ONNX TopK. `k` is an attribute before version 10. The result is always sorted, which `sorted` = 0 permits. */
function topK(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", -1), x.type.shape.length);
  const count = call.version < 10 ? call.int("k", 0) : call.knownInteger(1);
  call.ignore("sorted");
  return call.builder.addAll({ kind: "top-k", axis, count, largest: call.int("largest", 1) === 1 }, x);
}

/** ONNX Softmax and LogSoftmax: see `softmaxAlong`. */
function softmax(logarithm: boolean): Translate {
  return (call) => softmaxAlong(call, call.tensor(0), call.int("axis", call.version < 13 ? 1 : -1), call.version, logarithm);
}

/** Softmax along an axis; in definitions of an operator set up to version 12, of the tensor flattened to a matrix whose columns begin at the axis. */
export function softmaxAlong(call: OperatorCall, x: Value, statedAxis: number, version: number, logarithm: boolean): Value {
  const { shape } = x.type;
  const axis = normalizeAxis(statedAxis, shape.length);
  if (version >= 13) return call.add({ kind: "softmax", axis, logarithm }, x);
  const matrix = call.reshape(x, [elementCount(shape.slice(0, axis)), elementCount(shape.slice(axis))]);
  return call.reshape(call.add({ kind: "softmax", axis: 1, logarithm }, matrix), shape);
}

/** ONNX Hardmax: 1 at the first maximum along the axis, else 0; flattened to a matrix up to version 12, like Softmax. */
function hardmax(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape, dataType } = x.type;
  const axis = normalizeAxis(call.int("axis", call.version < 13 ? 1 : -1), shape.length);
  const matrix = call.version < 13 ? [elementCount(shape.slice(0, axis)), elementCount(shape.slice(axis))] : shape;
  const classAxis = call.version < 13 ? 1 : axis;
  const largest = call.add({ kind: "arg", function: "max", axis: classAxis, last: false }, call.reshape(x, matrix));
  const classes = iota(call, at(matrix, classAxis), classAxis, matrix.length);
  return call.reshape(call.cast(call.binary("equal", classes, largest), dataType), shape);
}

/** Translates operators along axes of ai.onnx to graph operations: ReduceSum and other reductions, ArgMax, CumSum, TopK, Softmax. */
export const reductions: OperatorFamily = {
  ReduceSum: since(1, reduce("sum", 13)),
  ReduceMean: since(1, reduce("mean", 18)),
  ReduceProd: since(1, reduce("product", 18)),
  ReduceMax: since(1, reduce("max", 18)),
  ReduceMin: since(1, reduce("min", 18)),
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
  Softmax: since(1, softmax(false)),
  LogSoftmax: since(1, softmax(true)),
  Hardmax: since(1, hardmax),
};
