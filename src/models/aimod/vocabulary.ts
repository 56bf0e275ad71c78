/** The words of Kapsl's metadata.json with their meaning here. Kapsl compares all of them without regard to case. */
import type { LoadSettings, ModelFormat, Precision } from "../../backend.ts";

/** Formats by `framework` or the newer `format`. An `llm` is an ONNX graph that generates text. */
export const formatOfFramework: ReadonlyMap<string, ModelFormat> = new Map<string, ModelFormat>([
  ["onnx", "onnx"],
  ["llm", "onnx"],
  ["gguf", "gguf"],
  ["safetensors", "safetensors"],
  ["native", "safetensors"],
]);

/** Hugging Face tasks by the newer `task`. `forward` is a plain run on tensors and implies no task. */
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

/** The backend for each format. */
export const backendOfFormat: Readonly<Record<ModelFormat, string>> = {
  onnx: "onnx",
  gguf: "llamacpp",
  safetensors: "native",
};

/** Devices by Kapsl's providers. With ONNX Runtime, `metal` is CoreML. */
export const deviceOfProvider: ReadonlyMap<string, string> = new Map([
  ["cpu", "cpu"],
  ["cuda", "cuda"],
  ["tensorrt", "tensorrt"],
  ["metal", "metal"],
  ["coreml", "coreml"],
  ["rocm", "rocm"],
  ["directml", "directml"],
  ["openvino", "openvino"],
]);

/** Precisions by `required_precision`. */
export const precisionOf: ReadonlyMap<string, Precision> = new Map<string, Precision>([
  ["fp32", "fp32"],
  ["fp16", "fp16"],
  ["bf16", "bf16"],
  ["int8", "int8"],
  ["int4", "int4"],
]);

/** Values of the load setting `graphOptimization` by `graph_optimization_level`. */
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

/** Whether a `strategy` replicates the model, as the option `replicas` does, or splits it over several devices, which no backend of this version supports. */
export const strategies: ReadonlyMap<string, "replicas" | "split"> = new Map<string, "replicas" | "split">([
  ["auto", "replicas"],
  ["pool", "replicas"],
  ["round-robin", "replicas"],
  ["data-parallel", "replicas"],
  ["pipeline", "split"],
  ["pipeline-parallel", "split"],
  ["tensor-parallel", "split"],
]);

/** The values of `isolation_mode`. Only the first requires nothing. */
export const isolationModes: readonly string[] = ["best_effort", "reserved", "hard"];
