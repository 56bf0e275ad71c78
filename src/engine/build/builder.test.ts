import { expect, it } from "vitest";
import { enableRelaxedSimd } from "../codegen/wasm/v8-flags.ts";
import { detectWasmFeatures } from "../codegen/wasm/index.ts";
import { type Literal, toLiteral } from "../ir/literal.ts";
import { EngineModel } from "../execute/engine-model.ts";
import { Builder } from "./builder.ts";
import type { GraphSource } from "./graph-source.ts";
import { isTensor } from "./traced-value.ts";

const size = 128; // 2 million multiplications: more than are folded into a graph
const matrix = (step: number): Literal =>
  toLiteral(
    "float32",
    [size, size],
    Float32Array.from({ length: size * size }, (_, at) => ((at * step) % 7) - 3),
  );
const [a, b] = [matrix(3), matrix(5)];

/** x + a b. */
const source: GraphSource = {
  weights: [a, b],
  trace: (inputs, builder) => {
    const x = inputs.get("x");
    if (x === undefined || !isTensor(x)) throw new Error("x is missing");
    const product = builder.add({ kind: "matmul" }, builder.constant(a), builder.constant(b));
    return new Map([["y", builder.add({ kind: "binary", function: "add" }, x, product)]]);
  },
};

it("does not fold a large product of constants into a graph; its run gives what eager evaluation gives", async () => {
  const x = { dataType: "float32", shape: [1, size], data: new Float32Array(size).fill(0.5) } as const;
  const graphBuilder = new Builder();
  source.trace(new Map([["x", { type: x }]]), graphBuilder);
  expect(graphBuilder.graph([], []).nodes.map(({ operation }) => operation.kind)).toEqual(["matmul", "binary"]);
  const eager = new Builder({}, "eager");
  const folded = source.trace(new Map([["x", eager.constant(x)]]), eager).get("y");
  const engine = new EngineModel(source, { features: detectWasmFeatures(enableRelaxedSimd) });
  const { y } = await engine.run({ x });
  expect(y?.data).toEqual(folded !== undefined && isTensor(folded) ? folded.constant?.data : undefined);
  expect(engine.describe()).toContain(" 0 interpreted");
});
