/** Which models are graphs of our engine, by their format and architecture. */
import type { ModelFiles, SupportedModels } from "../../contract/backend.ts";
import { architectureNames, encoderDecoderNames } from "../../engine/transformers/architecture-names.ts";

const decoderNames = architectureNames.filter((name) => /(?:ForCausalLM|LMHeadModel)$/.test(name));

/** The models that are graphs of the engine. */
export const graphModels: readonly SupportedModels[] = [
  { kind: "tensor", format: "safetensors", architectures: architectureNames },
  { kind: "tensor", format: "onnx", architectures: "any" },
  { kind: "tensor", format: "gguf", architectures: architectureNames },
  { kind: "language", format: "safetensors", architectures: [...decoderNames, ...encoderDecoderNames] },
  { kind: "language", format: "onnx", architectures: "any" },
  { kind: "language", format: "gguf", architectures: decoderNames },
];

/** Whether a model is a graph of the engine: not static embeddings, nor a format that it does not read. */
export function isGraph({ format, architecture = "" }: ModelFiles): boolean {
  return format === "onnx" || architectureNames.includes(architecture);
}

/** Whether tokens can be decoded with the graph of a model. */
export function isDecodableFormat(model: ModelFiles): boolean {
  return isGraph(model) || encoderDecoderNames.includes(model.architecture ?? "");
}
