import { describe, expect, it } from "vitest";
import { float, integer, message, model, node, value } from "../../../../../test/fixtures/models/onnx-bytes.ts";
import { Builder, isTensor, readOnnxModel, traceModel } from "../../../index.ts";
import { toNumbers } from "../../../ir/literal.ts";
import type { Value } from "../../../ir/graph.ts";
import { evaluateNode } from "../../../interpret/evaluate.ts";

function bytes(operator: string, seed?: number, inputs: readonly string[] = []): Uint8Array {
  const shape = [message(1, "shape"), integer(8, 100), integer(8, 200), integer(20, 7)];
  const seeded = seed === undefined ? [] : [[message(1, "seed"), float(2, seed), integer(20, 1)]];
  const attributes = inputs.length === 0 ? [shape, ...seeded] : seeded;
  return model({
    opsets: { "": 22 },
    graph: [node({ operator, inputs, outputs: ["y"], attributes }), ...inputs.map((name) => value(11, name)), value(12, "y")],
  });
}

function traced(file: Uint8Array, build: Builder, inputs: Readonly<Record<string, Value>> = {}): Value {
  const [result] = traceModel(readOnnxModel(file, "made up").model, new Map(Object.entries(inputs)), build).values();
  if (result === undefined || !isTensor(result)) throw new Error("the output is not a tensor");
  return result;
}

function drawn(file: Uint8Array, inputs: Readonly<Record<string, Value>> = {}): ArrayLike<number> {
  return toNumbers(traced(file, new Builder({}, "eager"), inputs).constant!);
}

function spread(values: ArrayLike<number>): { mean: number; deviation: number } {
  const list = Array.from(values);
  const mean = list.reduce((sum, each) => sum + each, 0) / list.length;
  return { mean, deviation: Math.sqrt(list.reduce((sum, each) => sum + (each - mean) ** 2, 0) / list.length) };
}

describe("random numbers", () => {
  it("depend on the seed alone", () => {
    for (const operator of ["RandomUniform", "RandomNormal"]) {
      expect(drawn(bytes(operator, 3))).toEqual(drawn(bytes(operator, 3)));
      expect(drawn(bytes(operator, 3))).not.toEqual(drawn(bytes(operator, 4)));
    }
  });

  it("differ each time without a seed", () => {
    expect(drawn(bytes("RandomUniform"))).not.toEqual(drawn(bytes("RandomUniform")));
  });

  it("have the mean and deviation of their distribution", () => {
    const uniform = drawn(bytes("RandomUniform", 5));
    expect(spread(uniform).mean).toBeCloseTo(0.5, 1);
    expect(spread(uniform).deviation).toBeCloseTo(Math.sqrt(1 / 12), 1);
    expect(Math.min(...Array.from(uniform))).toBeGreaterThanOrEqual(0);
    expect(Math.max(...Array.from(uniform))).toBeLessThan(1);
    const normal = spread(drawn(bytes("RandomNormal", 5)));
    expect(normal.mean).toBeCloseTo(0, 1);
    expect(normal.deviation).toBeCloseTo(1, 1);
  });

  it("follow the given probabilities: Bernoulli and Multinomial", () => {
    const build = new Builder();
    const chances = build.constant({ dataType: "float32", shape: [20_000], data: new Float32Array(20_000).fill(0.3) });
    expect(spread(drawn(bytes("Bernoulli", 1, ["x"]), { x: chances })).mean).toBeCloseTo(0.3, 1);
    const sure = build.constant({ dataType: "float32", shape: [3], data: Float32Array.from([0, 1, 1]) });
    expect(Array.from(drawn(bytes("Bernoulli", undefined, ["x"]), { x: sure }))).toEqual([0, 1, 1]);
    const impossible = Number.NEGATIVE_INFINITY;
    const classes = build.constant({ dataType: "float32", shape: [1, 3], data: Float32Array.from([impossible, 2, impossible]) });
    expect(Array.from(drawn(bytes("Multinomial", undefined, ["x"]), { x: classes }))).toEqual([1]);
  });

  it("without a seed are not folded into the graph: each run draws its own", () => {
    const build = new Builder();
    const value = traced(bytes("RandomNormal"), build);
    expect(value.constant).toBeUndefined();
    const [kept] = build.graph([], [{ name: "y", value }]).nodes;
    expect(evaluateNode(kept!.operation, [])[0]!.data).not.toEqual(evaluateNode(kept!.operation, [])[0]!.data);
    expect(traced(bytes("RandomNormal", 2), new Builder()).constant).toBeDefined();
  });
});
