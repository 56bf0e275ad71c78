import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, featureSets, randomFloats, randomNumbers } from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import { decodeFloat, encodeFloat } from "../../../../../contract/small-floats.ts";
import { contiguousStrides } from "../../../../ir/broadcast.ts";
import { collapseAxes } from "../loops/axes.ts";
import { isComparison } from "./function-table.ts";
import { elementwise } from "./elementwise.ts";
import type { Binary, ElementwiseType, ElementwiseRequest, Step, Unary } from "./request.ts";

const arrayTypes = {
  float32: Float32Array,
  float16: Uint16Array,
  float64: Float64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint8: Uint8Array,
  int8: Int8Array,
  bool: Uint8Array,
} as const;
type Values = InstanceType<(typeof arrayTypes)[ElementwiseType]>;

/** Runs the kernel in one call and in several, demands the same bits, and gives the output as numbers. */
function run(request: ElementwiseRequest, inputs: readonly Values[], splits = 2, set = featureSets[0]!): number[] {
  const count = request.shape.reduce((all, size) => all * size, 1);
  const results = [1, splits].map((calls) => {
    const memory = new KernelMemory(64 * 1024 + count * 8 * (inputs.length + 1));
    const offsets = inputs.map((values) => memory.put(values).offset);
    const output = memory.room<Values>(arrayTypes[request.output], count);
    memory.run(elementwise(request), [...offsets, output.offset], calls, set);
    return Array.from(output.data as ArrayLike<number | bigint>, Number);
  });
  expect(results[1]).toEqual(results[0]);
  return results[0]!;
}

const bytesUpTo = (count: number) => Uint8Array.from({ length: count }, (_, index) => index);

const unary = (op: Unary, values: readonly number[]) =>
  run({ shape: [values.length], inputs: [{ type: "float32" }], steps: [{ op, of: [0] }], output: "float32" }, [
    Float32Array.from(values),
  ]);

const binary = (type: "float32" | "int32" | "int64", op: Binary, pairs: readonly (readonly [number, number])[]) => {
  const column = (place: 0 | 1) =>
    type === "int64"
      ? BigInt64Array.from(pairs, (pair) => BigInt(pair[place]))
      : arrayTypes[type].from(pairs.map((pair) => pair[place]));
  const output = isComparison(op) ? "bool" : type;
  return run({ shape: [pairs.length], inputs: [{ type }, { type }], steps: [{ op, of: [0, 1] }], output }, [
    column(0),
    column(1),
  ]);
};

describe("one step", () => {
  const values = [0.5, -0.5, 0, 2.5, 3.5, -2.5, 0.9, -0.1, 7, -7, 100];

  it.each<[Unary, (x: number) => number]>([
    ["abs", Math.abs],
    ["neg", (x) => -x],
    ["sign", Math.sign],
    ["sqrt", Math.sqrt],
    ["reciprocal", (x) => 1 / x],
    ["floor", Math.floor],
    ["ceil", Math.ceil],
    ["round", (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x))],
    ["exp", Math.exp],
    ["log", Math.log],
    ["sin", Math.sin],
    ["cos", Math.cos],
    ["relu", (x) => Math.max(x, 0)],
    ["silu", (x) => x / (1 + Math.exp(-x))],
    ["tan", Math.tan],
    ["asin", Math.asin],
    ["acos", Math.acos],
    ["atan", Math.atan],
    ["sinh", Math.sinh],
    ["cosh", Math.cosh],
    ["asinh", Math.asinh],
    ["acosh", Math.acosh],
    ["atanh", Math.atanh],
    ["log1p", Math.log1p],
  ])("%s", (op, exact) => {
    unary(op, values).forEach((value, index) => {
      const wanted = Math.fround(exact(Math.fround(values[index]!)));
      const isFinite = Number.isFinite(wanted);
      expect(isFinite ? Math.abs(value - wanted) : 0).toBeLessThanOrEqual(isFinite ? 3e-7 * Math.abs(wanted) : 0);
      expect(isFinite ? wanted : value).toBe(wanted);
    });
    expect(unary(op, [NaN])[0]).toBeNaN();
  });

  const pairs = [
    [7, 3],
    [-7, 3],
    [7, -3],
    [-7, -3],
    [6, 3],
    [-6, 3],
    [0, 5],
    [3, 3],
    [-1, 2],
  ] as const;
  const floorMod = (a: number, b: number) => a - Math.floor(a / b) * b;
  const exact: Readonly<
    Record<Exclude<Binary, "and" | "or" | "xor" | `${"shift" | "bitwise"}-${string}`>, (a: number, b: number) => number>
  > = {
    add: (a, b) => a + b,
    sub: (a, b) => a - b,
    mul: (a, b) => a * b,
    div: (a, b) => a / b,
    min: Math.min,
    max: Math.max,
    pow: Math.pow,
    mod: floorMod,
    remainder: (a, b) => a % b,
    equal: (a, b) => Number(a === b),
    "not-equal": (a, b) => Number(a !== b),
    less: (a, b) => Number(a < b),
    "less-or-equal": (a, b) => Number(a <= b),
    greater: (a, b) => Number(a > b),
    "greater-or-equal": (a, b) => Number(a >= b),
  };

  it.each(Object.keys(exact) as (keyof typeof exact)[])("%s", (op) => {
    const wanted = pairs.map(([a, b]) => exact[op](a, b));
    expect(binary("float32", op, pairs)).toEqual(wanted.map((value) => expect.closeTo(value, 5) as number));
    if (op === "pow") return;
    for (const type of ["int32", "int64"] as const)
      expect(binary(type, op, pairs).map((value) => value + 0)).toEqual(wanted.map((value) => Math.trunc(value) + 0));
  });

  it("survives what integer division cannot do", () => {
    expect(
      binary("int32", "div", [
        [5, 0],
        [-(2 ** 31), -1],
        [7, -1],
        [0, 0],
      ]),
    ).toEqual([0, -(2 ** 31), -7, 0]);
    expect(
      binary("int64", "div", [
        [5, 0],
        [7, -1],
        [9, 2],
      ]),
    ).toEqual([0, -7, 4]);
    for (const type of ["int32", "int64"] as const)
      for (const op of ["remainder", "mod"] as const) {
        const rests = binary(type, op, [
          [5, 0],
          [-5, 0],
          [-(2 ** 31), -1],
        ]);
        expect(rests.map((value) => value + 0)).toEqual([0, 0, 0]);
      }
  });

  it("lets NaN through min and max, and counts with powers that are constant", () => {
    expect(
      binary("float32", "max", [
        [NaN, 1],
        [1, NaN],
      ]),
    ).toEqual([NaN, NaN]);
    for (const exponent of [2, 3, 1, -1, 0.5, 2.5]) {
      const steps: Step[] = [
        { op: "constant", type: "float32", value: exponent },
        { op: "pow", of: [0, 1] },
      ];
      const [result] = run({ shape: [1], inputs: [{ type: "float32" }], steps, output: "float32" }, [Float32Array.of(1.5)]);
      expect(result).toBeCloseTo(1.5 ** exponent, 5);
    }
  });
});

describe("types", () => {
  const casts = (from: ElementwiseType, to: ElementwiseType, values: Values) =>
    run({ shape: [values.length], inputs: [{ type: from }], steps: [{ op: "cast", of: [0], to }], output: to }, [values]);

  it("casts from and to each", () => {
    const floats = Float32Array.of(1.9, -1.9, 0, 300.5, NaN);
    expect(casts("float32", "int32", floats)).toEqual([1, -1, 0, 300, 0]);
    expect(casts("float32", "int64", floats)).toEqual([1, -1, 0, 300, 0]);
    expect(casts("float32", "uint8", floats.subarray(0, 4))).toEqual([1, 255, 0, 44]);
    expect(casts("float32", "bool", floats)).toEqual([1, 1, 0, 1, 1]);
    expect(casts("float32", "float32", floats.subarray(0, 1))[0]).toBeCloseTo(1.9);
    expect(casts("int32", "float32", Int32Array.of(-7, 8, 1))).toEqual([-7, 8, 1]);
    expect(casts("int32", "int8", Int32Array.of(200, -3, 127))).toEqual([-56, -3, 127]);
    expect(casts("int32", "int64", Int32Array.of(-1, 2, 2 ** 31 - 1))).toEqual([-1, 2, 2 ** 31 - 1]);
    expect(casts("int32", "bool", Int32Array.of(0, -1, 256))).toEqual([0, 1, 1]);
    const wide = BigInt64Array.of(-1n, 1n << 40n, 0n);
    expect(casts("int64", "float32", wide)).toEqual([-1, 2 ** 40, 0]);
    expect(casts("int64", "int32", wide)).toEqual([-1, 0, 0]);
    expect(casts("int64", "bool", wide)).toEqual([1, 1, 0]);
    expect(casts("uint8", "int32", Uint8Array.of(0, 200, 255))).toEqual([0, 200, 255]);
    expect(casts("int8", "float32", Int8Array.of(-128, -1, 127))).toEqual([-128, -1, 127]);
    expect(casts("bool", "float32", Uint8Array.of(0, 1, 1))).toEqual([0, 1, 1]);
    expect(casts("bool", "int64", Uint8Array.of(1, 0, 1))).toEqual([1, 0, 1]);
    expect(casts("bool", "bool", Uint8Array.of(1, 0, 7))).toEqual([1, 0, 1]);
  });

  it("widens every half, and narrows what lies on, beside and between them as the interpreter does", () => {
    const halves = Uint16Array.from({ length: 0x10000 }, (_, bits) => bits);
    const wide = Array.from(halves, (bits) => decodeFloat("float16", bits));
    expect(casts("float16", "float32", halves)).toEqual(wide);
    const positive = wide.slice(0, 0x7c01); // up to infinity
    const between = positive.flatMap((value, index) => {
      const middle = Number.isFinite(positive[index + 1]) ? (value + positive[index + 1]!) / 2 : 65_520;
      return [value, middle, middle * (1 + 2 ** -23), middle * (1 - 2 ** -23)];
    });
    const floats = Float32Array.from([...between, ...between.map((value) => -value), 2 ** -25, 2 ** -26, 1e-40, 3e38, NaN]);
    expect(casts("float32", "float16", floats)).toEqual(Array.from(floats, (value) => encodeFloat("float16", value, false)));
  });

  it("loads halves that repeat, of rows that lie apart", () => {
    const x = Uint16Array.of(0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600);
    const from = (strides: readonly number[]) =>
      run({ shape: [3, 2], inputs: [{ type: "float16", strides }], steps: [{ op: "neg", of: [0] }], output: "float32" }, [x]);
    expect(from([2, 1])).toEqual([-1, -2, -3, -4, -5, -6]);
    expect(from([1, 1])).toEqual([-1, -2, -2, -3, -3, -4]);
    expect(from([1, 0])).toEqual([-1, -1, -2, -2, -3, -3]);
  });

  it("selects and joins conditions", () => {
    const request = (type: "float32" | "int64"): ElementwiseRequest => ({
      shape: [5],
      inputs: [{ type: "bool" }, { type: "bool" }, { type }, { type }],
      steps: [
        { op: "not", of: [1] },
        { op: "and", of: [0, 4] },
        { op: "select", of: [5, 2, 3] },
      ],
      output: type,
    });
    const [a, b] = [Uint8Array.of(1, 1, 0, 0, 1), Uint8Array.of(0, 1, 0, 1, 0)];
    const floats = [Float32Array.of(1, 2, 3, 4, 5), Float32Array.of(10, 20, 30, 40, 50)];
    expect(run(request("float32"), [a, b, ...floats])).toEqual([1, 20, 30, 40, 5]);
    const wide = floats.map((values) => BigInt64Array.from(values, BigInt));
    expect(run(request("int64"), [a, b, ...wide])).toEqual([1, 20, 30, 40, 5]);
  });

  it("refuses what there is no such thing as", () => {
    const refused = (steps: Step[], output: ElementwiseType) => () =>
      run({ shape: [1], inputs: [{ type: "int32" }, { type: "float32" }], steps, output }, [
        Int32Array.of(1),
        Float32Array.of(1),
      ]);
    expect(refused([{ op: "add", of: [0, 1] }], "int32")).toThrow(/no elementwise add of int32 and float32/);
    expect(refused([{ op: "exp", of: [0] }], "int32")).toThrow(/no elementwise exp of int32/);
    expect(refused([{ op: "neg", of: [7] }], "int32")).toThrow(/names value 7/);
    expect(refused([{ op: "neg", of: [1] }], "int32")).toThrow(/ends with float32 and is to store int32/);
  });
});

describe("broadcasts and chains", () => {
  const size = fc.integer({ min: 1, max: 5 });

  it("computes (a * b + c) with operands that repeat or lie transposed along any axis but the last", () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.array(size, { maxLength: 5 }), fc.integer({ min: 2, max: 13 })).map(([outer, inner]) => [...outer, inner]),
        fc.array(fc.constantFrom("own", "repeated", "flipped"), { minLength: 3, maxLength: 3 }),
        fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(...featureSets),
        (shape, layouts, kept, splits, set) => {
          const dense = contiguousStrides(shape);
          const count = shape.reduce((all, one) => all * one, 1);
          const strides = layouts.map((layout) => {
            if (layout === "own") return dense;
            if (layout === "repeated") {
              const own = shape.map((one, axis) => (kept[axis] === true ? one : 1));
              return contiguousStrides(own).map((stride, axis) => (kept[axis] === true ? stride : 0));
            }
            const outer = shape.slice(0, -1);
            const row = shape.at(-1)!;
            return [
              ...contiguousStrides(outer.toReversed())
                .toReversed()
                .map((stride) => stride * row),
              1,
            ];
          });
          const operands = [1, 2, 3].map((seed) => randomFloats(count, seed).map((value) => Math.round(value * 8)));
          const request: ElementwiseRequest = {
            shape,
            inputs: strides.map((own) => ({ type: "float32", strides: own })),
            steps: [
              { op: "mul", of: [0, 1] },
              { op: "add", of: [3, 2] },
            ],
            output: "float32",
          };
          const wanted = Array.from({ length: count }, (_, place) => {
            const [a, b, c] = strides.map((own, operand) => {
              const at = dense.reduce((sum, step, axis) => sum + (Math.floor(place / step) % shape[axis]!) * own[axis]!, 0);
              return operands[operand]![at]!;
            });
            return a! * b! + c! + 0;
          });
          expect(run(request, operands, splits, set).map((value) => value + 0)).toEqual(wanted);
        },
      ),
      { numRuns: amount(150, 45) },
    );
  });

  it("walks bytes and int64 with any strides between rows", () => {
    const shape = [3, 5];
    const inputs = [
      { type: "int64", strides: [0, 1] },
      { type: "uint8", strides: [7, 1] },
      { type: "bool", strides: [5, 1] },
    ] as const;
    const steps: Step[] = [
      { op: "cast", of: [1], to: "int64" },
      { op: "add", of: [0, 3] },
      { op: "constant", type: "int64", value: -1 },
      { op: "select", of: [2, 4, 5] },
    ];
    const wide = BigInt64Array.of(10n, 20n, 30n, 40n, 50n);
    const bytes = Uint8Array.from({ length: 19 }, (_, index) => index);
    const flags = Uint8Array.from({ length: 15 }, (_, index) => index % 2);
    const wanted = Array.from({ length: 15 }, (_, place) => {
      const [row, column] = [Math.floor(place / 5), place % 5];
      return flags[place] === 1 ? 10 * (column + 1) + 7 * row + column : -1;
    });
    expect(run({ shape, inputs, steps, output: "int64" }, [wide, bytes, flags])).toEqual(wanted);
  });

  it("goes through long arrays by blocks", () => {
    const x = Float32Array.from(randomNumbers(5003, 1));
    const request: ElementwiseRequest = {
      shape: [5003],
      inputs: [{ type: "float32" }],
      steps: [
        { op: "constant", type: "float32", value: 2 },
        { op: "mul", of: [0, 1] },
      ],
      output: "float32",
    };
    expect(elementwise(request).pieces).toBe(5);
    expect(run(request, [x], 3)).toEqual([...x].map((value) => value * 2));
  });

  it("fills a tensor that has no inputs, and copies one that has no steps", () => {
    for (const type of ["float32", "int64", "bool"] as const) {
      const steps: Step[] = [{ op: "constant", type, value: 1 }];
      expect(run({ shape: [3, 7], inputs: [], steps, output: type }, [])).toEqual(Array(21).fill(1));
    }
    const strides = [3, 1];
    expect(run({ shape: [2, 2], inputs: [{ type: "uint8", strides }], steps: [], output: "uint8" }, [bytesUpTo(6)])).toEqual([
      0, 1, 3, 4,
    ]);
    const apart = { shape: [2, 2], inputs: [{ type: "uint8", strides: [1, 2] }], steps: [], output: "uint8" } as const;
    expect(() => run(apart, [bytesUpTo(6)])).toThrow(/lie 2 apart/);
  });

  it("makes one axis of those that no operand tells apart", () => {
    const shape = [2, 1, 3, 4];
    expect(collapseAxes(shape, [contiguousStrides(shape), [0, 0, 0, 0]])).toEqual([{ size: 24, strides: [1, 0] }]);
    expect(collapseAxes(shape, [contiguousStrides(shape), [0, 0, 4, 1]]).map((axis) => axis.size)).toEqual([2, 12]);
    expect(collapseAxes([], [[]])).toEqual([{ size: 1, strides: [1] }]);
  });
});
