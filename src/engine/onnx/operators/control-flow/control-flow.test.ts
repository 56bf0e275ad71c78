import * as onnxruntime from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { float, integer, message, model, node, value } from "../../../../../test/fixtures/models/onnx-bytes.ts";
import { Builder, isTensor, readOnnxModel, traceModel } from "../../../index.ts";
import type { Literal } from "../../../ir/literal.ts";

function run(bytes: Uint8Array, inputs: Readonly<Record<string, Literal>>): readonly (readonly number[])[] {
  const build = new Builder({}, "eager");
  const named = new Map(Object.entries(inputs).map(([name, literal]) => [name, build.constant(literal)]));
  return [...traceModel(readOnnxModel(bytes, "made up").model, named, build).values()].map((each) => {
    if (!isTensor(each)) throw new Error("the output is not a tensor");
    return Array.from(each.constant!.data as Float32Array);
  });
}

function graph(title: string, ...content: readonly Buffer[]): readonly Buffer[] {
  return [message(1, title), message(6, ...content, message(2, title)), integer(20, 5)];
}

function floats(shape: readonly number[], ...data: number[]): Literal {
  return { dataType: "float32", shape, data: Float32Array.from(data) };
}

describe("Scan of version 8", () => {
  it.each([
    [0, [2, 3]],
    [1, [2, 3]],
    [0, undefined],
    [1, [3, 1]],
  ] as const)("scans batches of sequences as onnxruntime does: direction %i, lengths %j", async (direction, lengths) => {
    const body = graph(
      "body",
      node({ operator: "Add", inputs: ["sum", "x"], outputs: ["next"] }),
      node({ operator: "Identity", inputs: ["next"], outputs: ["out"] }),
      ...["sum", "x"].map((name) => value(11, name, 1, [2])),
      ...["next", "out"].map((name) => value(12, name, 1, [2])),
    );
    const attributes = [
      body,
      [message(1, "num_scan_inputs"), integer(3, 1), integer(20, 2)],
      [message(1, "directions"), integer(8, direction), integer(20, 7)],
    ];
    const bytes = model({
      opsets: { "": 8 },
      graph: [
        node({ operator: "Scan", inputs: [lengths === undefined ? "" : "n", "s", "xs"], outputs: ["last", "all"], attributes }),
        ...(lengths === undefined ? [] : [value(11, "n", 7, [2])]),
        value(11, "s", 1, [2, 2]),
        value(11, "xs", 1, [2, 3, 2]),
        value(12, "last", 1, [2, 2]),
        value(12, "all", 1, [2, 3, 2]),
      ],
    });
    const inputs = {
      ...(lengths === undefined
        ? {}
        : { n: { dataType: "int64", shape: [2], data: BigInt64Array.from(lengths, BigInt) } as const }),
      s: floats([2, 2], 1, 2, 3, 4),
      xs: floats([2, 3, 2], 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
    };
    const session = await onnxruntime.InferenceSession.create(bytes, { logSeverityLevel: 4 });
    const feeds = Object.entries(inputs).map(([name, { dataType, shape, data }]): [string, onnxruntime.Tensor] => [
      name,
      new onnxruntime.Tensor(dataType as "float32", data as Float32Array, [...shape]),
    ]);
    const theirs = await session.run(Object.fromEntries(feeds));
    expect(run(bytes, inputs)).toEqual(["last", "all"].map((name) => Array.from(theirs[name]!.data as Float32Array)));
  });
});

describe("functions of a model", () => {
  it("give their attributes to the graphs inside of them", () => {
    const reference = [message(1, "value_float"), message(21, "which"), integer(20, 1)];
    const branch = (title: string): readonly Buffer[] =>
      graph(title, node({ operator: "Constant", outputs: ["c"], attributes: [reference] }), value(12, "c"));
    const own = message(
      25,
      message(1, "chosen"),
      message(4, "condition"),
      message(5, "y"),
      message(6, "which"),
      node(
        { operator: "If", inputs: ["condition"], outputs: ["y"], attributes: [branch("then_branch"), branch("else_branch")] },
        7,
      ),
      message(9, integer(2, 20)),
      message(10, "own"),
    );
    const attribute = [message(1, "which"), float(2, 2.5), integer(20, 1)];
    const bytes = model({
      opsets: { "": 20, own: 1 },
      graph: [
        node({ operator: "chosen", domain: "own", inputs: ["condition"], outputs: ["y"], attributes: [attribute] }),
        value(11, "condition", 9, []),
        value(12, "y"),
      ],
      model: [own],
    });
    expect(run(bytes, { condition: { dataType: "bool", shape: [], data: Uint8Array.of(1) } })).toEqual([[2.5]]);
  });
});
