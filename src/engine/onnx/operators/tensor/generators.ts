/** Operators that create tensors: constants, ranges, identity matrices, one-hot rows and triangles. */
import { isBigIntType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { toBigints, type Literal, toLiteral, literalOfBigints, toNumbers } from "../../../ir/literal.ts";
import { iota } from "../attention/scaled-dot-product.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** ONNX Constant, https://onnx.ai/onnx/operators/onnx__Constant.html. Sparse tensors are not supported. */
function constant(call: OperatorCall): Value {
  const literal = call.literal("value") ?? constantOfAttribute(call);
  return call.builder.constant(literal);
}

function constantOfAttribute(call: OperatorCall): Literal {
  for (const [name, attribute] of call.node.attributes) {
    call.ignore(name);
    if (attribute.kind === "float") return toLiteral("float32", [], [attribute.value]);
    if (attribute.kind === "floats") return toLiteral("float32", [attribute.value.length], attribute.value);
    if (attribute.kind === "int") return toLiteral("int64", [], [attribute.value]);
    if (attribute.kind === "ints") return toLiteral("int64", [attribute.value.length], attribute.value);
    if (attribute.kind === "string") return { dataType: "string", shape: [], data: [attribute.value] };
    if (attribute.kind === "strings") return { dataType: "string", shape: [attribute.value.length], data: attribute.value };
  }
  throw new Error("no attribute with a value of a supported kind");
}

/** ONNX ConstantOfShape: a tensor filled with one value, by default 0 of float32. */
function constantOfShape(call: OperatorCall): Value {
  const value = call.literal("value") ?? toLiteral("float32", [1], [0]);
  const one = call.builder.constant({ ...value, shape: [] });
  return call.add({ kind: "expand", shape: call.knownIntegers(0) }, one);
}

/** Bytes of a bigint in a list. */
const bigintBytes = 32;

/** ONNX Range: start, start + delta, ... up to but without limit. The inputs must be constant. */
function range(call: OperatorCall): Value {
  const [start, limit, delta] = [call.known(0), call.known(1), call.known(2)];
  const { dataType } = start;
  if (isBigIntType(dataType)) {
    const [from = 0n, to = 0n, by = 1n] = [start, limit, delta].map((each) => toBigints(each)[0]);
    if (by === 0n) throw new Error("delta is 0");
    const count = Math.max(0, Math.ceil(Number(to - from) / Number(by)));
    call.builder.reserve({ dataType, shape: [count] }, bigintBytes);
    const values = Array.from({ length: count }, (_, index) => from + BigInt(index) * by);
    return call.builder.constant(literalOfBigints(dataType, [count], values));
  }
  const [from = 0, to = 0, by = 1] = [start, limit, delta].map((each) => toNumbers(each)[0]);
  if (by === 0) throw new Error("delta is 0");
  const count = Math.max(0, Math.ceil((to - from) / by));
  call.builder.reserve({ dataType, shape: [count] });
  return call.builder.constant(
    toLiteral(
      dataType,
      [count],
      Float64Array.from({ length: count }, (_, index) => from + index * by),
    ),
  );
}

/** ONNX EyeLike: ones on the diagonal `k` (upper diagonals are positive), with the shape of the input. */
function eyeLike(call: OperatorCall): Value {
  const { shape, dataType } = call.tensor(0).type;
  const [rows = 0, columns = 0] = shape;
  const shift = call.int("k", 0);
  const type = call.elementType("dtype") ?? dataType;
  call.builder.reserve({ dataType: type, shape });
  const values = Float64Array.from({ length: rows * columns }, (_, index) =>
    Number((index % columns) - Math.floor(index / columns) === shift),
  );
  return call.builder.constant(toLiteral(type, [rows, columns], values));
}

/** ONNX OneHot. Inputs: indices, depth, [off, on]. An index out of range gives a row of "off". */
function oneHot(call: OperatorCall): Value {
  const indices = call.tensor(0);
  const [depth = 0] = call.knownIntegers(1);
  const values = call.tensor(2);
  const rank = indices.type.shape.length + 1;
  const axis = call.int("axis", -1);
  const newAxis = axis < 0 ? axis + rank : axis;
  const classes = iota(call, depth, newAxis, rank);
  const numbers = call.cast(indices, "int64");
  const fromStart = call.select(call.binary("less", numbers, 0), call.binary("add", numbers, depth), numbers);
  const aligned = call.reshape(fromStart, indices.type.shape.toSpliced(newAxis, 0, 1));
  return call.select(
    call.binary("equal", aligned, classes),
    call.reshape(call.slice(values, 0, 1, 1), []),
    call.reshape(call.slice(values, 0, 0, 1), []),
  );
}

/** ONNX Trilu: the upper or lower triangle of each matrix from the diagonal `k` on, zeros elsewhere. */
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
  return call.select(call.builder.constant(toLiteral("bool", [rows, columns], kept)), x, 0);
}

/** Translates operators that create tensors: Constant, ConstantOfShape, Range, EyeLike, OneHot and Trilu of ai.onnx. */
export const generators: OperatorFamily = {
  Constant: since(1, constant),
  ConstantOfShape: since(9, constantOfShape),
  Range: since(11, range),
  EyeLike: since(9, eyeLike),
  OneHot: since(9, oneHot),
  Trilu: since(14, trilu),
};
