/** Graphs that read sound through a feature extractor. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { describeInfo, type Tensor, type TensorInfo, type TensorMap } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import { createFeatureExtractor, type FeatureExtractor } from "../../processors/audio/feature-extractor.ts";
import type { LoadedGraph, MediaModel } from "../definition/media-task.ts";
import { requireFinite } from "../encoding/require-finite.ts";

/** A graph with its feature extractor. */
export interface SoundGraph {
  readonly graph: LoadedGraph;
  readonly extractor: FeatureExtractor;
  /** The output with logits. */
  readonly output: TensorInfo;
}

/** Logits of one sound, row-major `shape`, without the axis of the batch. */
export interface SoundLogits {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Loads the graph of a model, and reads how sound is prepared for it. Throws MODEL_UNSUPPORTED for a model that takes no sound. */
export async function prepareSoundGraph(model: MediaModel): Promise<SoundGraph> {
  const [config, graph] = await Promise.all([model.readJson("preprocessor_config.json"), model.main()]);
  const extractor = createFeatureExtractor(config);
  const { inputs, outputs } = graph;
  const takesSound = inputs.some(({ name }) => name === "input_values" || name === "input_features");
  const output = outputs.find(({ name }) => name === "logits") ?? (outputs.length === 1 ? outputs[0] : undefined);
  if (takesSound && output !== undefined) return { graph, extractor, output };
  const list = (infos: readonly TensorInfo[]): string => infos.map((info) => `${info.name} ${describeInfo(info)}`).join(", ");
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${model.manifest.name} takes ${list(inputs)} and gives ${list(outputs)}: it is no model that labels sound`,
    { remedy: "name a model with the input input_values or input_features, and the output logits" },
  );
}

/** The inputs of a graph from the extractor's tensors: the mask where the graph takes one, in the type that it takes. Throws MODEL_UNSUPPORTED for other inputs. */
function toInputs({ graph, extractor }: SoundGraph, samples: Float32Array): TensorMap {
  const tensors = extractor.extract(samples);
  return Object.fromEntries(
    graph.inputs.map(({ name, dataType }) => {
      const tensor = tensors[name] ?? (name === "attention_mask" ? onesFor(tensors) : undefined);
      if (tensor === undefined)
        throw new InferyardError("MODEL_UNSUPPORTED", `the graph takes "${name}", which ${extractor.name} does not give`, {
          remedy: "use the preprocessor_config.json of this model",
        });
      return [name, dataType === "int32" && tensor.dataType === "int64" ? toInt32(tensor) : tensor];
    }),
  );
}

/** A mask without padding for the axis after the batch. */
function onesFor(tensors: TensorMap): Tensor | undefined {
  const [features] = Object.values(tensors);
  const length = features?.shape[1];
  if (length === undefined) return undefined;
  return { dataType: "int64", shape: [1, length], data: new BigInt64Array(length).fill(1n) };
}

function toInt32({ shape, data }: Tensor): Tensor {
  return { dataType: "int32", shape, data: Int32Array.from(data as BigInt64Array, Number) };
}

/** The logits of one sound at the extractor's sample rate. */
export async function runSound(model: SoundGraph, samples: Float32Array, signal?: AbortSignal): Promise<SoundLogits> {
  throwIfAborted(signal);
  const { output, graph } = model;
  const outputs = await graph.run(toInputs(model, samples), { outputs: [output.name] });
  const tensor = outputs[output.name];
  if (tensor === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the run gave no output "${output.name}"`);
  const data = toFloat32(tensor);
  requireFinite(data, 0, "sound");
  return { shape: tensor.shape.slice(1), data };
}
