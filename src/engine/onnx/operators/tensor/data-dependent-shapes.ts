/** Operators whose output shape depends on the elements of an input: they need its data when the model is traced. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import type { Value } from "../../../ir/graph.ts";
import { type Element, getElements, int64Literal, toLiteral, toNumbers, pickElements } from "../../../ir/literal.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** ONNX NonZero: coordinates of the elements that are not zero, [rank, count]. */
function nonZero(call: OperatorCall): Value {
  const x = call.knownData(0);
  const { shape } = x;
  call.builder.reserve({ dataType: "int64", shape: [shape.length, elementCount(shape)] });
  const elements = getElements(x);
  const found: number[] = [];
  for (let index = 0; index < elements.length; index += 1) if (Number(elements[index]) !== 0) found.push(index);
  let rest = found;
  const rows: number[][] = [];
  for (const size of shape.toReversed()) {
    rows.unshift(rest.map((index) => index % size));
    rest = rest.map((index) => Math.floor(index / size));
  }
  return call.builder.constant(toLiteral("int64", [shape.length, found.length], rows.flat()));
}

/** ONNX Compress: the entries of an axis, or of the flattened tensor, whose condition is true. The condition may be shorter than the axis. */
function compress(call: OperatorCall): Value {
  const x = call.tensor(0);
  const condition = toNumbers(call.knownData(1));
  call.builder.reserve({ dataType: "int64", shape: [condition.length] });
  const stated = call.intIfGiven("axis");
  const source = stated === undefined ? call.reshape(x, [elementCount(x.type.shape)]) : x;
  const axis = stated === undefined ? 0 : normalizeAxis(stated, x.type.shape.length);
  const kept: number[] = [];
  for (let index = 0; index < condition.length; index += 1) if (condition[index] !== 0) kept.push(index);
  return call.add({ kind: "gather", axis }, source, call.builder.constant(int64Literal(kept)));
}

interface Group {
  /** Indices of equal slices, ascending. */
  readonly members: number[];
}

/** Bytes of one element while it is compared: a number, its text, its index and an entry of a hash table. */
const uniqueEntryBytes = 160;

/**
 * ONNX Unique: distinct slices along an axis, or distinct elements. Outputs: the slices, the index of the first of each, for each input slice the
 * index of its equal in the output, and the number of each. Equal zeros of either sign count as one.
 */
function unique(call: OperatorCall): readonly Value[] {
  const x = call.knownData(0);
  const written = call.intIfGiven("axis");
  const shape = written === undefined ? [elementCount(x.shape)] : x.shape;
  const axis = written === undefined ? 0 : normalizeAxis(written, shape.length);
  const length = at(shape, axis);
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  call.builder.reserve({ dataType: "float64", shape: [elementCount(shape)] }, uniqueEntryBytes);
  const elements = getElements(x);
  const getOffsets = (index: number): number[] =>
    Array.from({ length: outer * inner }, (_, part) => (Math.floor(part / inner) * length + index) * inner + (part % inner));
  const slices = Array.from({ length }, (_, index) => getOffsets(index).map((offset) => at(elements, offset)));
  const groups = new Map<string, Group>();
  for (const [index, slice] of slices.entries()) {
    const key = slice.map((value) => (value === 0 ? "0" : String(value))).join("\u0000");
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { members: [index] });
    else group.members.push(index);
  }
  const found = [...groups.values()].map(({ members }) => ({ members, first: at(members, 0) }));
  if (call.int("sorted", 1) === 1) found.sort((one, other) => compareSlices(at(slices, one.first), at(slices, other.first)));
  const firsts = found.map(({ first }) => first);
  const inverse = Array.from({ length }, () => 0);
  for (const [rank, { members }] of found.entries()) for (const member of members) inverse[member] = rank;
  const offsets = Array.from({ length: outer * firsts.length * inner }, (_, part) => {
    const first = at(firsts, Math.floor(part / inner) % firsts.length);
    return (Math.floor(part / inner / firsts.length) * length + first) * inner + (part % inner);
  });
  return [
    pickElements(x, shape.with(axis, firsts.length), offsets),
    int64Literal(firsts),
    int64Literal(inverse),
    int64Literal(found.map(({ members }) => members.length)),
  ].map((literal) => call.builder.constant(literal));
}

/** Lexicographic order; NaN comes last. */
function compareSlices(one: readonly Element[], other: readonly Element[]): number {
  for (const [index, value] of one.entries()) {
    const against = at(other, index);
    if (value < against) return -1;
    if (value > against) return 1;
    const order = Number(Number.isNaN(value)) - Number(Number.isNaN(against));
    if (order !== 0) return order;
  }
  return 0;
}

/**
 * Translates NonZero, Compress and Unique of ai.onnx. The shapes of their results depend on data, so they run between two graph segments unless their
 * inputs are constant.
 */
export const dataDependentShapes: OperatorFamily = {
  NonZero: since(9, nonZero),
  Compress: since(9, compress),
  Unique: since(11, unique),
};
