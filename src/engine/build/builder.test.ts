import { expect, it } from "vitest";
import { enableRelaxedSimd } from "../codegen/wasm/v8-flags.ts";
import { detectWasmFeatures } from "../codegen/wasm/index.ts";
import { type Literal, literalOf } from "../ir/literal.ts";
import { EngineModel } from "../execute/engine-model.ts";
import { Builder } from "./builder.ts";
import type { GraphSource } from "./graph-source.ts";
import { isTensor } from "./traced-value.ts";

const size = 128; // 2 million steps: more than are folded
const matrix = (step: number): Literal =>
  literalOf(
    "float32",
    [size, size],
    Float32Array.from({ length: size * size }, (_, at) => ((at * step) % 7) - 3),
  );
const [a, b] = [matrix(3), matrix(5)];

/** x + a b. */
const source: GraphSource = {
  weights: [a, b],
  trace: (inputs, build) => {
    const x = inputs.get("x");
    if (x === undefined || !isTensor(x)) throw new Error("x is missing");
    const product = build.add({ kind: "matmul" }, build.constant(a), build.constant(b));
    return new Map([["y", build.add({ kind: "binary", function: "add" }, x, product)]]);
  },
};

it("leaves a long product of constants to the program, which computes what a run folds", async () => {
  const x = { dataType: "float32", shape: [1, size], data: new Float32Array(size).fill(0.5) } as const;
  const program = new Builder();
  source.trace(new Map([["x", { type: x }]]), program);
  expect(program.graph([], []).nodes.map(({ operation }) => operation.kind)).toEqual(["matmul", "binary"]);
  const run = new Builder({}, "eager");
  const folded = source.trace(new Map([["x", run.constant(x)]]), run).get("y");
  const engine = new EngineModel(source, { features: detectWasmFeatures(enableRelaxedSimd), optimize: true });
  const { y } = await engine.run({ x });
  expect(y?.data).toEqual(folded !== undefined && isTensor(folded) ? folded.constant?.data : undefined);
  expect(engine.describe()).toContain(" 0 interpreted");
});
