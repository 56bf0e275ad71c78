/** The program a model becomes for inputs of given shapes, after all passes, in the text form. Nothing runs. */
import { InferyardError } from "../../errors.ts";
import type { NamedValue, TensorType, Value } from "../ir/graph.ts";
import { printGraph } from "../ir/print.ts";
import type { OnnxModel, OnnxValueInfo } from "../onnx/onnx-model.ts";
import { optimize } from "./index.ts";
import { Builder } from "../build/builder.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { traceModel } from "../onnx/trace-model.ts";
import { isTensor } from "../build/traced-value.ts";

/**
 * `shapes`: of inputs by name; free dimensions of the others are 1. INPUT_INVALID where a name or shape is none of the model's,
 * MODEL_UNSUPPORTED where the model has no single program: it holds what the engine does not know, or its shapes depend on values.
 */
export function optimizedGraphText(model: OnnxModel, shapes: ReadonlyMap<string, readonly number[]>): string {
  const declared = model.graph.inputs.filter(({ name }) => !model.graph.initializers.has(name));
  for (const name of shapes.keys()) {
    if (declared.some((input) => input.name === name)) continue;
    throw new InferyardError("INPUT_INVALID", `the model has no input "${name}"`, {
      remedy: `it takes ${declared.map((input) => input.name).join(", ")}`,
    });
  }
  const inputs = declared.map((input): NamedValue => ({ name: input.name, value: { type: inputType(input, shapes) } }));
  const build = new Builder();
  try {
    const values = new Map<string, Value>(inputs.map(({ name, value }) => [name, value]));
    const outputs = [...traceModel(model, values, build)].map(([name, value]): NamedValue => {
      if (isTensor(value)) return { name, value };
      throw new InferyardError("MODEL_UNSUPPORTED", `its output "${name}" is no tensor`);
    });
    return printGraph(optimize(build.graph(inputs, outputs), undefined, build.budget));
  } catch (error) {
    if (!(error instanceof DataDependencyError)) throw error;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model has no single program: ${error.message}`, {
      remedy: "it can be run: the engine goes on tracing with what the first program gives",
      cause: error,
    });
  }
}

function inputType({ name, type }: OnnxValueInfo, shapes: ReadonlyMap<string, readonly number[]>): TensorType {
  if (type.kind !== "tensor") throw new InferyardError("MODEL_UNSUPPORTED", `its input "${name}" is no tensor`);
  const constraints = shapes.get(name);
  const { dataType, shape = constraints } = type;
  if (shape === undefined) {
    throw new InferyardError("INPUT_INVALID", `the model does not say how many axes its input "${name}" has`, {
      remedy: `say it: --shape ${name}=1,16`,
    });
  }
  const fits =
    constraints === undefined ||
    (constraints.length === shape.length && shape.every((size, axis) => typeof size !== "number" || size === constraints[axis]));
  if (!fits) {
    throw new InferyardError("INPUT_INVALID", `the shape [${constraints.join(", ")}] is not one of the input "${name}"`, {
      remedy: `the model says [${shape.map((size) => size ?? "?").join(", ")}]`,
    });
  }
  return { dataType, shape: constraints ?? shape.map((size) => (typeof size === "number" ? size : 1)) };
}
