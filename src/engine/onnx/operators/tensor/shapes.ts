/** Operators on shapes, and operators that move elements without changing them. Definitions: https://onnx.ai/onnx/operators/. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { broadcastShape } from "../../../ir/broadcast.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, toLiteral } from "../../../ir/literal.ts";
import { normalizeAxes, normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** ONNX Shape: the shape as a constant, from version 15 on a range of it. */
function shape(call: OperatorCall): Value {
  const { shape } = call.tensor(0).type;
  const start = clamped(call.int("start", 0), shape.length);
  const end = clamped(call.int("end", shape.length), shape.length);
  return call.builder.constant(int64Literal(shape.slice(start, Math.max(start, end))));
}

/** A bound of a range, clamped to 0..length; a negative one counts from the end. */
function clamped(bound: number, length: number): number {
  return Math.min(Math.max(bound < 0 ? bound + length : bound, 0), length);
}

/** ONNX Reshape. The shape is an attribute before version 5. 0 keeps an axis unless `allowzero` is set, -1 is inferred. */
function reshape(call: OperatorCall): Value {
  const x = call.tensor(0);
  const stated = call.version < 5 ? (call.ints("shape") ?? []) : call.knownIntegers(1);
  const keepZero = call.int("allowzero", 0) === 1;
  const sizes = stated.map((size, axis) => (size === 0 && !keepZero ? at(x.type.shape, axis) : size));
  const open = sizes.indexOf(-1);
  if (open >= 0) {
    const others = elementCount(sizes.with(open, 1));
    sizes[open] = others === 0 ? 0 : elementCount(x.type.shape) / others;
  }
  if (sizes.some((size) => !Number.isInteger(size) || size < 0))
    throw new Error(`[${x.type.shape.join(", ")}] cannot be reshaped to [${stated.join(", ")}]`);
  return call.reshape(x, sizes);
}

/** ONNX Flatten: a matrix whose columns begin at the axis. */
function flatten(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const axis = call.int("axis", 1);
  const split = axis < 0 ? axis + shape.length : axis;
  return call.reshape(x, [elementCount(shape.slice(0, split)), elementCount(shape.slice(split))]);
}

/** The axes of Squeeze and Unsqueeze: an attribute up to version 12 and an input from 13 on. */
function axesArgument(call: OperatorCall): readonly number[] | undefined {
  return call.version < 13 ? call.ints("axes") : call.knownIntegersIfGiven(1);
}

/** ONNX Squeeze: removes the given axes, or all of size 1. */
function squeeze(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const stated = axesArgument(call);
  const axes = stated === undefined ? [...shape.keys()].filter((axis) => shape[axis] === 1) : normalizeAxes(stated, shape.length);
  if (axes.some((axis) => shape[axis] !== 1))
    throw new Error(`axes [${axes.join(", ")}] of [${shape.join(", ")}] cannot be removed: one is not of size 1`);
  return call.reshape(
    x,
    shape.filter((_, axis) => !axes.includes(axis)),
  );
}

/** ONNX Unsqueeze: inserts axes of size 1. */
function unsqueeze(call: OperatorCall): Value {
  const x = call.tensor(0);
  const stated = axesArgument(call) ?? [];
  const rank = x.type.shape.length + stated.length;
  const axes = normalizeAxes(stated, rank);
  const sizes = [...x.type.shape];
  return call.reshape(
    x,
    Array.from({ length: rank }, (_, axis) => (axes.includes(axis) ? 1 : (sizes.shift() ?? 1))),
  );
}

/** ONNX Transpose; reverses the axes by default. */
function transpose(call: OperatorCall): Value {
  const x = call.tensor(0);
  return call.transpose(x, call.ints("perm") ?? [...x.type.shape.keys()].reverse());
}

/** ONNX Concat. */
function concat(call: OperatorCall): Value {
  const tensors = call.tensors();
  const axis = normalizeAxis(call.int("axis", 0), at(tensors, 0).type.shape.length);
  return tensors.length === 1 ? call.tensor(0) : call.add({ kind: "concat", axis }, ...tensors);
}

/** ONNX Split: sizes are an attribute up to version 12 and an input from 13 on; by default equal parts, of which the last may be smaller. */
function split(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", 0), x.type.shape.length);
  const length = at(x.type.shape, axis);
  const stated = call.version < 13 ? call.ints("split") : call.knownIntegersIfGiven(1);
  const parts = call.int("num_outputs", call.node.outputs.length);
  if (!(parts >= 1 && parts <= call.node.outputs.length))
    throw new Error(`num_outputs is ${parts}, and the node has ${call.node.outputs.length} outputs`);
  const each = Math.ceil(length / parts); // the last part may be smaller
  const sizes = stated ?? Array.from({ length: parts }, (_, part) => Math.min(each, length - part * each));
  if (sizes.some((size) => size < 0) || sizes.reduce((sum, size) => sum + size, 0) !== length) {
    throw new Error(`split [${sizes.join(", ")}] does not add up to ${length}`);
  }
  let start = 0;
  return sizes.map((size) => {
    const part = call.slice(x, axis, start, size);
    start += size;
    return part;
  });
}

/** ONNX Slice. Starts, ends and axes are attributes up to version 9; from 10 on they and steps are inputs. */
function slice(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const attributes = call.version < 10;
  const begins = attributes ? (call.ints("starts") ?? []) : call.knownIntegers(1);
  const ends = attributes ? (call.ints("ends") ?? []) : call.knownIntegers(2);
  const axes = (attributes ? call.ints("axes") : call.knownIntegersIfGiven(3)) ?? [...begins.keys()];
  const strides = (attributes ? undefined : call.knownIntegersIfGiven(4)) ?? begins.map(() => 1);
  const starts = shape.map(() => 0);
  const steps = shape.map(() => 1);
  const sizes = [...shape];
  for (const [index, stated] of axes.entries()) {
    const axis = normalizeAxis(stated, shape.length);
    const length = at(shape, axis);
    const step = strides[index] ?? 1;
    if (step === 0) throw new Error("a step is 0");
    const [begin = 0, end = 0] = [begins[index], ends[index]].map((bound = 0) => (bound < 0 ? bound + length : bound));
    // With a negative step, a stop of -1 is before the first element.
    const start = Math.min(Math.max(begin, 0), step < 0 ? length - 1 : length);
    const stop = step < 0 ? Math.min(Math.max(end, -1), length - 1) : Math.min(Math.max(end, 0), length);
    starts[axis] = start;
    steps[axis] = step;
    sizes[axis] = Math.max(0, Math.ceil((stop - start) / step));
  }
  return call.add({ kind: "slice", starts: starts.map((start, axis) => (sizes[axis] === 0 ? 0 : start)), steps, sizes }, x);
}

/** ONNX Expand: broadcast with the given shape. */
function expand(call: OperatorCall): Value {
  const x = call.tensor(0);
  return call.add({ kind: "expand", shape: broadcastShape(x.type.shape, call.knownIntegers(1)) }, x);
}

/** ONNX Tile: the tensor repeated along each axis. */
function tile(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const repeats = call.knownIntegers(1);
  // [a, b] repeated m and n times is [1, a, 1, b] broadcast to [m, a, n, b].
  const apart = call.reshape(
    x,
    shape.flatMap((size) => [1, size]),
  );
  const repeated = call.add({ kind: "expand", shape: shape.flatMap((size, axis) => [at(repeats, axis), size]) }, apart);
  return call.reshape(
    repeated,
    shape.map((size, axis) => size * at(repeats, axis)),
  );
}

/** ONNX Pad. Pads are an attribute up to version 10 and an input from 11 on; negative ones crop. */
function pad(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape, dataType } = x.type;
  const mode = call.string("mode", "constant");
  if (mode !== "constant" && mode !== "reflect" && mode !== "edge" && mode !== "wrap")
    throw new Error(`mode "${mode}" is unknown`);
  const old = call.version < 11;
  const pads = old ? (call.ints("pads") ?? []) : call.knownIntegers(1);
  const axes = ((old ? undefined : call.knownIntegersIfGiven(3)) ?? [...shape.keys()]).map((axis) =>
    normalizeAxis(axis, shape.length),
  );
  if (pads.length !== 2 * axes.length) throw new Error(`${pads.length} pads are given for ${axes.length} axes`);
  const before = shape.map(() => 0);
  const after = shape.map(() => 0);
  for (const [index, axis] of axes.entries()) {
    before[axis] = at(pads, index);
    after[axis] = at(pads, index + axes.length);
  }
  const cut = call.add(
    {
      kind: "slice",
      starts: before.map((count) => Math.max(0, -count)),
      steps: shape.map(() => 1),
      sizes: shape.map((size, axis) => size + Math.min(0, at(before, axis)) + Math.min(0, at(after, axis))),
    },
    x,
  );
  const grown = { before: before.map((count) => Math.max(0, count)), after: after.map((count) => Math.max(0, count)) };
  if (mode !== "constant") {
    call.ignore("value");
    return call.add({ kind: "pad", mode, ...grown }, cut);
  }
  const value = old ? call.scalar(call.float("value", 0), dataType) : (call.tensorIfGiven(2) ?? fill(call));
  return call.add({ kind: "pad", mode, ...grown }, cut, call.reshape(value, []));

  function fill(call: OperatorCall): Value {
    return dataType === "string" ? call.builder.constant({ dataType, shape: [], data: [""] }) : call.scalar(0, dataType);
  }
}

/** ONNX Gather. */
function gather(call: OperatorCall): Value {
  const data = call.tensor(0);
  return call.add({ kind: "gather", axis: normalizeAxis(call.int("axis", 0), data.type.shape.length) }, data, call.tensor(1));
}

/** ONNX GatherElements. */
function gatherElements(call: OperatorCall): Value {
  const data = call.tensor(0);
  return call.add(
    { kind: "gather-elements", axis: normalizeAxis(call.int("axis", 0), data.type.shape.length) },
    data,
    call.tensor(1),
  );
}

/** The attribute reduction. Throws if it is unknown. */
function scatterReduction(call: OperatorCall): "none" | "add" | "mul" | "min" | "max" {
  const reduction = call.string("reduction", "none");
  if (reduction === "none" || reduction === "add" || reduction === "mul" || reduction === "min" || reduction === "max")
    return reduction;
  throw new Error(`reduction "${reduction}" is unknown`);
}

/** ONNX ScatterElements, and Scatter, its name before version 11. */
function scatterElements(call: OperatorCall): Value {
  const data = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", 0), data.type.shape.length);
  return call.add({ kind: "scatter-elements", axis, reduction: scatterReduction(call) }, data, call.tensor(1), call.tensor(2));
}

/** ONNX ScatterND. */
function scatterNd(call: OperatorCall): Value {
  return call.add({ kind: "scatter-nd", reduction: scatterReduction(call) }, call.tensor(0), call.tensor(1), call.tensor(2));
}

/** ONNX ReverseSequence: reverses the first `sequence_lens[b]` elements of each batch entry along the time axis. */
function reverseSequence(call: OperatorCall): Value {
  const x = call.tensor(0);
  const lengths = call.knownIntegers(1);
  const [timeAxis, batchAxis] = [call.int("time_axis", 0), call.int("batch_axis", 1)];
  const { shape } = x.type;
  call.builder.reserve({ dataType: "int64", shape });
  const [timeStride, batchStride] = [elementCount(shape.slice(timeAxis + 1)), elementCount(shape.slice(batchAxis + 1))];
  const sources = Float64Array.from({ length: elementCount(shape) }, (_, index) => {
    const time = Math.floor(index / timeStride) % at(shape, timeAxis);
    const length = at(lengths, Math.floor(index / batchStride) % at(shape, batchAxis));
    return time < length ? length - 1 - time : time;
  });
  return call.add({ kind: "gather-elements", axis: timeAxis }, x, call.builder.constant(toLiteral("int64", shape, sources)));
}

/** Translates operators of ai.onnx that read shapes or move elements, such as Reshape, Transpose, Slice, Gather and Pad, to graph operations. */
export const shapes: OperatorFamily = {
  Identity: since(1, (call) => [call.input(0)]),
  Shape: since(1, shape),
  Size: since(1, (call) => call.builder.constant(int64Literal([elementCount(call.tensor(0).type.shape)], []))),
  Reshape: since(1, reshape),
  Flatten: since(1, flatten),
  Squeeze: since(1, squeeze),
  Unsqueeze: since(1, unsqueeze),
  Transpose: since(1, transpose),
  Concat: since(4, concat),
  Split: since(2, split),
  Slice: since(1, slice),
  Expand: since(8, expand),
  Tile: since(6, tile),
  Pad: since(2, pad),
  Gather: since(1, gather),
  GatherElements: since(11, gatherElements),
  GatherND: since(11, (call) =>
    call.add({ kind: "gather-nd", batchAxes: call.int("batch_dims", 0) }, call.tensor(0), call.tensor(1)),
  ),
  ReverseSequence: since(10, reverseSequence),
  Scatter: since(9, scatterElements),
  ScatterElements: since(11, scatterElements),
  ScatterND: since(11, scatterNd),
};
