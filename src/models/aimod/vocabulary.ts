/** The words of Kapsl's metadata.json with their meaning here. Kapsl compares all of them without regard to case. */
import type { LoadSettings, ModelFormat, Precision } from "../../contract/backend.ts";
import type { ModelPlacement } from "../placement.ts";

/**
 * Model formats by the field `framework`, or the newer `format`, of metadata.json. An `llm` is an ONNX graph that generates text.
 */
export const formatOfFramework: ReadonlyMap<string, ModelFormat> = new Map<string, ModelFormat>([
  ["onnx", "onnx"],
  ["llm", "onnx"],
  ["gguf", "gguf"],
  ["safetensors", "safetensors"],
  ["native", "safetensors"],
]);

/** Hugging Face tasks by the newer field `task` of metadata.json. `forward` is a plain run on tensors and implies no task. */
export const tasksByKapslTask: ReadonlyMap<string, readonly string[] | undefined> = new Map<
  string,
  readonly string[] | undefined
>([
  ["generate", ["text-generation"]],
  ["embed", ["feature-extraction"]],
  ["classify", ["text-classification"]],
  ["detect", ["object-detection"]],
  ["transcribe", ["automatic-speech-recognition"]],
  ["rerank", ["text-ranking"]],
  ["forward", undefined],
]);

/** The backend that runs an .aimod package of each model format. */
export const backendOfFormat: Readonly<Record<ModelFormat, string>> = {
  onnx: "onnx",
  gguf: "llamacpp",
  safetensors: "native",
};

/** The providers of Kapsl's metadata.json: our names of the devices. With ONNX Runtime, `metal` is CoreML. */
export const kapslProviders: readonly string[] = ["cpu", "cuda", "tensorrt", "metal", "coreml", "rocm", "directml", "openvino"];

/** The values of `required_precision` in metadata.json. */
export const kapslPrecisions: readonly Precision[] = ["fp32", "fp16", "bf16", "int8", "int4"];

/** Values of the load setting `graphOptimization` by `graph_optimization_level` of metadata.json. */
export const optimizationOfLevel: ReadonlyMap<string, NonNullable<LoadSettings["graphOptimization"]>> = new Map([
  ["disable", "disabled"],
  ["0", "disabled"],
  ["basic", "basic"],
  ["1", "basic"],
  ["extended", "extended"],
  ["2", "extended"],
  ["all", "all"],
  ["3", "all"],
  ["99", "all"],
]);

/** Placements by `strategy` of metadata.json. `auto` leaves the placement to the runtime. */
export const strategies: ReadonlyMap<string, ModelPlacement | undefined> = new Map<string, ModelPlacement | undefined>([
  ["auto", undefined],
  ["pool", "pool"],
  ["round-robin", "round-robin"],
  ["data-parallel", "data-parallel"],
  ["pipeline", "pipeline"],
  ["pipeline-parallel", "pipeline"],
  ["tensor-parallel", "tensor-parallel"],
]);

/** The values that `isolation_mode` of metadata.json may have. Only the first requires nothing. */
export const isolationModes: readonly string[] = ["best_effort", "reserved", "hard"];
