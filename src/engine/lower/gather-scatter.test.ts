import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compiled, expectOnKernels, interpretedSteps, oneNode } from "../../../test/engine/fixtures/run-graph.ts";
import { randomNumbers } from "../../../test/engine/kernel-memory.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { type Literal, toLiteral } from "../ir/literal.ts";
import type { OperationOf } from "../ir/operations.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const count = (shape: readonly number[]) => shape.reduce((all, one) => all * one, 1);

/** Whole numbers, which sums and products keep exactly. */
function data(dataType: Literal["dataType"], shape: readonly number[], seed: number): Literal {
  return toLiteral(
    dataType,
    shape,
    randomNumbers(count(shape), seed).map((value) => Math.floor(value * 9) - (dataType.startsWith("u") ? 0 : 4)),
  );
}

function indices(dataType: "int32" | "int64", shape: readonly number[], max: (place: number) => number, seed: number): Literal {
  return toLiteral(
    dataType,
    shape,
    randomNumbers(count(shape), seed).map((value, place) => Math.floor(value * 2 * max(place)) - max(place)),
  );
}

const shapes = fc.array(size(5), { minLength: 1, maxLength: 4 });
const indexTypes = fc.constantFrom("int32", "int64");
const numeric = fc.constantFrom("float32", "int32", "int64");
const every = fc.constantFrom("float32", "int64", "uint8", "float16", "float64", "bool");
const reductions = fc.constantFrom("none", "add", "mul", "min", "max");

describe("elements that indices name", () => {
  it("are gathered as the interpreter does, whatever part of the data the indices cover", () => {
    fc.assert(
      fc.property(shapes, fc.nat(3), fc.nat(99), every, indexTypes, size(4), (shape, at, seed, type, indexType, splits) => {
        const axis = at % shape.length;
        const narrow = shape.map((length, place) => (place === axis ? 1 + (seed % 7) : Math.max(1, length - (seed % 2))));
        const places = indices(indexType, narrow, () => shape[axis]!, seed + 1);
        expectOnKernels({ kind: "gather-elements", axis }, [data(type, shape, seed), places], { splits });
      }),
      { numRuns: amount(100, 25) },
    );
  });

  it("are scattered in the order of their updates, with every reduction", () => {
    fc.assert(
      fc.property(
        shapes,
        fc.nat(3),
        fc.nat(99),
        numeric,
        reductions,
        indexTypes,
        size(4),
        (shape, at, seed, type, reduction, indexType, splits) => {
          const axis = at % shape.length;
          const narrow = shape.map((length, place) => (place === axis ? 1 + (seed % 7) : Math.max(1, length - (seed % 2))));
          const places = indices(indexType, narrow, () => shape[axis]!, seed + 1);
          const operands = [data(type, shape, seed), places, data(type, narrow, seed + 2)];
          expectOnKernels({ kind: "scatter-elements", axis, reduction }, operands, { splits });
        },
      ),
      { numRuns: amount(100, 25) },
    );
    const bytes = [data("uint8", [4, 300], 1), indices("int64", [2, 300], () => 4, 2), data("uint8", [2, 300], 3)];
    expectOnKernels({ kind: "scatter-elements", axis: 0, reduction: "none" }, bytes, { splits: 2 });
  });

  it("name nothing outside of the axis", () => {
    const gathering: OperationOf<"gather-elements"> = { kind: "gather-elements", axis: 0 };
    for (const bad of [3, -4, 2 ** 40]) {
      const { graph, inputs } = oneNode(gathering, [data("float32", [3], 1), toLiteral("int64", [2], [1, bad])]);
      expect(() => compiled(graph, inputs)).toThrow("outside of its axis");
    }
  });
});

describe("blocks that indices name", () => {
  const blocks = fc.record({ shape: shapes, batch: fc.nat(2), depth: fc.nat(3), rows: size(4), seed: fc.nat(99) });

  it("are gathered as the interpreter does, from batches as well", () => {
    fc.assert(
      fc.property(blocks, every, indexTypes, size(3), ({ shape, batch, depth, rows, seed }, type, indexType, splits) => {
        const batchAxes = Math.min(batch, shape.length - 1);
        const length = 1 + (depth % (shape.length - batchAxes));
        const places = indices(
          indexType,
          [...shape.slice(0, batchAxes), rows, length],
          (place) => shape[batchAxes + (place % length)]!,
          seed,
        );
        expectOnKernels({ kind: "gather-nd", batchAxes }, [data(type, shape, seed), places], { splits });
      }),
      { numRuns: amount(100, 25) },
    );
  });

  it("are scattered in the order of their updates", () => {
    fc.assert(
      fc.property(blocks, numeric, reductions, size(3), ({ shape, depth, rows, seed }, type, reduction, splits) => {
        const length = 1 + (depth % shape.length);
        const places = indices("int64", [rows, length], (place) => shape[place % length]!, seed);
        const updates = data(type, [rows, ...shape.slice(length)], seed + 1);
        expectOnKernels({ kind: "scatter-nd", reduction }, [data(type, shape, seed), places, updates], { splits });
      }),
      { numRuns: amount(100, 25) },
    );
  });

  it("go through blocks of any length", () => {
    for (const reduction of ["none", "add"] as const) {
      const updates = data("float32", [5, 700], 3);
      const operands = [data("float32", [3, 700], 1), indices("int64", [5, 1], () => 3, 2), updates];
      expectOnKernels({ kind: "scatter-nd", reduction }, operands, { splits: 3 });
    }
  });

  it("write over the data only where nothing else reads it", () => {
    const places = toLiteral("int64", [2, 1], [1, 0]);
    const { graph, inputs } = oneNode({ kind: "scatter-nd", reduction: "none" }, [
      data("float32", [2, 3], 1),
      places,
      data("float32", [2, 3], 1),
    ]);
    const [node] = graph.nodes;
    const [x, index] = node!.inputs;
    const both = { ...graph, nodes: [{ ...node!, inputs: [x!, index!, x!] }] }; // rows trade places
    const [first, second] = [[...inputs["x0"]!.data].slice(0, 3), [...inputs["x0"]!.data].slice(3)];
    expect([...compiled(both, inputs)["y0"]!.data]).toEqual([...second, ...first]);
    expect(interpretedSteps(both)).toEqual([]);
  });
});
