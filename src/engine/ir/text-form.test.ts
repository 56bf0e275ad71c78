import { describe, expect, it } from "vitest";
import { parseGraph } from "./parse.ts";
import { printGraph } from "./print.ts";
import { verify } from "./verify.ts";

const text = `input x: float32[1,4]
input "input.1 odd": int64[2]
constant c0: float32[] = [0.1]
v0: float32[1,4] = elementwise(x, c0) { binary($0, $1) function=mul; cast($2) to=int8 saturate=true; cast($3) to=float32 saturate=false }
v1: float32[1,2], v2: int64[1,2] = top-k(v0) axis=1 count=2 largest=true
constant c1: int64[2] = [9007199254740993, -1]
v3: int64[1,2] = binary(v2, c1) function=add
v4: string[1] = call(v3) function=lookup attributes={keys:[NaN,-0],default:other,"a b":true} types=[{dataType:string,shape:[1]}]
output y = v1
output "z 2" = v3
constant c2: string[2] = ["a b", "c\\"]"]
output words = c2`;

describe("the text form", () => {
  it("round-trips: names, numbers of any size, text, chains and nodes with two outputs", () => {
    const graph = parseGraph(text);
    expect(verify(graph)).toEqual([]);
    expect(printGraph(graph)).toBe(text);
  });

  it("leaves the elements of large constants out", () => {
    expect(printGraph(parseGraph(text), { maxElements: 1 })).toContain("constant c1: int64[2] = 2 elements");
  });

  it.each([
    ["y: float32[2] = unary(x) function=exp", /line 1: "x" is not defined before its use/],
    ["input x: floot[2]", /"floot" is not an element type/],
    ["constant c: int32[2] = [1]", /the constant has 1 elements, and its shape \[2\] needs 2/],
    ["constant c: int32[2] = 2 elements", /expected "\["/],
    ["input x: int32[2] more", /unexpected "more"/],
    ["input x: int32[2]\ninput x: int32[2]", /line 2: "x" is defined twice/],
  ])("refuses %s", (wrong, reason) => expect(() => parseGraph(wrong)).toThrow(reason));
});

describe("verify", () => {
  it("reports types that differ from inferred ones, uses before definitions and duplicate names", () => {
    const graph = parseGraph("input x: float32[2]\ny: float32[3] = unary(x) function=exp\noutput y = y\noutput y = x");
    expect(verify(graph)).toEqual([
      "node 0, unary: its output type is float32[3], and inference gives float32[2]",
      'more than one output is called "y"',
    ]);
    expect(verify({ ...graph, nodes: [], outputs: graph.outputs.slice(0, 1) })).toEqual([
      'the output "y" is used before it is defined',
    ]);
    expect(verify({ ...graph, nodes: [...graph.nodes, ...graph.nodes] }).join()).toContain("is defined twice");
  });
});
