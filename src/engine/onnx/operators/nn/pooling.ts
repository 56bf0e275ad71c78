/** Pooling: maximum, mean or p-norm of windows or whole channels, MaxUnpool and MaxRoiPool. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import type { Value } from "../../../ir/graph.ts";
import type { Window } from "../../../ir/operations.ts";
import { transposedWindowSizes, windowTravel } from "../../../ir/window-arithmetic.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { computeWidened } from "../precision.ts";
import { checkWindow, getWindow } from "./window-attributes.ts";

interface Pooling {
  readonly kernel: readonly number[];
  readonly window: Window;
  readonly ceil: boolean;
}

/** The window of a pooling operator, from its attributes. */
function getPooling(call: OperatorCall, x: Value): Pooling {
  const kernel = kernelShape(call);
  const sizes = x.type.shape.slice(2);
  return { kernel, window: getWindow(call, sizes, kernel), ceil: call.int("ceil_mode", 0) === 1 };
}

/** Reads the attribute `kernel_shape`: the size of the pooling window along each spatial axis, in elements. Throws if the node has none. */
function kernelShape(call: OperatorCall): readonly number[] {
  const kernel = call.ints("kernel_shape");
  if (kernel === undefined) throw new Error("the attribute kernel_shape is missing");
  return kernel;
}

/** ONNX MaxPool. Outputs: maxima, and on request their indices in the flattened input. */
function maxPool(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const { kernel, window, ceil } = getPooling(call, x);
  return call.builder.addAll({ kind: "max-pool", kernel, ceil, columnMajor: call.int("storage_order", 0) === 1, ...window }, x);
}

/** ONNX AveragePool, in the type of x. */
export function averagePool(call: OperatorCall, x: Value): Value {
  const { kernel, window, ceil } = getPooling(call, x);
  const countPadding = call.int("count_include_pad", 0) === 1;
  return call.add({ kind: "average-pool", kernel, ceil, countPadding, ...window }, x);
}

/** ONNX GlobalAveragePool, in the type of x. */
export function globalAveragePool(call: OperatorCall, x: Value): Value {
  return call.reduce("mean", x, spatialAxes(x), true);
}

/** ONNX LpPool: (sum |x|^p)^(1/p) over windows. The sums are a convolution with ones, channel by channel. */
const lpPool = computeWidened((call, x) => {
  const { kernel, window, ceil } = getPooling(call, x);
  const [batch = 0, channels = 0, ...sizes] = x.type.shape;
  const powered = power(call, call.unary("abs", x), getExponent(call));
  const single = call.reshape(powered, [batch * channels, 1, ...sizes]);
  const ones = call.add({ kind: "expand", shape: [1, 1, ...kernel] }, call.scalar(1, x.type.dataType));
  const pads = ceil ? extendedPads(sizes, kernel, window) : window.pads;
  const sums = call.add({ kind: "convolution", groups: 1, ...window, pads }, single, ones);
  return root(call, call.reshape(sums, [batch, channels, ...sums.type.shape.slice(2)]), getExponent(call));
});

/** Padding for `ceil_mode`: extended at the end so that the last window that starts inside also ends inside. */
function extendedPads(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
): readonly number[] {
  const rank = sizes.length;
  const travel = windowTravel(sizes, kernel, { strides, dilations, pads });
  return pads.map((pad, index) => {
    if (index < rank) return pad;
    const axis = index - rank;
    const reach = at(travel, axis);
    const last = Math.ceil(reach / at(strides, axis)) * at(strides, axis);
    return last > reach && last < at(sizes, axis) + at(pads, axis) ? pad + last - reach : pad;
  });
}

/** The exponent p: a float attribute in version 1, an integer from 2 on. */
function getExponent(call: OperatorCall): number {
  const p = call.version < 2 ? call.float("p", 2) : call.int("p", 2);
  if (!(p > 0)) throw new Error(`p is ${p}, and must be positive`);
  return p;
}

function power(call: OperatorCall, x: Value, p: number): Value {
  return p === 1 ? x : p === 2 ? call.binary("mul", x, x) : call.binary("pow", x, p);
}

function root(call: OperatorCall, x: Value, p: number): Value {
  return p === 1 ? x : p === 2 ? call.unary("sqrt", x) : call.binary("pow", x, 1 / p);
}

function spatialAxes(x: Value): readonly number[] {
  return Array.from({ length: x.type.shape.length - 2 }, (_, axis) => axis + 2);
}

/** ONNX GlobalLpPool. */
const globalLpPool = computeWidened((call, x) => {
  const p = getExponent(call);
  return root(call, call.reduce("sum", power(call, call.unary("abs", x), p), spatialAxes(x), true), p);
});

/** ONNX MaxUnpool: writes the elements of X at the indices I of the output that the windows imply; a larger output_shape adds zeros at the end. */
function maxUnpool(call: OperatorCall): Value {
  const x = call.tensor(0);
  const sizes = x.type.shape.slice(2);
  const kernel = kernelShape(call);
  const strides = call.ints("strides") ?? sizes.map(() => 1);
  const pads = call.ints("pads") ?? sizes.flatMap(() => [0, 0]);
  checkWindow({ strides, dilations: sizes.map(() => 1), pads }, sizes.length);
  const spatial = transposedWindowSizes(sizes, kernel, { strides, dilations: sizes.map(() => 1), pads });
  const implied = [...x.type.shape.slice(0, 2), ...spatial];
  if (implied.some((size) => size < 0)) throw new Error(`pads [${pads.join(", ")}] exceed the output [${spatial.join(", ")}]`);
  const zeros = call.zeros(x.type.dataType, [elementCount(implied)]);
  const indices = call.reshape(call.tensor(1), [elementCount(x.type.shape)]);
  const flat = call.add(
    { kind: "scatter-elements", axis: 0, reduction: "none" },
    zeros,
    indices,
    call.reshape(x, indices.type.shape),
  );
  const result = call.reshape(flat, implied);
  const wanted = call.knownIntegersIfGiven(2);
  if (wanted === undefined || wanted.join() === implied.join()) return result;
  const after = implied.map((size, axis) => (wanted[axis] ?? 0) - size);
  if (wanted.length !== implied.length || after.some((count) => count < 0))
    throw new Error(`output_shape [${wanted.join(", ")}] is smaller than the windows, [${implied.join(", ")}]`);
  return call.add(
    { kind: "pad", mode: "constant", before: implied.map(() => 0), after },
    result,
    call.scalar(0, x.type.dataType),
  );
}

/** ONNX MaxRoiPool: each region [batch index, x1, y1, x2, y2] is divided into as many parts as the output has elements, and the maximum of each taken. */
function maxRoiPool(call: OperatorCall): Value {
  const x = call.tensor(0);
  const [, channels = 0, height = 0, width = 0] = x.type.shape;
  const [rows = 0, columns = 0] = call.ints("pooled_shape") ?? [];
  const scale = call.float("spatial_scale", 1);
  const rois = call.knownData(1);
  call.builder.checkSize({ dataType: x.type.dataType, shape: [at(rois.shape, 0), channels, rows, columns] });
  call.builder.reserve({ dataType: "float64", shape: [at(rois.shape, 0), rows, columns] });
  const numbers = Array.from(rois.data as Float32Array, Number);
  if (rois.dataType !== "float32") throw new Error(`the boxes are ${rois.dataType}, and only float32 is supported`);
  const boxes = Array.from({ length: at(rois.shape, 0) }, (_, box) => {
    const [batch = 0, ...corners] = numbers.slice(box * 5, box * 5 + 5);
    const [left = 0, top = 0, right = 0, bottom = 0] = corners.map((corner) => Math.round(corner * scale));
    const parts = Array.from({ length: rows * columns }, (_, part) => {
      const [row, column] = [Math.floor(part / columns), part % columns];
      const [y0, y1] = getPart(row, rows, top, bottom, height);
      const [x0, x1] = getPart(column, columns, left, right, width);
      if (y1 <= y0 || x1 <= x0) return call.zeros(x.type.dataType, [1, channels, 1]);
      const starts = [batch, 0, y0, x0];
      const window = call.add({ kind: "slice", starts, steps: [1, 1, 1, 1], sizes: [1, channels, y1 - y0, x1 - x0] }, x);
      return call.reshape(call.reduce("max", window, [2, 3], true), [1, channels, 1]);
    });
    return call.reshape(call.add({ kind: "concat", axis: 2 }, ...parts), [1, channels, rows, columns]);
  });
  return call.add({ kind: "concat", axis: 0 }, ...boxes);
}

/** The range of pixels [first, last) of one of the parts along an axis. */
function getPart(part: number, parts: number, from: number, to: number, size: number): readonly [number, number] {
  const step = Math.max(to - from + 1, 1) / parts;
  const inside = (offset: number): number => Math.min(Math.max(offset + from, 0), size);
  return [inside(Math.floor(part * step)), inside(Math.ceil((part + 1) * step))];
}

/** Translates pooling operators of ai.onnx, such as MaxPool, AveragePool and MaxRoiPool, to graph operations. */
export const pooling: OperatorFamily = {
  MaxPool: since(1, maxPool),
  AveragePool: since(1, computeWidened(averagePool)),
  LpPool: since(1, lpPool),
  GlobalMaxPool: since(1, (call) => call.reduce("max", call.tensor(0), spatialAxes(call.tensor(0)), true)),
  GlobalAveragePool: since(1, computeWidened(globalAveragePool)),
  GlobalLpPool: since(1, globalLpPool),
  MaxUnpool: since(9, maxUnpool),
  MaxRoiPool: since(1, maxRoiPool),
};
