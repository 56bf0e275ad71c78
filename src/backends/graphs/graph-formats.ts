/** Which models are graphs of our engine, by their format and architecture. */
import type { ModelFiles } from "../../contract/backend.ts";
import { architectureNames, encoderDecoderNames } from "../../engine/transformers/architecture-names.ts";

/** Whether a model is a graph of the engine: not static embeddings, nor a format that it does not read. */
export function isGraph({ format, architecture = "" }: ModelFiles): boolean {
  return format === "onnx" || architectureNames.includes(architecture);
}

/** Whether tokens can be decoded with the graph of a model. */
export function isDecodable(model: ModelFiles): boolean {
  return isGraph(model) || encoderDecoderNames.includes(model.architecture ?? "");
}
