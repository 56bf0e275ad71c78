/** The graph of an ONNX model as text, for `inferyard inspect`. Nothing is executed. */
import { Builder } from "./build/builder.ts";
import { emitGraph } from "./codegen/stablehlo/index.ts";
import { printGraph } from "./ir/print.ts";
import { modelGraph } from "./onnx/model-graph.ts";
import type { OnnxModel } from "./onnx/onnx-model.ts";
import { runPasses } from "./passes/index.ts";

/** Shapes of inputs by name; dimensions that are not given are 1. */
type Shapes = ReadonlyMap<string, readonly number[]>;

/** Text of the model's graph after all optimization passes. Throws the errors of `modelGraph`. */
export function optimizedGraphText(model: OnnxModel, shapes: Shapes): string {
  const builder = new Builder();
  return printGraph(runPasses(modelGraph(model, shapes, builder), { budget: builder.budget }));
}

/**
 * The model's graph as a StableHLO program; comments map its arguments and results to inputs, weights and outputs. Throws the errors of `modelGraph`
 * and `emitGraph`.
 */
export function stableHloText(model: OnnxModel, shapes: Shapes): string {
  const program = emitGraph(modelGraph(model, shapes, new Builder()));
  const comments = program.arguments.map(
    (argument, index) => `// %arg${index}: ${argument.kind === "input" ? `input "${argument.name}"` : "weights of the model"}`,
  );
  const results = program.results.map(({ name }, index) => `// result ${index}: output "${name}"`);
  return [...comments, ...results, program.text].join("\n");
}
