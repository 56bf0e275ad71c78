/** Models as graphs of our engine, from ONNX files, safetensors and GGUF: what all backends that compile graphs load. */
import type { LoadOptions, ModelFiles } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { OpenModelFiles } from "./open-model-files.ts";
import type { BuiltEncoderDecoder, BuiltTransformer, GraphSource, RunLimits, TraceLimits } from "../../engine/index.ts";

/** A model as a source of graphs, with facts about its files. */
export interface OpenGraph {
  readonly source: GraphSource;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** The same model without its head, which can be computed on its own; its outputs follow `outputs`. */
  readonly headless?: BuiltTransformer["headless"];
  /** The encoder of a language model, which has the same source; then `inputs` and `outputs` belong to the decoder. */
  readonly encoder?: Pick<BuiltEncoderDecoder, "encoderInputs" | "encoderOutputs" | "maxSourceTokens" | "features"> | undefined;
  /** Names of outputs that are not tensors, such as sequences. */
  readonly nonTensorOutputs: readonly string[];
  /** Sentences for the evidence: how the weights were read and packed. */
  readonly notes: readonly string[];
  /** Bytes of the file's weights; 0 if other weights than the file's are held. */
  readonly weightBytes: number;
  /** Identity of the files it was read from, as `OpenModelFiles.identity`; undefined: files that may have changed. */
  readonly identity: string | undefined;
  /** See `OpenModelFiles.identified`. Default: not known. */
  readonly files?: readonly (readonly [path: string, identity: string])[] | undefined;
  /** Reads the weights that no graph has read yet into memory, and lets go of the files. */
  detachFromFile(): void;
}

/**
 * Opens a model, keeps its files open while `use` runs, and returns the result of `use`. `opened`: files that are open already; they are closed. Throws MODEL_INVALID for damaged files and MODEL_UNSUPPORTED for
 * operators, types and configurations that the engine does not have.
 */
export async function withOpenGraph<Result>(
  model: ModelFiles,
  options: LoadOptions,
  use: (graph: OpenGraph) => Promise<Result>,
  opened?: OpenModelFiles,
): Promise<Result> {
  // Imported on demand, as all that needs the engine: it is large, and static embeddings do not need it.
  const files = opened ?? new (await import("./open-model-files.ts")).OpenModelFiles();
  try {
    const graph =
      model.format === "onnx"
        ? await (await import("./onnx-graph.ts")).openOnnxGraph(files, model, options)
        : await (await import("./transformer-graph.ts")).openTransformerGraph(files, model, options);
    const result = await use(graph);
    graph.detachFromFile();
    return result;
  } finally {
    files.close();
  }
}

/** How many weights of a graph are quantized in blocks, by type: "24 in Q4_K, 1 in Q6_K". Undefined if none is. */
export function describeBlocks({ weights }: GraphSource): string | undefined {
  const types = weights.flatMap(({ storage }) => storage?.blocks?.type ?? []);
  const counts = [...new Set(types)].map((type) => `${types.filter((each) => each === type).length} in ${type}`);
  return counts.length === 0 ? undefined : counts.join(", ");
}

/** Limits of tracing one model, in milliseconds and bytes. A limit that is not set is left out, so that the engine's default holds. */
export function traceLimits({ maxTraceTime, maxTraceMemory }: LoadOptions): Partial<TraceLimits> {
  return {
    ...omitUndefined({ milliseconds: maxTraceTime, bytes: maxTraceMemory }),
  };
}

/** Limits of tracing and running one model. */
export function runLimits(options: LoadOptions): RunLimits {
  const { maxRunMemory } = options;
  return { trace: traceLimits(options), ...omitUndefined({ runBytes: maxRunMemory }) };
}
