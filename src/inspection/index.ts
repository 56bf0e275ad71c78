/**
 * Inspects model files without running them: their tensors, inputs, outputs and metadata, and which backends can run them. Headers are parsed in bounded time and
 * memory; no engine is loaded.
 */
import { basename } from "node:path";
import type { Backend } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { type Manifest, type ModelReference, readResolvedManifest, resolveReference } from "../models/index.ts";
import { sizeOfFile, readStatus } from "../models/model-folder.ts";
import { isHubReference, isRemote } from "../models/reference/remote-reference.ts";
import { getFormat } from "../models/manifest/weights.ts";
import { standardBackends } from "../composition/node/standard-backends.ts";
import { backendVerdicts } from "./backend-verdicts.ts";
import { type GgufInspection, inspectGgufFile } from "./gguf-inspection.ts";
import type { InspectOptions } from "./inspection.ts";
import { inspectOnnxFile, type OnnxInspection } from "./onnx-inspection.ts";
import { inspectSafetensorsFile, type SafetensorsInspection } from "./safetensors-inspection.ts";

export type { GgufInspection } from "./gguf-inspection.ts";
export type { BackendVerdict, InspectedTensor, InspectOptions, TypeCount } from "./inspection.ts";
export type { OnnxInspection } from "./onnx-inspection.ts";
export type { SafetensorsInspection } from "./safetensors-inspection.ts";

/** The inspection of one file; `format` distinguishes the three kinds. */
export type Inspection = OnnxInspection | GgufInspection | SafetensorsInspection;

/** The inspection of a model: of one file, or of all files of weights of its variants. */
export interface ModelInspection {
  /** The reference as it was given. */
  readonly reference: string;
  /** Name of the model or file. */
  readonly name: string;
  /** Names of the Hugging Face tasks that the model serves. Absent for a single file. */
  readonly tasks?: readonly string[];
  readonly files: readonly Inspection[];
}

/**
 * Inspects one .onnx, .gguf or .safetensors file; `path` is absolute or relative to the working directory. Throws MODEL_NOT_FOUND if there is no such file,
 * MODEL_INVALID if it is damaged, MODEL_UNSUPPORTED for another format or for a header larger than any known one.
 */
export async function inspectFile(path: string, options: InspectOptions = {}): Promise<Inspection> {
  const displayName = options.displayName ?? path;
  const format = getFormat(path);
  if (format === undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `the name of ${displayName} ends in none of .onnx, .gguf, .safetensors`, {
      remedy: "give a file with one of these endings, or the folder of a model",
    });
  }
  if ((await readStatus(path, displayName)) === undefined) {
    throw new InferyardError("MODEL_NOT_FOUND", `there is no file ${displayName}`, { remedy: "check the path" });
  }
  const bytes = await sizeOfFile(path, displayName, "give a file");
  const backends: readonly Backend[] = options.backends ?? standardBackends();
  if (format === "onnx") {
    const { hasOperator: engineKnows } = await import("../engine/onnx/operators/table.ts"); // on demand: the table is large
    return await inspectOnnxFile(path, displayName, bytes, (outline, externalFiles) =>
      backendVerdicts(backends, { format, onnx: { outline, externalFiles, engineKnows } }),
    );
  }
  const verdicts = (architecture: string | undefined): ReturnType<typeof backendVerdicts> =>
    backendVerdicts(backends, { format, ...omitUndefined({ architecture }) });
  if (format === "gguf") return await inspectGgufFile(path, displayName, options.context, verdicts);
  return await inspectSafetensorsFile(path, displayName, options.architecture, verdicts);
}

/** Inspects a file, or every file of weights of a model, by a model reference. Throws as `inspectFile` and `readManifest` do. */
export async function inspectModel(reference: string, options: InspectOptions = {}): Promise<ModelInspection> {
  const resolved = await resolveReference(reference);
  const file = await singleFile(resolved);
  if (file !== undefined) {
    const inspection = await inspectFile(file, { ...options, displayName: reference });
    return { reference, name: basename(file), files: [inspection] };
  }
  const manifest = await readResolvedManifest(resolved);
  const files: Inspection[] = [];
  for (const { path, architecture } of uniquePaths(manifest)) {
    const own = { displayName: shownPath(manifest, path), ...omitUndefined({ architecture }) };
    files.push(await inspectFile(path, { ...options, ...own }));
  }
  return { reference, name: manifest.name, tasks: manifest.tasks, files };
}

/** The path of the file if the reference names a file of weights. Its manifest would also read the other files of its folder. */
async function singleFile(reference: ModelReference): Promise<string | undefined> {
  const { text } = reference;
  if (isHubReference(text) || (getFormat(text) === undefined && !isRemote(text))) return undefined;
  const { path, displayName } = await reference.locate();
  if (getFormat(path) === undefined) return undefined;
  const status = await readStatus(path, displayName);
  return status?.isFile() === true ? path : undefined;
}

/** The variants, except variants that share the file of an earlier one. */
function uniquePaths({ variants }: Manifest): Manifest["variants"] {
  return variants.filter(({ path }, index) => variants.findIndex((variant) => variant.path === path) === index);
}

/** The path of a file of the model as the user would write it. */
function shownPath({ directory, reference }: Manifest, path: string): string {
  return path.startsWith(directory) ? `${reference.replace(/[/\\]$/, "")}${path.slice(directory.length)}` : path;
}
