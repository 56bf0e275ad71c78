/** Inspects safetensors files. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { omitUndefined } from "../contract/checked.ts";
import { getArchitecture } from "../models/huggingface/model-card.ts";
import { readHeader } from "../models/manifest/weights.ts";
import { readJsonObject } from "../models/model-folder.ts";
import { elementCount } from "../contract/tensor.ts";
import { type BackendVerdict, countTypes, type InspectedTensor, type InspectedText, type TypeCount } from "./inspection.ts";
import { inspectedText, computeSum } from "./inspection.ts";

/** The content of a safetensors file without the elements of its tensors. */
export interface SafetensorsInspection {
  readonly format: "safetensors";
  /** Path as the user wrote it. */
  readonly path: string;
  /** Bytes of the file, or of all that an index names. */
  readonly bytes: number;
  /** Architecture of the model, from its manifest or the config.json beside the file. */
  readonly architecture?: string;
  /** Number of elements of all tensors. */
  readonly parameters: number;
  readonly types: readonly TypeCount[];
  readonly metadata: Readonly<Record<string, InspectedText>>;
  readonly backends: readonly BackendVerdict[];
  readonly tensors: readonly InspectedTensor[];
}

/**
 * Inspects the safetensors file at `path`; `displayName` is the path as the user wrote it, `stated` the architecture if it is known. `verdicts` is called with the
 * architecture. Throws as `readHeader` does.
 */
export async function inspectSafetensorsFile(
  path: string,
  displayName: string,
  stated: string | undefined,
  verdicts: (architecture: string | undefined) => readonly BackendVerdict[],
): Promise<SafetensorsInspection> {
  const header = await readHeader(path, displayName);
  const files = new Set([path, ...[...header.tensors.values()].map((tensor) => tensor.path)]);
  const sizes = await Promise.all([...files].map((file) => stat(file)));
  const architecture = stated ?? (await architectureBeside(path, displayName));
  const tensors = [...header.tensors.values()].map(({ name, type, shape, start, end }) => {
    return { name, type, shape, elements: elementCount(shape), bytes: end - start };
  });
  return {
    format: "safetensors",
    path: displayName,
    bytes: computeSum(sizes, ({ size }) => size),
    ...omitUndefined({ architecture }),
    parameters: computeSum(tensors, ({ elements }) => elements),
    types: countTypes(tensors),
    metadata: Object.fromEntries([...header.metadata].map(([key, value]) => [key, inspectedText(value)])),
    backends: verdicts(architecture),
    tensors: tensors.map(({ elements: _elements, ...tensor }) => tensor),
  };
}

/** The architecture in config.json beside the file. model2vec states none; the backend `native` calls it StaticModel. */
async function architectureBeside(path: string, displayName: string): Promise<string | undefined> {
  const config = await readJsonObject({ path: dirname(path), displayName: dirname(displayName) }, "config.json");
  if (config === undefined) return undefined;
  return config["model_type"] === "model2vec" ? "StaticModel" : getArchitecture(config);
}
