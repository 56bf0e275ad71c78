/** Operators that make values of nothing, or change their type. */
import { elementCount } from "../../../../tensor.ts";
import { type ElementType, isFloat, isBigIntType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { type Literal, literalOf, literalOfBigints, numbersOf, bigintsOf } from "../../../ir/literal.ts";
import { elementTypeOf } from "../../read-tensor.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

function constant(call: OperatorCall): Value {
  const literal = call.literal("value") ?? constantOfAttribute(call);
  return call.builder.constant(literal);
}

function constantOfAttribute(call: OperatorCall): Literal {
  for (const [name, attribute] of call.node.attributes) {
    call.ignore(name);
    if (attribute.kind === "float") return literalOf("float32", [], [attribute.value]);
    if (attribute.kind === "floats") return literalOf("float32", [attribute.value.length], attribute.value);
    if (attribute.kind === "int") return literalOf("int64", [], [attribute.value]);
    if (attribute.kind === "ints") return literalOf("int64", [attribute.value.length], attribute.value);
    if (attribute.kind === "string") return { dataType: "string", shape: [], data: [attribute.value] };
    if (attribute.kind === "strings") return { dataType: "string", shape: [attribute.value.length], data: attribute.value };
  }
  throw new Error("it states no value that is taken here");
}

function constantOfShape(call: OperatorCall): Value {
  const value = call.literal("value") ?? literalOf("float32", [1], [0]);
  const one = call.builder.constant({ ...value, shape: [] });
  return call.add({ kind: "expand", shape: call.knownIntegers(0) }, one);
}

/** The attribute "to" of casts, a number of TensorProto.DataType. */
export function typeAttribute(call: OperatorCall, name: string): ElementType | undefined {
  const number = call.intIfGiven(name);
  return number === undefined || number === 0 ? undefined : elementTypeOf(number); // 0: not stated
}

function cast(call: OperatorCall): Value {
  const to = typeAttribute(call, "to");
  if (to === undefined) throw new Error("it does not say to what");
  return casted(call, call.tensor(0), to);
}

function castLike(call: OperatorCall): Value {
  return casted(call, call.tensor(0), call.tensor(1).type.dataType);
}

/** Saturation is of the float8 types only; whole numbers wrap around, as they do in C. */
function casted(call: OperatorCall, x: Value, to: ElementType): Value {
  const saturate = call.int("saturate", 1) === 1;
  const mode = call.string("round_mode", "up");
  if (to === "float8e8m0" && mode !== "up") throw new Error(`rounding "${mode}" to float8e8m0 is not built`);
  return call.cast(x, to, saturate && isFloat(to));
}

/** A bigint in a list. */
const bigintBytes = 32;

function range(call: OperatorCall): Value {
  const [start, limit, delta] = [call.known(0), call.known(1), call.known(2)];
  const { dataType } = start;
  if (isBigIntType(dataType)) {
    const [from = 0n, to = 0n, by = 1n] = [start, limit, delta].map((each) => bigintsOf(each)[0]);
    if (by === 0n) throw new Error("it steps by 0");
    const count = Math.max(0, Math.ceil(Number(to - from) / Number(by)));
    call.builder.reserve({ dataType, shape: [count] }, bigintBytes);
    const values = Array.from({ length: count }, (_, index) => from + BigInt(index) * by);
    return call.builder.constant(literalOfBigints(dataType, [count], values));
  }
  const [from = 0, to = 0, by = 1] = [start, limit, delta].map((each) => numbersOf(each)[0]);
  if (by === 0) throw new Error("it steps by 0");
  const count = Math.max(0, Math.ceil((to - from) / by));
  call.builder.reserve({ dataType, shape: [count] });
  return call.builder.constant(
    literalOf(
      dataType,
      [count],
      Float64Array.from({ length: count }, (_, index) => from + index * by),
    ),
  );
}

function eyeLike(call: OperatorCall): Value {
  const { shape, dataType } = call.tensor(0).type;
  const [rows = 0, columns = 0] = shape;
  const shift = call.int("k", 0);
  const type = typeAttribute(call, "dtype") ?? dataType;
  call.builder.reserve({ dataType: type, shape });
  const values = Float64Array.from({ length: rows * columns }, (_, index) =>
    Number((index % columns) - Math.floor(index / columns) === shift),
  );
  return call.builder.constant(literalOf(type, [rows, columns], values));
}

/** Inputs: indices, depth, [off, on]. Indices outside of the depth give a row of "off". */
function oneHot(call: OperatorCall): Value {
  const indices = call.tensor(0);
  const [depth = 0] = call.knownIntegers(1);
  call.builder.reserve({ dataType: "int64", shape: [depth] });
  const values = call.tensor(2);
  const rank = indices.type.shape.length + 1;
  const axis = call.int("axis", -1);
  const at = axis < 0 ? axis + rank : axis;
  const counted = call.cast(indices, "int64");
  const wrapped = call.select(call.binary("less", counted, 0), call.binary("add", counted, depth), counted);
  const open = call.reshape(wrapped, indices.type.shape.toSpliced(at, 0, 1));
  const places = call.builder.constant(
    literalOf(
      "int64",
      Array.from({ length: rank }, (_, each) => (each === at ? depth : 1)),
      Array.from({ length: depth }, (_, place) => place),
    ),
  );
  return call.select(
    call.binary("equal", open, places),
    call.reshape(call.slice(values, 0, 1, 1), []),
    call.reshape(call.slice(values, 0, 0, 1), []),
  );
}

/** Where elements are not zero: coordinates, one column per element. The shape of the result is only known with the elements. */
function nonZero(call: OperatorCall): Value {
  const x = call.knownData(0);
  const { shape } = x;
  call.builder.reserve({ dataType: "int64", shape: [shape.length, elementCount(shape)] });
  const wide: ArrayLike<number | bigint> = isBigIntType(x.dataType) ? bigintsOf(x) : numbersOf(x);
  const found: number[] = [];
  for (let index = 0; index < wide.length; index += 1) if (Number(wide[index]) !== 0) found.push(index);
  let rest = found;
  const rows: number[][] = [];
  for (const size of shape.toReversed()) {
    rows.unshift(rest.map((index) => index % size));
    rest = rest.map((index) => Math.floor(index / size));
  }
  return call.builder.constant(literalOf("int64", [shape.length, found.length], rows.flat()));
}

/** Keeps the entries of an axis, or of the flattened tensor, where the condition holds. */
function compress(call: OperatorCall): Value {
  const x = call.tensor(0);
  const condition = numbersOf(call.knownData(1));
  call.builder.reserve({ dataType: "int64", shape: [condition.length] });
  const axis = call.intIfGiven("axis");
  const flat = axis === undefined ? call.reshape(x, [x.type.shape.reduce((product, size) => product * size, 1)]) : x;
  const kept: number[] = [];
  for (let index = 0; index < condition.length; index += 1) if (condition[index] !== 0) kept.push(index);
  const at = axis === undefined ? 0 : axis < 0 ? axis + x.type.shape.length : axis;
  return call.add({ kind: "gather", axis: at }, flat, call.builder.constant(literalOf("int64", [kept.length], kept)));
}

/** The upper or the lower triangle of matrices, zero elsewhere. */
function trilu(call: OperatorCall): Value {
  const x = call.tensor(0);
  const [rows = 0, columns = 0] = x.type.shape.slice(-2);
  const shift = call.knownIntegersIfGiven(1)?.[0] ?? 0;
  call.builder.reserve({ dataType: "bool", shape: [rows, columns] });
  const upper = call.int("upper", 1) === 1;
  const kept = Float64Array.from({ length: rows * columns }, (_, index) => {
    const diagonal = (index % columns) - Math.floor(index / columns);
    return Number(upper ? diagonal >= shift : diagonal <= shift);
  });
  return call.select(call.builder.constant(literalOf("bool", [rows, columns], kept)), x, 0);
}

function bitCast(call: OperatorCall): Value {
  const to = typeAttribute(call, "to");
  if (to === undefined) throw new Error("it does not say to what");
  return call.add({ kind: "bitcast", to }, call.tensor(0));
}

/** Elements in another order along an axis, for each batch the first `length` of them reversed. */
function reverseSequence(call: OperatorCall): Value {
  const x = call.tensor(0);
  const lengths = call.knownIntegers(1);
  const timeAxis = call.int("time_axis", 0);
  const batchAxis = call.int("batch_axis", 1);
  const { shape } = x.type;
  call.builder.reserve({ dataType: "int64", shape });
  const places = Float64Array.from({ length: shape.reduce((product, size) => product * size, 1) }, (_, index) => {
    const inner = shape.slice(timeAxis + 1).reduce((product, size) => product * size, 1);
    const time = Math.floor(index / inner) % (shape[timeAxis] ?? 1);
    const batchInner = shape.slice(batchAxis + 1).reduce((product, size) => product * size, 1);
    const length = lengths[Math.floor(index / batchInner) % (shape[batchAxis] ?? 1)] ?? 0;
    return time < length ? length - 1 - time : time;
  });
  return call.add({ kind: "gather-elements", axis: timeAxis }, x, call.builder.constant(literalOf("int64", shape, places)));
}

export const constants: OperatorFamily = {
  Constant: since(1, constant),
  ConstantOfShape: since(9, constantOfShape),
  Cast: since(6, cast),
  CastLike: since(15, castLike),
  BitCast: since(26, bitCast),
  Range: since(11, range),
  EyeLike: since(9, eyeLike),
  OneHot: since(9, oneHot),
  NonZero: since(9, nonZero),
  Compress: since(9, compress),
  Trilu: since(14, trilu),
  ReverseSequence: since(10, reverseSequence),
};
