/** Lists of tensors, and values that may be missing. They exist only while a model is traced: no program holds them. */
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, literalOf, integersOf } from "../../../ir/literal.ts";
import { isOptional, isSequence, isTensor, type TracedValue } from "../../../build/traced-value.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

function itemsOf(call: OperatorCall, index: number): readonly TracedValue[] {
  const input = call.input(index);
  if (!isSequence(input)) throw new Error(`its input ${index} is no sequence`);
  return input.items;
}

/** A position in a list, counted from the end where it is negative; `length` itself is the place behind the last item. */
function positionOf(call: OperatorCall, index: number, length: number): number {
  const [written] = call.knownIntegers(index);
  const position = (written ?? 0) < 0 ? (written ?? 0) + length : (written ?? 0);
  if (!(position >= 0 && position <= length)) throw new Error(`there is no place ${written} in a sequence of ${length}`);
  return position;
}

function at(call: OperatorCall): readonly TracedValue[] {
  const items = itemsOf(call, 0);
  const item = items[positionOf(call, 1, items.length)];
  if (item === undefined) throw new Error(`a sequence of ${items.length} ends before that place`);
  return [item];
}

function insert(call: OperatorCall): readonly TracedValue[] {
  const items = itemsOf(call, 0);
  const position = call.inputIfGiven(2) === undefined ? items.length : positionOf(call, 2, items.length);
  return [{ items: items.toSpliced(position, 0, call.input(1)) }];
}

function erase(call: OperatorCall): readonly TracedValue[] {
  const items = itemsOf(call, 0);
  const position = call.inputIfGiven(1) === undefined ? items.length - 1 : positionOf(call, 1, items.length);
  if (position < 0 || position >= items.length) throw new Error(`a sequence of ${items.length} ends before that place`);
  return [{ items: items.toSpliced(position, 1) }];
}

/** The body is traced for each item; of other sequences it sees the item at the same place, other tensors whole. */
function map(call: OperatorCall): readonly TracedValue[] {
  const body = call.graph("body");
  const length = itemsOf(call, 0).length;
  const inputs = Array.from({ length: call.inputCount }, (_, index) => call.input(index));
  const lists: TracedValue[][] = call.node.outputs.map(() => []);
  for (let place = 0; place < length; place += 1) {
    call.builder.count();
    const given = inputs.map((input) => {
      const item = isSequence(input) ? input.items[place] : input;
      if (item === undefined) throw new Error(`one of its sequences ends before the place ${place}`);
      return item;
    });
    for (const [index, value] of call.subgraphs.trace(body, given).entries()) lists[index]?.push(value);
  }
  return lists.map((items) => ({ items }));
}

/** Parts of one axis: of stated sizes, of one size (the last may be shorter), or without a size each index by itself. */
function split(call: OperatorCall): readonly TracedValue[] {
  const x = call.tensor(0);
  const axis = normalizeAxis(call.int("axis", 0), x.type.shape.length);
  const length = x.type.shape[axis] ?? 0;
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

function partSizes(call: OperatorCall, length: number): readonly number[] {
  const literal = call.known(1);
  const stated = integersOf(literal);
  if (literal.shape.length === 0) {
    const [size = 0] = stated;
    if (size <= 0) throw new Error(`it splits into parts of ${size}`);
    call.builder.reserve({ dataType: "int64", shape: [Math.ceil(length / size)] });
    return Array.from({ length: Math.ceil(length / size) }, (_, part) => Math.min(size, length - part * size));
  }
  if (stated.some((size) => size < 0) || stated.reduce((sum, size) => sum + size, 0) !== length) {
    throw new Error(`it splits ${length} into [${stated.join(", ")}]`);
  }
  return stated;
}

/** Joined along an axis there is, or along a new one. */
function concat(call: OperatorCall): Value {
  const items = itemsOf(call, 0).map((item) => {
    if (!isTensor(item)) throw new Error("it joins what is no tensor");
    return item;
  });
  const [first] = items;
  if (first === undefined) throw new Error("it joins an empty sequence");
  const stacked = call.int("new_axis", 0) === 1;
  const axis = normalizeAxis(call.int("axis", 0), first.type.shape.length + (stacked ? 1 : 0));
  const parts = stacked ? items.map((item) => call.reshape(item, item.type.shape.toSpliced(axis, 0, 1))) : items;
  return parts.length === 1 ? (parts[0] ?? first) : call.add({ kind: "concat", axis }, ...parts);
}

function optional(call: OperatorCall): readonly TracedValue[] {
  call.ignore("type");
  const content = call.inputIfGiven(0);
  return [{ optional: true, ...(content === undefined ? {} : { content }) }];
}

/** What is no optional is there. */
function hasElement(call: OperatorCall): Value {
  const input = call.inputIfGiven(0);
  const there = input !== undefined && (!isOptional(input) || input.content !== undefined);
  return call.builder.constant(literalOf("bool", [], [Number(there)]));
}

function getElement(call: OperatorCall): readonly TracedValue[] {
  const input = call.input(0);
  if (!isOptional(input)) return [input];
  if (input.content === undefined) throw new Error("its optional holds nothing");
  return [input.content];
}

export const sequences: OperatorFamily = {
  SequenceConstruct: since(11, (call) => [{ items: Array.from({ length: call.inputCount }, (_, index) => call.input(index)) }]),
  SequenceEmpty: since(11, (call) => {
    call.ignore("dtype");
    return [{ items: [] }];
  }),
  SequenceAt: since(11, at),
  SequenceInsert: since(11, insert),
  SequenceErase: since(11, erase),
  SequenceLength: since(11, (call) => call.builder.constant(int64Literal([itemsOf(call, 0).length], []))),
  SequenceMap: since(17, map),
  SplitToSequence: since(11, split),
  ConcatFromSequence: since(11, concat),
  Optional: since(15, optional),
  OptionalHasElement: since(15, hasElement),
  OptionalGetElement: since(15, getElement),
};
