/** The words of Kapsl's metadata.json, and what each means here. Kapsl reads all of them without regard to capitals. */
import type { LoadSettings, ModelFormat, Precision } from "../../backend.ts";

/** `framework`, and the newer `format`. An `llm` is an ONNX graph that writes text. */
export const formatOfFramework: ReadonlyMap<string, ModelFormat> = new Map<string, ModelFormat>([
  ["onnx", "onnx"],
  ["llm", "onnx"],
  ["gguf", "gguf"],
  ["safetensors", "safetensors"],
  ["native", "safetensors"],
]);

/** The newer `task`, in Hugging Face's names. `forward`, a plain run on tensors, says nothing of what the tensors are. */
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

/** The engine that reads each format here. */
export const backendOfFormat: Readonly<Record<ModelFormat, string>> = {
  onnx: "onnx",
  gguf: "llamacpp",
  safetensors: "native",
};

/** Providers, in our names of devices. Kapsl's `metal` is CoreML where ONNX Runtime computes. */
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

export const precisionOf: ReadonlyMap<string, Precision> = new Map<string, Precision>([
  ["fp32", "fp32"],
  ["fp16", "fp16"],
  ["bf16", "bf16"],
  ["int8", "int8"],
  ["int4", "int4"],
]);

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

/** Ways to use several devices. Whole copies are what `replicas` makes; a model in parts is what no backend of this version does. */
export const strategies: ReadonlyMap<string, "copies" | "parts"> = new Map<string, "copies" | "parts">([
  ["auto", "copies"],
  ["pool", "copies"],
  ["round-robin", "copies"],
  ["data-parallel", "copies"],
  ["pipeline", "parts"],
  ["pipeline-parallel", "parts"],
  ["tensor-parallel", "parts"],
]);

/** The values of `isolation_mode`; only the first asks for nothing. */
export const isolationModes: readonly string[] = ["best_effort", "reserved", "hard"];
