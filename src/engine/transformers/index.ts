/** Builds the models of Hugging Face transformers from config.json and the tensors of a safetensors file. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { GraphSource } from "../build/graph-source.ts";
import { TensorOps } from "../build/tensor-ops.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { isTensor, type TracedValue } from "../build/traced-value.ts";
import { bartModels } from "./bart.ts";
import { bertArchitectures } from "./encoders/bert.ts";
import { Config } from "./config.ts";
import { debertaArchitectures } from "./encoders/deberta.ts";
import { modernBertArchitectures } from "./encoders/modernbert.ts";
import { nomicBertArchitectures } from "./encoders/nomic-bert.ts";
import { t5Encoders, t5Models } from "./t5.ts";
import { gpt2Architectures } from "./gpt2.ts";
import { llamaArchitectures } from "./llama.ts";
import { optArchitectures } from "./opt.ts";
import { clipArchitectures } from "./vision/clip.ts";
import { siglipArchitectures } from "./vision/siglip.ts";
import { trOcrModels } from "./vision/trocr.ts";
import { vitArchitectures } from "./vision/vit.ts";
import { whisperModels } from "./whisper.ts";
import { alignedIdsInput, type EncoderDecoderGraphs, sourceMaskInput } from "./encoder-decoder.ts";
import type { Architecture, Architectures, GetInput, Transformer } from "./transformer.ts";
import type { PackedType } from "../../formats/scaled-blocks/encode.ts";
import { type PackedWeightNames, type PendingWeight, type StoredTensor, Weights } from "./weights.ts";

/** All transformer architectures that the engine builds from safetensors, by Hugging Face class name. */
export const architectures: Architectures = {
  ...bertArchitectures,
  ...debertaArchitectures,
  ...modernBertArchitectures,
  ...nomicBertArchitectures,
  ...gpt2Architectures,
  ...llamaArchitectures,
  ...optArchitectures,
  ...t5Encoders,
  ...vitArchitectures,
  ...clipArchitectures,
  ...siglipArchitectures,
};

/** All encoder-decoder language models that the engine builds from safetensors, by Hugging Face class name. */
export const encoderDecoders: Readonly<Record<string, Architecture<EncoderDecoderGraphs>>> = {
  ...t5Models,
  ...bartModels,
  ...whisperModels,
  ...trOcrModels,
};

/** The hidden states of a language model, which the same source computes apart from the output layer. */
export interface HeadlessModel {
  /** Name of the input, of any content, with which `BuiltTransformer.source` is traced as this model. */
  readonly selector: string;
  readonly outputs: readonly TensorInfo[];
}

/** A transformer whose weights are declared and not yet read. */
export interface BuiltTransformer {
  /** Graph source for `EngineModel`. */
  readonly source: GraphSource;
  /** Inputs, named as in Optimum's ONNX exports. */
  readonly inputs: readonly TensorInfo[];
  /** Outputs, in the same form. */
  readonly outputs: readonly TensorInfo[];
  /** The same model without the head that it was trained with. Absent for a model without one, and for a head of a task. */
  readonly headless?: HeadlessModel;
  /** The weights that the model reads. Each must be given a reader before anything is traced. */
  readonly pending: readonly PendingWeight[];
  /** Which weights are packed while they are read; undefined if no packing was requested. */
  readonly packing: PackedWeightNames | undefined;
  /** Reads into memory all weights that were not packed yet; the file may be closed afterwards. */
  detachFromFile(): void;
}

/**
 * Builds the architecture `name` from the parsed config.json `values`. `stored` are the tensors in the header of the weights file, by name; no elements are
 * read. `packTo`: type to which linear layers are quantized when they are read. Default: none. Throws MODEL_UNSUPPORTED for an architecture, setting or tensor
 * that the engine does not implement, and MODEL_INVALID if a tensor is missing or does not have the shape that follows from config.json.
 */
export function buildTransformer(
  name: string,
  values: Readonly<Record<string, unknown>>,
  stored: ReadonlyMap<string, StoredTensor>,
  packTo?: PackedType,
): BuiltTransformer {
  const isEncoder = lacksMaskedHead(name, stored);
  const built = isEncoder ? name.replace(maskedHead, "Model") : name;
  const { model, weights, headless } = made(built, architectures, values, stored, packTo);
  const { inputs, outputs } = model;
  const own = new Set(outputs.map((output) => output.name));
  return {
    source: getSource((given) => (headless !== undefined && given.has(headlessSelector) ? headless : model), weights),
    inputs,
    outputs,
    ...(headless === undefined
      ? {}
      : { headless: { selector: headlessSelector, outputs: headless.outputs.filter((output) => !own.has(output.name)) } }),
    pending: weights.pending,
    packing: weights.packing,
    detachFromFile: () => weights.detachFromFile(),
  };
}

const headlessSelector = "without_head";
/** Classes without a head, for whatever a file has beside the model. */
const isHeadless = /Model$/;
const maskedHead = /ForMaskedLM$/;

/** Whether a file has no weight of the head of a masked language model: transformers saves an encoder so, with the class that it was trained as. */
function lacksMaskedHead(name: string, stored: ReadonlyMap<string, StoredTensor>): boolean {
  if (!maskedHead.test(name)) return false;
  return ![...stored.keys()].some((each) => /^(cls|lm_head|vocab_\w+|head|decoder|lm_predictions)\./.test(each));
}

/** An encoder-decoder model that is ready to be traced: with inputs of the encoder, the decoder or the aligner as that. */
export interface BuiltEncoderDecoder extends BuiltTransformer, Pick<EncoderDecoderGraphs, "maxSourceTokens" | "features"> {
  /** The encoder's inputs; `inputs` are the decoder's. */
  readonly encoderInputs: readonly TensorInfo[];
  /** The encoder's outputs, which are inputs of the decoder. */
  readonly encoderOutputs: readonly TensorInfo[];
}

/** Builds an encoder-decoder language model. Throws as `buildTransformer` does. */
export function buildEncoderDecoder(
  name: string,
  values: Readonly<Record<string, unknown>>,
  stored: ReadonlyMap<string, StoredTensor>,
  packTo?: PackedType,
): BuiltEncoderDecoder {
  const { model, weights } = made(name, encoderDecoders, values, stored, packTo);
  const { encoder, decoder, aligner, maxSourceTokens, features } = model;
  const modelFor = (inputs: ReadonlyMap<string, TracedValue>): Transformer => {
    if (inputs.has(sourceMaskInput)) return decoder;
    return inputs.has(alignedIdsInput) ? aligner : encoder;
  };
  return {
    source: getSource(modelFor, weights),
    inputs: decoder.inputs,
    outputs: decoder.outputs,
    encoderInputs: encoder.inputs,
    encoderOutputs: encoder.outputs,
    maxSourceTokens,
    features,
    pending: weights.pending,
    packing: weights.packing,
    detachFromFile: () => weights.detachFromFile(),
  };
}

/** Makes the model of an architecture. It uses all weights that the architecture does not ignore. */
function made<Model>(
  name: string,
  known: Readonly<Record<string, Architecture<Model>>>,
  values: Readonly<Record<string, unknown>>,
  stored: ReadonlyMap<string, StoredTensor>,
  packTo: PackedType | undefined,
): { readonly model: Model; readonly weights: Weights; readonly headless: Model | undefined } {
  const architecture = Object.hasOwn(known, name) ? known[name] : undefined;
  if (architecture === undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `the engine does not build ${name} from safetensors`, {
      remedy: "use an ONNX export of the model",
      data: { architecture: name },
    });
  }
  const config = new Config(values, name);
  // Each of these changes what the tensors mean: custom code, quantized weights, pruned heads, cross-attention.
  config.requireAbsent("quantization_config", "pruned_heads", "add_cross_attention");
  if (architecture.takenOverCode?.test(config.section("auto_map")?.string("AutoModel", "") ?? "") !== true)
    config.requireAbsent("auto_map");
  const weights = new Weights(stored, architecture.prefixes, packTo);
  const model = architecture.make(config, weights);
  const isHead = (each: string): boolean => isHeadless.test(name) && weights.isOfHead(each);
  const unexpected = weights.unusedNames.find((each) => !architecture.ignoredTensors.test(each) && !isHead(each));
  if (unexpected === undefined) return { model, weights, headless: architecture.makeHeadless?.(config, weights) };
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `the file has a tensor "${unexpected}", which ${name} with this config.json does not use`,
    { remedy: "use an ONNX export of the model", data: { tensor: unexpected } },
  );
}

function getSource(modelFor: (inputs: ReadonlyMap<string, TracedValue>) => Transformer, weights: Weights): GraphSource {
  return {
    weights: weights.literals,
    trace: (inputs, builder) => {
      const input: GetInput = (name) => {
        const value = inputs.get(name);
        if (value !== undefined && isTensor(value)) return value;
        throw new InferyardError("INPUT_INVALID", `the input "${name}" is missing`);
      };
      try {
        return new Map(Object.entries(modelFor(inputs).forward(new TensorOps(builder), input)));
      } catch (error) {
        if (error instanceof InferyardError || error instanceof DataDependencyError) throw error;
        const shapes = [...inputs].map(([name, value]) => `${name} [${isTensor(value) ? value.type.shape.join(", ") : ""}]`);
        throw new InferyardError("INPUT_INVALID", `the model does not accept ${shapes.join(", ")}: ${getMessage(error)}`, {
          cause: error,
        });
      }
    },
  };
}
