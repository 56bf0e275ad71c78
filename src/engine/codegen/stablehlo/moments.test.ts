import { expect, it } from "vitest";
import { Builder } from "../../build/builder.ts";
import type { NamedValue, Value } from "../../ir/graph.ts";
import { emitGraph } from "./index.ts";

/** The program of the sums over an axis of values, and of the products of two values. */
function program(axis: number, isOfSquares: boolean): string {
  const builder = new Builder();
  const [x, y]: Value[] = [
    { type: { dataType: "float32", shape: [2, 8, 4] } },
    { type: { dataType: "float32", shape: [2, 8, 4] } },
  ];
  const products = builder.add({ kind: "binary", function: "mul" }, x!, isOfSquares ? x! : y!);
  const sums = [x!, products].map((value) => builder.add({ kind: "reduce", function: "sum", axes: [axis], keep: false }, value));
  const named = (values: readonly Value[]): NamedValue[] => values.map((value, index) => ({ name: `v${index}`, value }));
  return emitGraph(builder.graph(named([x!, y!]), named(sums))).text;
}

it("rows of values and of their squares are added in order; other sums are left to the compiler", () => {
  const loops = (text: string): number => text.split('"stablehlo.while"').length - 1;
  expect(loops(program(1, true))).toBe(2);
  expect([program(2, true), program(1, false)].map(loops)).toEqual([0, 0]);
});
