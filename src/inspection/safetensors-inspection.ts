/** What a safetensors file says of itself, for people and programs. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InferyardError } from "../errors.ts";
import { architectureOf } from "../models/huggingface/model-card.ts";
import { readJsonObject } from "../models/model-folder.ts";
import { readSafetensorsHeader } from "../formats/safetensors/read-safetensors.ts";
import { type SafetensorsHeader } from "../formats/safetensors/read-safetensors.ts";
import { elementCount } from "../tensor.ts";
import { type BackendVerdict, countTypes, type InspectedTensor, type InspectedText, type TypeCount } from "./inspection.ts";
import { inspectedText, sumOf } from "./inspection.ts";

export interface SafetensorsInspection {
  readonly format: "safetensors";
  readonly path: string;
  readonly bytes: number;
  /** What config.json beside the file, or the model's manifest, calls it. */
  readonly architecture?: string;
  /** Elements of all tensors. */
  readonly parameters: number;
  readonly types: readonly TypeCount[];
  readonly metadata: Readonly<Record<string, InspectedText>>;
  readonly backends: readonly BackendVerdict[];
  readonly tensors: readonly InspectedTensor[];
}

/** `verdicts` is asked with the architecture. */
export async function inspectSafetensorsFile(
  path: string,
  shown: string,
  stated: string | undefined,
  verdicts: (architecture: string | undefined) => readonly BackendVerdict[],
): Promise<SafetensorsInspection> {
  const header = await readHeader(path, shown);
  const { size } = await stat(path);
  const architecture = stated ?? (await architectureBeside(path, shown));
  const tensors = [...header.tensors.values()].map(({ name, type, shape, start, end }) => {
    return { name, type, shape, elements: elementCount(shape), bytes: end - start };
  });
  return {
    format: "safetensors",
    path: shown,
    bytes: size,
    ...(architecture === undefined ? {} : { architecture }),
    parameters: sumOf(tensors, ({ elements }) => elements),
    types: countTypes(tensors),
    metadata: Object.fromEntries([...header.metadata].map(([key, value]) => [key, inspectedText(value)])),
    backends: verdicts(architecture),
    tensors: tensors.map(({ elements: _elements, ...tensor }) => tensor),
  };
}

/** The header, with the path in messages as the user wrote it. */
async function readHeader(path: string, shown: string): Promise<SafetensorsHeader> {
  try {
    return await readSafetensorsHeader(path);
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    const { code, message, data, cause, remedy } = error;
    throw new InferyardError(code, message.replaceAll(path, shown), { data, cause, ...(remedy === undefined ? {} : { remedy }) });
  }
}

/** model2vec names no architecture; it is what `native` calls StaticModel. */
async function architectureBeside(path: string, shown: string): Promise<string | undefined> {
  const config = await readJsonObject({ path: dirname(path), shown: dirname(shown) }, "config.json");
  if (config === undefined) return undefined;
  return config["model_type"] === "model2vec" ? "StaticModel" : architectureOf(config);
}
