/** Operators that look at shapes or move elements and change none. */
import { at } from "../../../../checked.ts";
import { elementCount } from "../../../../tensor.ts";
import { broadcastShape } from "../../../ir/broadcast.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, literalOf } from "../../../ir/literal.ts";
import { normalizeAxes, normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

function shape(call: OperatorCall): Value {
  const { shape } = call.tensor(0).type;
  const start = clamped(call.int("start", 0), shape.length);
  const end = clamped(call.int("end", shape.length), shape.length);
  return call.builder.constant(int64Literal(shape.slice(start, Math.max(start, end))));
}

/** An end of a range, from 0 to the length; negative ones are counted from the end. */
function clamped(at: number, length: number): number {
  return Math.min(Math.max(at < 0 ? at + length : at, 0), length);
}

function reshape(call: OperatorCall): Value {
  const x = call.tensor(0);
  const written = call.version < 5 ? (call.ints("shape") ?? []) : call.knownIntegers(1);
  const keepZero = call.int("allowzero", 0) === 1;
  const sizes = written.map((size, axis) => (size === 0 && !keepZero ? (x.type.shape[axis] ?? 0) : size));
  const open = sizes.indexOf(-1);
  if (open >= 0) {
    const others = elementCount(sizes.with(open, 1));
    sizes[open] = others === 0 ? 0 : elementCount(x.type.shape) / others;
  }
  if (sizes.some((size) => !Number.isInteger(size) || size < 0))
    throw new Error(`[${written.join(", ")}] is no shape for [${x.type.shape.join(", ")}]`);
  return call.reshape(x, sizes);
}

function flatten(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const axis = call.int("axis", 1);
  const at = axis < 0 ? axis + shape.length : axis;
  return call.reshape(x, [elementCount(shape.slice(0, at)), elementCount(shape.slice(at))]);
}

/** Axes are an attribute up to version 12 and an input from 13 on. */
function axesArgument(call: OperatorCall): readonly number[] | undefined {
  return call.version < 13 ? call.ints("axes") : call.knownIntegersIfGiven(1);
}

function squeeze(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const written = axesArgument(call);
  const axes =
    written === undefined ? [...shape.keys()].filter((axis) => shape[axis] === 1) : normalizeAxes(written, shape.length);
  if (axes.some((axis) => shape[axis] !== 1)) throw new Error(`it drops the axes [${axes.join(", ")}] of [${shape.join(", ")}]`);
  return call.reshape(
    x,
    shape.filter((_, axis) => !axes.includes(axis)),
  );
}

function unsqueeze(call: OperatorCall): Value {
  const x = call.tensor(0);
  const written = axesArgument(call) ?? [];
  const rank = x.type.shape.length + written.length;
  const axes = normalizeAxes(written, rank);
  const sizes = [...x.type.shape];
  return call.reshape(
    x,
    Array.from({ length: rank }, (_, axis) => (axes.includes(axis) ? 1 : (sizes.shift() ?? 1))),
  );
}

function transpose(call: OperatorCall): Value {
  const x = call.tensor(0);
  return call.transpose(x, call.ints("perm") ?? [...x.type.shape.keys()].reverse());
}

function concat(call: OperatorCall): Value {
  const tensors = call.tensors();
  const axis = normalizeAxis(call.int("axis", 0), tensors[0]?.type.shape.length ?? 0);
  return tensors.length === 1 ? call.tensor(0) : call.add({ kind: "concat", axis }, ...tensors);
}

function split(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", 0), x.type.shape.length);
  const length = x.type.shape[axis] ?? 0;
  const stated = call.version < 13 ? call.ints("split") : call.knownIntegersIfGiven(1);
  const parts = call.int("num_outputs", call.node.outputs.length);
  if (!(parts >= 1 && parts <= call.node.outputs.length))
    throw new Error(`it has ${call.node.outputs.length} outputs and states ${parts}`);
  const each = Math.ceil(length / parts); // the last one may be shorter
  const sizes = stated ?? Array.from({ length: parts }, (_, part) => Math.min(each, length - part * each));
  if (sizes.some((size) => size < 0) || sizes.reduce((sum, size) => sum + size, 0) !== length) {
    throw new Error(`it splits ${length} into [${sizes.join(", ")}]`);
  }
  let start = 0;
  return sizes.map((size) => {
    const part = call.slice(x, axis, start, size);
    start += size;
    return part;
  });
}

/** Starts, ends, axes and steps are attributes up to version 9 and inputs from 10 on. */
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
  for (const [index, written] of axes.entries()) {
    const axis = normalizeAxis(written, shape.length);
    const length = shape[axis] ?? 0;
    const step = strides[index] ?? 1;
    if (step === 0) throw new Error("it steps by 0");
    const [begin = 0, end = 0] = [begins[index], ends[index]].map((at = 0) => (at < 0 ? at + length : at));
    // Going down, an end of -1 stands before the first element.
    const start = Math.min(Math.max(begin, 0), step < 0 ? length - 1 : length);
    const stop = step < 0 ? Math.min(Math.max(end, -1), length - 1) : Math.min(Math.max(end, 0), length);
    starts[axis] = start;
    steps[axis] = step;
    sizes[axis] = Math.max(0, Math.ceil((stop - start) / step));
  }
  return call.add({ kind: "slice", starts: starts.map((start, axis) => (sizes[axis] === 0 ? 0 : start)), steps, sizes }, x);
}

function expand(call: OperatorCall): Value {
  const x = call.tensor(0);
  return call.add({ kind: "expand", shape: broadcastShape(x.type.shape, call.knownIntegers(1)) }, x);
}

function tile(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape } = x.type;
  const repeats = call.knownIntegers(1);
  // [a, b] repeated [m, n] times is [1, a, 1, b] broadcast to [m, a, n, b].
  const apart = call.reshape(
    x,
    shape.flatMap((size) => [1, size]),
  );
  const repeated = call.add({ kind: "expand", shape: shape.flatMap((size, axis) => [repeats[axis] ?? 1, size]) }, apart);
  return call.reshape(
    repeated,
    shape.map((size, axis) => size * (repeats[axis] ?? 1)),
  );
}

/** Pads are an attribute up to version 10 and an input from 11 on; negative ones cut. */
function pad(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { shape, dataType } = x.type;
  const mode = call.string("mode", "constant");
  if (mode !== "constant" && mode !== "reflect" && mode !== "edge" && mode !== "wrap")
    throw new Error(`its mode "${mode}" is unknown`);
  const old = call.version < 11;
  const pads = old ? (call.ints("pads") ?? []) : call.knownIntegers(1);
  const axes = ((old ? undefined : call.knownIntegersIfGiven(3)) ?? [...shape.keys()]).map((axis) =>
    normalizeAxis(axis, shape.length),
  );
  if (pads.length !== 2 * axes.length) throw new Error(`it has ${pads.length} pads for ${axes.length} axes`);
  const before = shape.map(() => 0);
  const after = shape.map(() => 0);
  for (const [index, axis] of axes.entries()) {
    before[axis] = pads[index] ?? 0;
    after[axis] = pads[index + axes.length] ?? 0;
  }
  const cut = call.add(
    {
      kind: "slice",
      starts: before.map((count) => Math.max(0, -count)),
      steps: shape.map(() => 1),
      sizes: shape.map((size, axis) => size + Math.min(0, before[axis] ?? 0) + Math.min(0, after[axis] ?? 0)),
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

function gather(call: OperatorCall): Value {
  const data = call.tensor(0);
  return call.add({ kind: "gather", axis: normalizeAxis(call.int("axis", 0), data.type.shape.length) }, data, call.tensor(1));
}

function gatherElements(call: OperatorCall): Value {
  const data = call.tensor(0);
  return call.add(
    { kind: "gather-elements", axis: normalizeAxis(call.int("axis", 0), data.type.shape.length) },
    data,
    call.tensor(1),
  );
}

function scatterReduction(call: OperatorCall): "none" | "add" | "mul" | "min" | "max" {
  const reduction = call.string("reduction", "none");
  if (reduction === "none" || reduction === "add" || reduction === "mul" || reduction === "min" || reduction === "max")
    return reduction;
  throw new Error(`its reduction "${reduction}" is unknown`);
}

function scatterElements(call: OperatorCall): Value {
  const data = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", 0), data.type.shape.length);
  return call.add({ kind: "scatter-elements", axis, reduction: scatterReduction(call) }, data, call.tensor(1), call.tensor(2));
}

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
  return call.add({ kind: "gather-elements", axis: timeAxis }, x, call.builder.constant(literalOf("int64", shape, sources)));
}

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
