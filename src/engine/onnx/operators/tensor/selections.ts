/** Operators that choose among what is there, so that the shape of what they give is only known with the values; and determinants. */
import { elementCount } from "../../../../tensor.ts";
import { isBigIntType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { bigintsOf, int64Literal, type Literal, numbersOf, pickElements, stringsOf } from "../../../ir/literal.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

interface Group {
  /** Slices that are equal, by their place; the first one is the smallest. */
  readonly members: number[];
}

/** An element as a number, its text, its place, and its entry in a table. */
const uniqueEntryBytes = 160;

/** Each slice of an axis, or each element, once. Outputs: them, their first places, for each slice its group, how many of each there are. */
function unique(call: OperatorCall): readonly Value[] {
  const x = call.knownData(0);
  const written = call.intIfGiven("axis");
  const shape = written === undefined ? [elementCount(x.shape)] : x.shape;
  const axis = written === undefined ? 0 : normalizeAxis(written, shape.length);
  const length = shape[axis] ?? 0;
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  call.builder.reserve({ dataType: "float64", shape: [elementCount(shape)] }, uniqueEntryBytes);
  const elements = elementsOf(x);
  const placesOf = (index: number): number[] =>
    Array.from({ length: outer * inner }, (_, at) => (Math.floor(at / inner) * length + index) * inner + (at % inner));
  const slices = Array.from({ length }, (_, index) => placesOf(index).map((place) => elements[place] ?? 0));
  const groups = new Map<string, Group>();
  for (const [index, slice] of slices.entries()) {
    const key = slice.map((value) => (value === 0 ? "0" : String(value))).join("\u0000");
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { members: [index] });
    else group.members.push(index);
  }
  const found = [...groups.values()].map(({ members }) => ({ members, first: members[0] ?? 0 }));
  if (call.int("sorted", 1) === 1) found.sort((one, other) => compareSlices(slices[one.first] ?? [], slices[other.first] ?? []));
  const firsts = found.map(({ first }) => first);
  const inverse = Array.from({ length }, () => 0);
  for (const [rank, { members }] of found.entries()) for (const member of members) inverse[member] = rank;
  const places = Array.from({ length: outer * firsts.length * inner }, (_, at) => {
    const first = firsts[Math.floor(at / inner) % firsts.length] ?? 0;
    return (Math.floor(at / inner / firsts.length) * length + first) * inner + (at % inner);
  });
  return [
    pickElements(x, shape.with(axis, firsts.length), places),
    int64Literal(firsts),
    int64Literal(inverse),
    int64Literal(found.map(({ members }) => members.length)),
  ].map((literal) => call.builder.constant(literal));
}

type Element = number | bigint | string;

function elementsOf(x: Literal): ArrayLike<Element> {
  if (x.dataType === "string") return stringsOf(x);
  return isBigIntType(x.dataType) ? bigintsOf(x) : numbersOf(x);
}

/** Element by element; what is no number comes last. */
function compareSlices(one: readonly Element[], other: readonly Element[]): number {
  for (const [at, value] of one.entries()) {
    const against = other[at] ?? 0;
    if (value < against) return -1;
    if (value > against) return 1;
    const order = Number(Number.isNaN(value)) - Number(Number.isNaN(against));
    if (order !== 0) return order;
  }
  return 0;
}

/** Boxes [batches, N, 4] and scores [batches, classes, N] become rows [batch, class, box], the best first, none of which overlap much. */
function nonMaxSuppression(call: OperatorCall): Value {
  const [boxes, scores] = [call.knownData(0), call.knownData(1)];
  const most = call.knownIntegersIfGiven(2)?.[0] ?? 0;
  const overlap = call.inputIfGiven(3) === undefined ? 0 : (numbersOf(call.known(3))[0] ?? 0);
  const least = call.inputIfGiven(4) === undefined ? Number.NEGATIVE_INFINITY : (numbersOf(call.known(4))[0] ?? 0);
  const centred = call.int("center_point_box", 0) === 1;
  const [batches = 0, classes = 0, count = 0] = scores.shape;
  if (boxes.shape.join() !== [batches, count, 4].join() || scores.shape.length !== 3)
    throw new Error(`boxes [${boxes.shape.join(", ")}] do not fit scores [${scores.shape.join(", ")}]`);
  const [corners, values] = [sortedCorners(numbersOf(boxes), centred), numbersOf(scores)];
  const rows: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    for (let group = 0; group < classes; group += 1) {
      const start = (batch * classes + group) * count;
      const score = (box: number): number => values[start + box] ?? 0;
      const order: number[] = [];
      for (let box = 0; box < count; box += 1) if (score(box) > least) order.push(box);
      order.sort((one, other) => score(other) - score(one) || one - other);
      const kept: number[] = [];
      for (const box of order) {
        if (kept.length >= most) break;
        const own = 4 * (batch * count + box);
        if (kept.every((other) => intersectionOverUnion(corners, own, 4 * (batch * count + other)) <= overlap)) kept.push(box);
      }
      for (const box of kept) rows.push(batch, group, box);
    }
  }
  return call.builder.constant(int64Literal(rows, [rows.length / 3, 3]));
}

/** Of each box top, left, bottom and right. They are given as corners in any order, [y1, x1, y2, x2]; or as [x centre, y centre, width, height]. */
function sortedCorners(values: ArrayLike<number>, centred: boolean): Float64Array {
  const corners = new Float64Array(values.length);
  for (let box = 0; box < values.length; box += 4) {
    const [a, b, c, d] = [values[box] ?? 0, values[box + 1] ?? 0, values[box + 2] ?? 0, values[box + 3] ?? 0];
    corners[box] = centred ? b - d / 2 : Math.min(a, c);
    corners[box + 1] = centred ? a - c / 2 : Math.min(b, d);
    corners[box + 2] = centred ? b + d / 2 : Math.max(a, c);
    corners[box + 3] = centred ? a + c / 2 : Math.max(b, d);
  }
  return corners;
}

/** Of the boxes that begin at these places. */
function intersectionOverUnion(corners: Float64Array, one: number, other: number): number {
  const height = Math.min(at(corners, one + 2), at(corners, other + 2)) - Math.max(at(corners, one), at(corners, other));
  const width = Math.min(at(corners, one + 3), at(corners, other + 3)) - Math.max(at(corners, one + 1), at(corners, other + 1));
  if (height <= 0 || width <= 0) return 0;
  const shared = height * width;
  return shared / (areaOf(corners, one) + areaOf(corners, other) - shared);
}

function areaOf(corners: Float64Array, box: number): number {
  return (at(corners, box + 2) - at(corners, box)) * (at(corners, box + 3) - at(corners, box + 1));
}

function at(values: Float64Array, place: number): number {
  return values[place] ?? 0;
}

function determinant(call: OperatorCall): Value {
  const x = call.tensor(0);
  const { dataType, shape } = x.type;
  if (shape.length < 2 || shape.at(-1) !== shape.at(-2)) throw new Error(`[${shape.join(", ")}] holds no square matrices`);
  const types = [{ dataType, shape: shape.slice(0, -2) }];
  return call.add({ kind: "call", function: "determinant", attributes: {}, types }, x);
}

export const selections: OperatorFamily = {
  Unique: since(11, unique),
  NonMaxSuppression: since(10, nonMaxSuppression),
  Det: since(11, determinant),
};
