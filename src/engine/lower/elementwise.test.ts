import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compiled, expectOnKernels, interpretedSteps, oneNode } from "../../../test/engine/fixtures/run-graph.ts";
import { randomNumbers } from "../../../test/engine/kernel-memory.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { fuseElementwise } from "../passes/fuse-elementwise.ts";
import { type ElementType, elementTypes } from "../ir/element-types.ts";
import { type Literal, toLiteral } from "../ir/literal.ts";
import { parseGraph } from "../ir/parse.ts";
import type { BinaryFunction, Operation, UnaryFunction } from "../ir/operations.ts";

const wholes = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"] as const;
const all = [...wholes, "float32", "float64"] as const;

/** Numbers all over a type, its ends and small ones among them. */
function values(dataType: ElementType, count: number, seed: number): Literal {
  const { kind, bits } = elementTypes[dataType];
  const [min, max] = kind === "signed" ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  const special = kind === "float" ? [0.5, -2.5, 3, -0, 1e9] : [min, max, 0, 1, 2, 3, kind === "signed" ? -1 : 5];
  const numbers = randomNumbers(count, seed).map((value, index) => {
    if (index % 3 === 0) return special[Math.floor(value * special.length)]!;
    if (kind === "float") return (value - 0.5) * 200;
    return index % 3 === 1 ? Math.floor(value * 20) - (kind === "signed" ? 10 : 0) : Math.floor(min + value * (max - min));
  });
  return toLiteral(dataType, [count], numbers);
}

describe("operations on elements of every type of numbers", () => {
  it.each(wholes)("compute with %s as the interpreter does, and wrap around as it does", (type) => {
    const binary: readonly BinaryFunction[] = [
      ...(["add", "sub", "mul", "div", "mod", "remainder", "min", "max"] as const),
      ...(["equal", "less", "less-or-equal", "greater", "greater-or-equal"] as const),
      ...(["bitwise-and", "bitwise-or", "bitwise-xor"] as const),
    ];
    for (const [seed, name] of binary.entries())
      expectOnKernels({ kind: "binary", function: name }, [values(type, 103, seed), values(type, 103, seed + 50)], { splits: 2 });
    const unary: readonly UnaryFunction[] = ["bitwise-not", ...(type.startsWith("u") ? [] : (["abs", "neg", "sign"] as const))];
    for (const name of unary) expectOnKernels({ kind: "unary", function: name }, [values(type, 41, 3)]);
    const chosen = toLiteral("bool", [9], [1, 0, 1, 1, 0, 0, 1, 0, 1]);
    expectOnKernels({ kind: "select" }, [chosen, values(type, 9, 1), values(type, 9, 2)]);
  });

  it("wrap around in the middle of a chain", () => {
    const text = [
      "input x0: uint8[4]\ninput x1: uint8[4]",
      "s: uint8[4] = binary(x0, x1) function=add",
      "d: uint8[4] = binary(s, x1) function=div",
      "t: uint8[4] = binary(x0, x1) function=add",
      "l: bool[4] = binary(t, x0) function=less",
      "output d = d\noutput l = l",
    ].join("\n");
    const bytes = (...values: number[]): Literal => toLiteral("uint8", [4], values);
    const inputs = { x0: bytes(200, 255, 3, 250), x1: bytes(100, 1, 5, 6) };
    const results = compiled(fuseElementwise(parseGraph(text)), inputs);
    expect([...results["d"]!.data]).toEqual([0, 0, 1, 0]);
    expect([...results["l"]!.data]).toEqual([1, 1, 0, 1]);
  });

  it.each(["uint8", "uint16", "uint32"] as const)("shift %s", (type) => {
    const bits = toLiteral(
      type,
      [50],
      Float64Array.from({ length: 50 }, (_, index) => index % 40),
    );
    for (const name of ["shift-left", "shift-right"] as const)
      expectOnKernels({ kind: "binary", function: name }, [values(type, 50, 7), bits]);
  });

  it("compute with float64, NaN and infinities among them", () => {
    const special = [Number.NaN, Infinity, -Infinity, -0, 0];
    const [a, b] = [values("float64", 60, 1), values("float64", 60, 2)];
    special.forEach((value, index) => ((a.data as Float64Array)[index * 7] = value));
    const binary: readonly BinaryFunction[] = ["add", "sub", "mul", "div", "min", "max", "remainder", "less", "equal", "greater"];
    for (const name of binary) expectOnKernels({ kind: "binary", function: name }, [a, b]);
    const unary: readonly UnaryFunction[] = ["abs", "neg", "sign", "floor", "ceil", "round", "sqrt", "reciprocal", "is-nan"];
    for (const name of unary) expectOnKernels({ kind: "unary", function: name }, [a]);
    expectOnKernels({ kind: "unary", function: "tan" }, [b], { tolerance: 1e-12 });
  });

  it("change every type into every other", () => {
    const types = fc.constantFrom(...all, "bool" as const);
    fc.assert(
      fc.property(types, types, fc.nat(99), (from, to, seed) => {
        const x = from === "bool" ? toLiteral("bool", [5], [1, 0, 0, 1, 1]) : values(from, 61, seed);
        const isFloat = from.startsWith("float");
        // What floats too large for a type become is the machine's to say; these fit, or are small.
        const fitting = isFloat
          ? toLiteral(
              from,
              [61],
              randomNumbers(61, seed).map((value) => value * 127),
            )
          : x;
        expectOnKernels({ kind: "cast", to, saturate: false }, [fitting]);
      }),
      { numRuns: amount(300, 75) },
    );
  });

  it("keep casts that saturate inside of the type", () => {
    for (const from of ["float32", "float64", "int32", "int64", "int16", "uint8"] as const)
      for (const to of ["int8", "uint8", "int16", "uint16"] as const)
        expectOnKernels({ kind: "cast", to, saturate: true }, [values(from, 77, 5)]);
    const narrowing: Operation = { kind: "cast", to: "int32", saturate: true };
    expect(interpretedSteps(fuseElementwise(oneNode(narrowing, [values("int64", 9, 1)]).graph))).toEqual(["elementwise"]);
  });
});
