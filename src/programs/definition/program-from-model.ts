/** Programs of ONNX models in memory. */
import { InferyardError } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import { tensorInfo } from "../../backends/graphs/onnx-graph.ts";
import { isTensor, onnxSource, type OnnxModel } from "../../engine/index.ts";
import type { Value } from "../../engine/ir/graph.ts";
import { withLazyStorage } from "../../engine/ir/literal.ts";
import type { OpenProgram, Program, ProgramState } from "./program.ts";
import { statePrefix } from "./trace-program.ts";

/** Inputs of a model, and names of its outputs, as a program has them. Free dimensions without a name get one, since two of them may differ. */
export function signatureOf({ graph }: OnnxModel): Pick<Program, "inputs" | "outputs"> {
  return {
    inputs: graph.inputs.filter(({ name }) => !graph.initializers.has(name)).map((input) => nameAxes(tensorInfo(input))),
    outputs: graph.outputs.map((output) => tensorInfo(output).name),
  };
}

/** Opens a model for one device. Its initializers become weights that the device may let go of. */
export function openOnnxProgram(model: OnnxModel, states: readonly ProgramState[] = []): OpenProgram {
  const source = onnxSource(model);
  const after = new Map(states.map(({ name }) => [`${statePrefix}${name}`, name]));
  return {
    ownWeights: source.weights,
    trace: ({ inputs, states: before }, builder) => {
      const traced = [...source.trace(new Map([...inputs, ...before]), builder)].map(([name, value]): [string, Value] => {
        if (isTensor(value)) return [name, value];
        throw new InferyardError("MODEL_UNSUPPORTED", `the output "${name}" is not a tensor`);
      });
      const changed = traced.flatMap(([name, value]): [string, Value][] => {
        const state = after.get(name);
        return state === undefined ? [] : [[state, value]];
      });
      return { outputs: new Map(traced.filter(([name]) => !after.has(name))), states: new Map([...before, ...changed]) };
    },
  };
}

/** A program with the inputs, states, outputs and sizes of another one, that a model in memory computes. Its weights are in the model. */
export function programFromModel(
  model: OnnxModel,
  like: Pick<Program, "inputs" | "states" | "outputs" | "exampleSizes">,
): Program {
  const { inputs, states, outputs, exampleSizes } = like;
  return {
    inputs,
    states,
    outputs,
    exampleSizes,
    weights: [],
    open: () => openOnnxProgram(withOwnLiterals(model), states),
    toOnnx: () => model,
  };
}

/** The model with literals of its own: each device may keep the elements in a form of its own, and let go of these. */
function withOwnLiterals(model: OnnxModel): OnnxModel {
  const { graph } = model;
  const initializers = new Map(
    [...graph.initializers].map(([name, { dataType, shape, data }]) => [
      name,
      withLazyStorage({ dataType, shape, data }, { materialize: () => data }),
    ]),
  );
  return { ...model, graph: { ...graph, initializers } };
}

/** Gives free dimensions without a name one of their own. */
function nameAxes(info: TensorInfo): TensorInfo {
  return { ...info, shape: info.shape.map((size, axis) => (size === "" ? `${info.name}.${axis}` : size)) };
}
