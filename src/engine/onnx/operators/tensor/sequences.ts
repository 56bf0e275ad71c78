/** Sequences and optionals. They exist only while a model is traced; the graph contains tensors only. */
import { at, omitUndefined } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, toLiteral, toIntegers } from "../../../ir/literal.ts";
import { isOptional, isSequence, isTensor, type TracedValue } from "../../../build/traced-value.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** The items of a sequence input. */
function getItems(call: OperatorCall, index: number): readonly TracedValue[] {
  const input = call.input(index);
  if (!isSequence(input)) throw new Error(`input ${index} is not a sequence`);
  return input.items;
}

/** A constant position in a sequence; a negative one counts from the end. Up to `length`, the position after the last item. */
function getPosition(call: OperatorCall, index: number, length: number): number {
  const stated = at(call.knownIntegers(index), 0);
  const position = stated < 0 ? stated + length : stated;
  if (!(position >= 0 && position <= length)) throw new Error(`position ${stated} is out of range for a sequence of ${length}`);
  return position;
}

/** ONNX SequenceAt. */
function itemAt(call: OperatorCall): readonly TracedValue[] {
  const items = getItems(call, 0);
  const item = items[getPosition(call, 1, items.length)];
  if (item === undefined) throw new Error(`the position is out of range for a sequence of ${items.length}`);
  return [item];
}

/** ONNX SequenceInsert: by default at the end. */
function insert(call: OperatorCall): readonly TracedValue[] {
  const items = getItems(call, 0);
  const position = call.inputIfGiven(2) === undefined ? items.length : getPosition(call, 2, items.length);
  return [{ items: items.toSpliced(position, 0, call.input(1)) }];
}

/** ONNX SequenceErase: by default the last item. */
function erase(call: OperatorCall): readonly TracedValue[] {
  const items = getItems(call, 0);
  const position = call.inputIfGiven(1) === undefined ? items.length - 1 : getPosition(call, 1, items.length);
  if (position < 0 || position >= items.length) throw new Error(`the position is out of range for a sequence of ${items.length}`);
  return [{ items: items.toSpliced(position, 1) }];
}

/** ONNX SequenceMap: inlines the body for each item. Other sequence inputs give the item at the same position, tensor inputs are passed whole. */
function map(call: OperatorCall): readonly TracedValue[] {
  const body = call.graph("body");
  const length = getItems(call, 0).length;
  const inputs = Array.from({ length: call.inputCount }, (_, index) => call.input(index));
  const lists: TracedValue[][] = call.node.outputs.map(() => []);
  for (let position = 0; position < length; position += 1) {
    call.builder.count();
    const given = inputs.map((input) => {
      const item = isSequence(input) ? input.items[position] : input;
      if (item === undefined) throw new Error(`an input sequence has no item ${position}`);
      return item;
    });
    for (const [index, value] of call.subgraphs.trace(body, given).entries()) lists[index]?.push(value);
  }
  return lists.map((items) => ({ items }));
}

/** ONNX SplitToSequence: parts of given sizes, of one size (the last may be smaller), or without sizes one part per index. */
function split(call: OperatorCall): readonly TracedValue[] {
  const x = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", 0), x.type.shape.length);
  const length = at(x.type.shape, axis);
  const keep = call.int("keepdims", 1) === 1;
  if (call.inputIfGiven(1) === undefined) {
    call.builder.reserve({ dataType: "int64", shape: [length] });
    const parts = Array.from({ length }, (_, index) => call.slice(x, axis, index, 1));
    return [{ items: keep ? parts : parts.map((part) => call.reshape(part, x.type.shape.toSpliced(axis, 1))) }];
  }
  const sizes = partSizes(call, length);
  let start = 0;
  const items = sizes.map((size) => {
    const part = call.slice(x, axis, start, size);
    start += size;
    return part;
  });
  return [{ items }];
}

/** The sizes of the parts, from the second input. */
function partSizes(call: OperatorCall, length: number): readonly number[] {
  const literal = call.known(1);
  const stated = toIntegers(literal);
  if (literal.shape.length === 0) {
    const [size = 0] = stated;
    if (size <= 0) throw new Error(`parts of ${size} elements are invalid`);
    call.builder.reserve({ dataType: "int64", shape: [Math.ceil(length / size)] });
    return Array.from({ length: Math.ceil(length / size) }, (_, part) => Math.min(size, length - part * size));
  }
  if (stated.some((size) => size < 0) || stated.reduce((sum, size) => sum + size, 0) !== length) {
    throw new Error(`split [${stated.join(", ")}] does not add up to ${length}`);
  }
  return stated;
}

/** ONNX ConcatFromSequence: joined along an existing axis or stacked along a new one. */
function concat(call: OperatorCall): Value {
  const items = getItems(call, 0).map((item) => {
    if (!isTensor(item)) throw new Error("the sequence contains a value that is not a tensor");
    return item;
  });
  const [first] = items;
  if (first === undefined) throw new Error("the sequence is empty");
  const stacked = call.int("new_axis", 0) === 1;
  const axis = normalizeAxis(call.int("axis", 0), first.type.shape.length + (stacked ? 1 : 0));
  const parts = stacked ? items.map((item) => call.reshape(item, item.type.shape.toSpliced(axis, 0, 1))) : items;
  return parts.length === 1 ? (parts[0] ?? first) : call.add({ kind: "concat", axis }, ...parts);
}

/** ONNX Optional: of a value, or empty. */
function optional(call: OperatorCall): readonly TracedValue[] {
  call.ignore("type");
  const content = call.inputIfGiven(0);
  return [{ optional: true, ...omitUndefined({ content }) }];
}

/** ONNX OptionalHasElement; true for a value that is not an optional. */
function hasElement(call: OperatorCall): Value {
  const input = call.inputIfGiven(0);
  const there = input !== undefined && (!isOptional(input) || input.content !== undefined);
  return call.builder.constant(toLiteral("bool", [], [Number(there)]));
}

/** ONNX OptionalGetElement; a value that is not an optional is returned as it is. */
function getElement(call: OperatorCall): readonly TracedValue[] {
  const input = call.input(0);
  if (!isOptional(input)) return [input];
  if (input.content === undefined) throw new Error("the optional is empty");
  return [input.content];
}

/**
 * Translates operators on sequences and optionals of ai.onnx, such as SequenceAt. Sequences exist only while the model is traced; the graph has
 * tensors alone.
 */
export const sequences: OperatorFamily = {
  SequenceConstruct: since(11, (call) => [{ items: Array.from({ length: call.inputCount }, (_, index) => call.input(index)) }]),
  SequenceEmpty: since(11, (call) => {
    call.ignore("dtype");
    return [{ items: [] }];
  }),
  SequenceAt: since(11, itemAt),
  SequenceInsert: since(11, insert),
  SequenceErase: since(11, erase),
  SequenceLength: since(11, (call) => call.builder.constant(int64Literal([getItems(call, 0).length], []))),
  SequenceMap: since(17, map),
  SplitToSequence: since(11, split),
  ConcatFromSequence: since(11, concat),
  Optional: since(15, optional),
  OptionalHasElement: since(15, hasElement),
  OptionalGetElement: since(15, getElement),
};
