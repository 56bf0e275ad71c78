/** Models that are written and read again. */
import { describe, expect, it } from "vitest";
import { int64Literal, toLiteral } from "../ir/literal.ts";
import type { OnnxAttribute, OnnxModel, OnnxNode } from "./onnx-model.ts";
import { readOnnxModel } from "./read-model.ts";
import { writeOnnxModel } from "./write-model.ts";

const node = (operator: string, attributes: readonly (readonly [string, OnnxAttribute])[]): OnnxNode => ({
  name: `the ${operator}`,
  domain: operator === "Other" ? "org.example" : "",
  operator,
  inputs: ["x", "", "w"],
  outputs: ["y"],
  attributes: new Map(attributes),
});

const inner = {
  name: "inner",
  nodes: [],
  initializers: new Map([["k", int64Literal([3, -4])]]),
  inputs: [],
  outputs: [{ name: "k", type: { kind: "tensor", dataType: "int64", shape: [2] } }],
} as const;

const model: OnnxModel = {
  irVersion: 10,
  opsets: new Map([
    ["", 21],
    ["org.example", 1],
  ]),
  functions: new Map(),
  elementCount: 5,
  graph: {
    name: "graph",
    nodes: [
      node("Other", [
        ["f", { kind: "float", value: 0.5 }],
        ["i", { kind: "int", value: -7 }],
        ["s", { kind: "string", value: "µ" }],
        ["t", { kind: "tensor", value: toLiteral("int4", [3], [1, -8, 7]) }],
        ["g", { kind: "graph", value: inner }],
        ["fs", { kind: "floats", value: [1, 2] }],
        ["is", { kind: "ints", value: [300, -1] }],
        ["ss", { kind: "strings", value: ["a", ""] }],
      ]),
      node("Relu", []),
    ],
    initializers: new Map([
      ["w", toLiteral("float16", [2, 1], [1, -2])],
      ["names", { dataType: "string", shape: [2], data: ["one", "two"] }],
    ]),
    inputs: [{ name: "x", type: { kind: "tensor", dataType: "float32", shape: ["rows", 4, null] } }],
    outputs: [{ name: "y", type: { kind: "tensor", dataType: "bool" } }],
  },
};

describe("writeOnnxModel", () => {
  it("writes what is read again as the same model", () => {
    const bytes = Buffer.concat(writeOnnxModel(model, { producer: "test", version: "1" }));
    const { model: read } = readOnnxModel(bytes, "the model");
    expect({ ...read, elementCount: 0 }).toEqual({ ...model, elementCount: 0 });
  });

  it("refuses types that it cannot state", () => {
    const graph = { ...model.graph, outputs: [{ name: "y", type: { kind: "other", name: "map" } as const }] };
    expect(() => writeOnnxModel({ ...model, graph }, { producer: "", version: "" })).toThrow(/the type map cannot be written/);
  });
});
