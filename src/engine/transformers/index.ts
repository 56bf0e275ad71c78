/** Transformers of Hugging Face, built from config.json and the tensors of a safetensors file. */
import { InferyardError, messageOf } from "../../errors.ts";
import type { TensorInfo } from "../../tensor.ts";
import type { GraphSource } from "../build/graph-source.ts";
import { TensorOps } from "../build/tensor-ops.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { isTensor } from "../build/traced-value.ts";
import { bertArchitectures } from "./bert.ts";
import { Config } from "./config.ts";
import { debertaArchitectures } from "./deberta.ts";
import { modernBertArchitectures } from "./modernbert.ts";
import { t5Architectures } from "./t5.ts";
import { gpt2Architectures } from "./gpt2.ts";
import { llamaArchitectures } from "./llama.ts";
import type { Architectures, GetInput, Transformer } from "./transformer.ts";
import { type PendingWeight, type StoredTensor, Weights } from "./weights.ts";

export const architectures: Architectures = {
  ...bertArchitectures,
  ...debertaArchitectures,
  ...modernBertArchitectures,
  ...gpt2Architectures,
  ...llamaArchitectures,
  ...t5Architectures,
};

export interface BuiltTransformer {
  readonly source: GraphSource;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** To be supplied before anything is traced. */
  readonly pending: readonly PendingWeight[];
  /** Brings into memory what is still in the file and was not packed: the file may be closed then. */
  detachFromFile(): void;
}

/**
 * `stored`: what the file's header says. MODEL_UNSUPPORTED for an architecture, a setting or a tensor that is not built, MODEL_INVALID where the
 * tensors are not those of the configuration.
 */
export function buildTransformer(
  name: string,
  values: Readonly<Record<string, unknown>>,
  stored: ReadonlyMap<string, StoredTensor>,
): BuiltTransformer {
  const architecture = Object.hasOwn(architectures, name) ? architectures[name] : undefined;
  if (architecture === undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `the engine builds no ${name} from safetensors`, {
      remedy: "use an ONNX export of the model",
      data: { architecture: name },
    });
  }
  const config = new Config(values, name);
  // Code of the model's own, quantised weights and heads that were cut out change what the tensors mean.
  config.requireAbsent("auto_map", "quantization_config", "pruned_heads", "add_cross_attention");
  const weights = new Weights(stored, architecture.prefixes);
  const model = architecture.make(config, weights);
  const odd = weights.unusedNames.find((each) => !architecture.ignoredTensors.test(each));
  if (odd !== undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `the file has a tensor "${odd}", which no ${name} of this configuration uses`, {
      remedy: "use an ONNX export of the model",
      data: { tensor: odd },
    });
  }
  const { inputs, outputs } = model;
  return {
    source: sourceOf(model, weights),
    inputs,
    outputs,
    pending: weights.pending,
    detachFromFile: () => weights.detachFromFile(),
  };
}

function sourceOf(model: Transformer, weights: Weights): GraphSource {
  return {
    weights: weights.literals,
    trace: (inputs, build) => {
      const given: GetInput = (name) => {
        const value = inputs.get(name);
        if (value !== undefined && isTensor(value)) return value;
        throw new InferyardError("INPUT_INVALID", `the input "${name}" is missing`);
      };
      try {
        return new Map(Object.entries(model.forward(new TensorOps(build), given)));
      } catch (error) {
        if (error instanceof InferyardError || error instanceof DataDependencyError) throw error;
        const shapes = [...inputs].map(([name, value]) => `${name} [${isTensor(value) ? value.type.shape.join(", ") : ""}]`);
        throw new InferyardError("INPUT_INVALID", `the model does not take ${shapes.join(", ")}: ${messageOf(error)}`, {
          cause: error,
        });
      }
    },
  };
}
