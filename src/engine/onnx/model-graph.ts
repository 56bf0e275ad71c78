/** The graph of an ONNX model for inputs of given shapes. Nothing is executed. */
import { InferyardError, quoteOption } from "../../contract/errors.ts";
import type { Graph, NamedValue, Value } from "../ir/graph.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import type { OnnxModel, OnnxValueInfo } from "./onnx-model.ts";
import type { Builder } from "../build/builder.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { traceModel } from "./trace-model.ts";
import { isTensor } from "../build/traced-value.ts";

/**
 * Builds the graph of the model with `builder`. `shapes`: input shapes by name; dimensions that are not given are 1. Throws INPUT_INVALID for an
 * unknown input or a shape that the model does not accept, and MODEL_UNSUPPORTED if the model has an operator that the engine does not implement, or
 * shapes that depend on data, so that one graph cannot represent it.
 */
export function modelGraph(model: OnnxModel, shapes: ReadonlyMap<string, readonly number[]>, builder: Builder): Graph {
  const declared = model.graph.inputs.filter(({ name }) => !model.graph.initializers.has(name));
  for (const name of shapes.keys()) {
    if (declared.some((input) => input.name === name)) continue;
    throw new InferyardError("INPUT_INVALID", `the model has no input "${name}"`, {
      remedy: `it takes ${declared.map((input) => input.name).join(", ")}`,
    });
  }
  const inputs = declared.map((input): NamedValue => ({ name: input.name, value: { type: inputType(input, shapes) } }));
  try {
    const values = new Map<string, Value>(inputs.map(({ name, value }) => [name, value]));
    const outputs = [...traceModel(model, values, builder)].map(([name, value]): NamedValue => {
      if (isTensor(value)) return { name, value };
      throw new InferyardError("MODEL_UNSUPPORTED", `the output "${name}" is not a tensor`);
    });
    return builder.graph(inputs, outputs);
  } catch (error) {
    if (!(error instanceof DataDependencyError)) throw error;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model has no single graph: ${error.message}`, {
      remedy: "run the model: the engine continues tracing with the results of the first graph segment",
      cause: error,
    });
  }
}

function inputType({ name, type }: OnnxValueInfo, shapes: ReadonlyMap<string, readonly number[]>): TensorType {
  if (type.kind !== "tensor") throw new InferyardError("MODEL_UNSUPPORTED", `the input "${name}" is not a tensor`);
  const requested = shapes.get(name);
  const { dataType, shape = requested } = type;
  if (shape === undefined) {
    throw new InferyardError("INPUT_INVALID", `the model does not declare the number of axes of its input "${name}"`, {
      remedy: `give ${quoteOption("shapes")}, for example ${name}=1,16`,
    });
  }
  const fits =
    requested === undefined ||
    (requested.length === shape.length && shape.every((size, axis) => typeof size !== "number" || size === requested[axis]));
  if (!fits) {
    throw new InferyardError("INPUT_INVALID", `the shape [${requested.join(", ")}] does not fit the input "${name}"`, {
      remedy: `the model declares [${shape.map((size) => size ?? "?").join(", ")}]`,
    });
  }
  return { dataType, shape: requested ?? shape.map((size) => (typeof size === "number" ? size : 1)) };
}
