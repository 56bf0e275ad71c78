/** Elementwise operations, conversions and operations along axes, with types and shapes that the conformance cases of ONNX have few of: 64-bit integers, small floats, strings, broadcast and empty axes. */
import { castable, ordinary, special } from "../../src/engine/execute/kernel-checks/check-values.ts";
import type { ElementType } from "../../src/engine/ir/element-types.ts";
import { type Literal, toLiteral } from "../../src/engine/ir/literal.ts";
import type { BinaryFunction, ReduceFunction, UnaryFunction } from "../../src/engine/ir/operations.ts";
import { bigints, floats, type InterpreterCase, operate, refuse, strings, variedNumbers } from "./case-builder.ts";

const large = 2n ** 62n + 12345678901n;

function elementwiseCases(): readonly InterpreterCase[] {
  const unary = (name: UnaryFunction, x: Literal): InterpreterCase => operate({ kind: "unary", function: name }, x);
  const binary = (name: BinaryFunction, a: Literal, b: Literal): InterpreterCase =>
    operate({ kind: "binary", function: name }, a, b);
  const [signed, unsigned] = [bigints("int64", [5], -large, -1, 0, 1, large), bigints("uint64", [4], 0, 1, 9, 2n ** 64n - 3n)];
  const near = toLiteral("float64", [11], [-7.5, -2.6, -2.4, -1, -0.3, -0, 0.1, 0.9, 2.45, 3.7, 6.4]);
  const some = toLiteral("float64", [5], [-0.9, -0.25, 0, 0.5, 0.99]);
  const column = (type: "int64" | "uint64", ...values: readonly (bigint | number)[]): Literal =>
    bigints(type, [values.length, 1], ...values);
  return [
    ...(["abs", "neg", "sign", "floor", "ceil", "round", "bitwise-not"] as const).flatMap((name) => [
      unary(name, signed),
      ...(name === "neg" ? [] : [unary(name, unsigned)]),
    ]),
    ...(["erf", "sigmoid", "softplus", "exp", "tanh", "sinh", "cosh", "asinh", "atan", "sin", "cos", "tan"] as const).map(
      (name) => unary(name, near),
    ),
    ...(["asin", "acos", "atanh"] as const).map((name) => unary(name, some)),
    ...(["log", "sqrt", "acosh", "reciprocal"] as const).map((name) =>
      unary(name, toLiteral("float64", [4], [1, 1.5, 3, 1000.25])),
    ),
    unary("round", toLiteral("float64", [6], [0.5, 1.5, 2.5, -0.5, -1.5, 2.500001])),
    ...(["is-nan", "is-infinite"] as const).map((name) => unary(name, floats([5], NaN, Infinity, -Infinity, 3, 0))),
    unary("not", toLiteral("bool", [2], [0, 1])),
    unary("bitwise-not", toLiteral("uint8", [3], [0, 5, 255])),
    ...(
      [
        "add",
        "sub",
        "mul",
        "div",
        "mod",
        "remainder",
        "min",
        "max",
        "equal",
        "less",
        "less-or-equal",
        "greater",
        "greater-or-equal",
      ] as const
    ).flatMap((name) => [
      binary(name, bigints("int64", [4], -7, 8, large, 3), column("int64", 3, -4, 0)),
      binary(name, column("uint64", 7, 2n ** 63n + 1n), bigints("uint64", [3], 0, 2, 7)),
      binary(name, floats([2, 1], -7.5, 3), floats([3], 2, -4, 3)),
      binary(name, ordinary("int32", [3]), toLiteral("int32", [], [7])),
      binary(name, toLiteral("int32", [1], [-2147483647]), toLiteral("int32", [4], [3, -5, 0, 2147483647])),
    ]),
    ...(["bitwise-and", "bitwise-or", "bitwise-xor"] as const).flatMap((name) => [
      binary(name, bigints("int64", [3], -7, 12, large), column("int64", 10, -6)),
      binary(name, toLiteral("uint8", [3], [7, 12, 255]), toLiteral("uint8", [2, 1], [10, 6])),
    ]),
    ...(["shift-left", "shift-right"] as const).flatMap((name) => [
      binary(name, bigints("uint64", [3], 1, 12, 2n ** 63n + 5n), column("uint64", 0, 3, 63, 64, 65)),
      binary(name, toLiteral("uint32", [2], [5, 4000000000]), toLiteral("uint32", [5, 1], [0, 3, 31, 32, 33])),
    ]),
    ...(["and", "or", "xor", "equal"] as const).map((name) =>
      binary(name, toLiteral("bool", [2], [0, 1]), toLiteral("bool", [2, 1], [0, 1])),
    ),
    binary("pow", bigints("int64", [6], 1, -1, 2, -3, 0, 7), column("int64", -3, -2, 0, 1, 5, 63, 65)),
    binary("pow", floats([4], 1, 2, -8, 0.5), floats([3, 1], NaN, 3, -0.5)),
    binary("equal", strings([2, 1], "a", "b"), strings([3], "b", "a", "")),
    refuse({ kind: "binary", function: "less" }, strings([1], "a"), strings([1], "b")),
    ...(["and", "or", "xor"] as const).map((name) => refuse({ kind: "binary", function: name }, signed, signed)),
    ...(["float32", "int64", "float16", "bool"] as const).map((type) =>
      operate({ kind: "select" }, toLiteral("bool", [2, 1], [0, 1]), ordinary(type, [2, 3]), ordinary(type, [3], 2)),
    ),
    operate({ kind: "select" }, toLiteral("bool", [3], [1, 0, 1]), strings([1], "yes"), strings([2, 1], "no", "none")),
    operate({ kind: "gelu", approximate: "none" }, near),
    operate({ kind: "gelu", approximate: "tanh" }, near),
    operate(
      {
        kind: "elementwise",
        steps: [
          { operation: { kind: "binary", function: "mul" }, operands: [0, 1] },
          { operation: { kind: "gelu", approximate: "none" }, operands: [2] },
          { operation: { kind: "binary", function: "sub" }, operands: [3, 2] },
        ],
      },
      ordinary("float32", [2, 1]),
      ordinary("float32", [3], 2),
    ),
  ];
}

function castCases(): readonly InterpreterCase[] {
  const cast = (x: Literal, to: ElementType, saturate: boolean): InterpreterCase => operate({ kind: "cast", to, saturate }, x);
  const small = [
    "float16",
    "bfloat16",
    "float8e4m3fn",
    "float8e4m3fnuz",
    "float8e5m2",
    "float8e5m2fnuz",
    "float8e8m0",
    "float4e2m1",
  ] as const;
  const integers = [
    "int8",
    "int16",
    "int32",
    "int64",
    "int4",
    "int2",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint4",
    "uint2",
  ] as const;
  const values = floats([13], 0, -0, 1, -1.5, 2.75, 300, -300, 70000, 1e-7, 0.0625, 3e9, -3e9, 17);
  const whole = floats([9], 0, 1.9, -1.9, 7.5, -8.5, 129, -129, 65537, -40000);
  return [
    ...[...small, ...integers].flatMap((to) =>
      [true, false].map((saturate) => cast(to.startsWith("float") ? values : whole, to, saturate)),
    ),
    ...small.map((from) => cast(castTo(from), "float32", false)),
    ...integers.map((from) => cast(castable(from), "string", false)),
    cast(bigints("int64", [3], -large, 5, large), "uint64", false),
    cast(bigints("int64", [3], -large, 5, large), "string", false),
    cast(bigints("uint64", [2], 2n ** 64n - 1n, 7), "float64", false),
    cast(toLiteral("float64", [7], [NaN, Infinity, -Infinity, 0.1, 1e21, 1 / 3, -2]), "string", false),
    cast(floats([5], 0.1, 1 / 3, -0, 16777216, NaN), "string", false),
    cast(toLiteral("bool", [2], [0, 1]), "string", false),
    cast(strings([8], "1.5", " -2e3 ", "inf", "-Infinity", "+INF", "nan", "-NaN", "0x10"), "float32", false),
    cast(strings([3], "300", "-1.5", "17"), "uint8", true),
    cast(strings([3], "9223372036854775807", " +12 ", "-5"), "int64", false),
    cast(strings([2], "2.75", "-3"), "int64", false),
    cast(strings([2], "0", "2"), "bool", false),
    ...["", "  ", "one", "1,5", "infinit", "nano"].map((text) =>
      refuse({ kind: "cast", to: "float32", saturate: false }, strings([1], text)),
    ),
    operate({ kind: "bitcast", to: "int32" }, special("float32")),
    operate({ kind: "bitcast", to: "float64" }, bigints("int64", [2], large, -large)),
    operate({ kind: "bitcast", to: "uint16" }, toLiteral("float16", [3], [1, -2.5, 0.1])),
    operate({ kind: "cast", to: "float32", saturate: false }, floats([2], 1, 2)),
    refuse({ kind: "bitcast", to: "int64" }, floats([2], 1, 2)),
  ];
}

/** Numbers of a type below 32 bits. */
function castTo(type: ElementType): Literal {
  return toLiteral(type, [7], [0.5, 1, 1.5, 2, 3, 4, 6]);
}

function axisCases(): readonly InterpreterCase[] {
  const types = ["float32", "int32", "int64", "uint64"] as const;
  const ties = floats([2, 3, 4], 1, 5, NaN, 2, 5, 5, 2, 2, 0, 1, 7, -1, 3, 3, 3, 3, -2, -5, NaN, 4, Infinity, -Infinity, 0, 4);
  const wide = bigints("int64", [3, 4], 5, -1, 5, large, 2, 2, -large, 7, 0, 5, 5, 7);
  const reduce = (name: ReduceFunction, axes: readonly number[], keep: boolean, x: Literal): InterpreterCase =>
    operate({ kind: "reduce", function: name, axes, keep }, x);
  return [
    ...(["sum", "product", "min", "max", "mean"] as const).flatMap((name) => [
      ...types.map((type) => reduce(name, [1], false, variedNumbers(type, [2, 3, 2]))),
      reduce(name, [0, 2], true, variedNumbers("float64", [2, 3, 2])),
      reduce(name, [0, 2], false, variedNumbers("int64", [2, 3, 2])),
      ...types.map((type) => reduce(name, [1], false, ordinary(type, [2, 0]))),
      reduce(name, [], false, ordinary("float32", [3])),
    ]),
    ...[ties, wide].flatMap((x) =>
      [0, 1, x.shape.length - 1].flatMap((axis) =>
        (["max", "min"] as const).flatMap((name) =>
          [true, false].map((last) => operate({ kind: "arg", function: name, axis, last }, x)),
        ),
      ),
    ),
    ...(["sum", "product"] as const).flatMap((name) =>
      [true, false].flatMap((exclusive) =>
        [true, false].flatMap((reverse) =>
          [variedNumbers("float32", [2, 3, 2]), variedNumbers("int64", [2, 3, 2])].map((x, axis) =>
            operate({ kind: "cumulative", function: name, axis: axis + 1, exclusive, reverse }, x),
          ),
        ),
      ),
    ),
    ...[true, false].flatMap((largest) => [
      operate({ kind: "top-k", axis: 1, count: 2, largest }, ties),
      operate({ kind: "top-k", axis: 2, count: 3, largest }, ties),
      operate({ kind: "top-k", axis: 0, count: 2, largest }, wide),
      operate({ kind: "top-k", axis: 1, count: 4, largest }, wide),
    ]),
    ...[0, 1, 2].flatMap((axis) =>
      [true, false].map((logarithm) => operate({ kind: "softmax", axis, logarithm }, ordinary("float64", [2, 3, 2]))),
    ),
    operate({ kind: "softmax", axis: 1, logarithm: false }, ordinary("float32", [2, 3]), floats([3], 0, -Infinity, 2)),
    operate({ kind: "softmax", axis: 1, logarithm: false }, floats([1, 3], 1000, 1001, 999)),
    ...[1, 2].map((axis) =>
      operate(
        { kind: "layer-norm", axis, epsilon: 0.01 },
        ordinary("float32", [2, 3, 4]),
        ordinary("float32", [4], 2),
        ordinary("float32", [3, 1], 3),
      ),
    ),
    operate({ kind: "layer-norm", axis: 0, epsilon: 1e-5 }, ordinary("float64", [5])),
  ];
}

/** All cases. */
export function operationCases(): readonly InterpreterCase[] {
  return [...elementwiseCases(), ...castCases(), ...axisCases()];
}
