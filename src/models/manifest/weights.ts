/** Finds the files of a folder that hold weights, and reads their format, size and precision. */
import type { ModelFiles, ModelFormat, Precision } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, unsupportedModel } from "../../contract/errors.ts";
import { listFolder } from "../../platform/node/files.ts";
import { basename, dirname, extname, join } from "../../platform/node/paths.ts";
import type { GraphSignature } from "../../formats/onnx/onnx-graph.ts";
import { isSafetensorsIndex, pathsOfWeights, readWeightsHeader } from "../../formats/safetensors/read-sharded.ts";
import type { SafetensorsHeader } from "../../formats/safetensors/read-safetensors.ts";
import { readOnnxWeights } from "./onnx-weights.ts";
import { type Folder, pathInside, displayNameIn, sizeOfFile } from "../model-folder.ts";
import { modelInvalid, unreadable } from "../../formats/format-errors.ts";

/** A file of model weights (ONNX, safetensors or GGUF), and facts from its header. */
export interface WeightsFile extends Pick<ModelFiles, "format" | "path" | "bytes" | "precision"> {
  /** Path relative to the folder. */
  readonly file: string;
  /** Bytes of the file. */
  readonly size: number;
  /** Inputs and outputs that an ONNX file states. */
  readonly signature?: GraphSignature;
}

/** Model formats by file extension, with its dot. */
export const formatByExtension: Readonly<Record<string, ModelFormat>> = {
  ".onnx": "onnx",
  ".safetensors": "safetensors",
  ".gguf": "gguf",
};

/** The model format of a file by its extension, or undefined for other extensions. */
export function getFormat(file: string): ModelFormat | undefined {
  return isSafetensorsIndex(file) ? "safetensors" : formatByExtension[extname(file).toLowerCase()];
}

/**
 * Relative paths of the files with weights: in the folder, in `modelPath` (the folder of the first module), and in the folder `onnx/` of both. Of safetensors
 * only `model.safetensors` counts, or without it the index of its parts, since others are adapters. Of a static model with safetensors only these count, since an ONNX export of it takes other inputs
 * than text encoders do. Throws MODEL_NOT_FOUND or MODEL_UNSUPPORTED if there are no weights in a format that is read.
 */
export async function findWeightFiles(folder: Folder, modelPath: string, isStatic: boolean): Promise<string[]> {
  const lists = await Promise.all(weightFolders(modelPath).map((subfolder) => getFiles(folder, subfolder)));
  const files = lists.flat();
  const found = selectWeightFiles(files, isStatic);
  if (found.length === 0) throw missingWeights(folder.displayName, files);
  return found;
}

/**
 * The folders that are searched for weights, relative to the model's folder, which is "". `modelPath` is the folder of the first
 * module.
 */
export function weightFolders(modelPath: string): readonly string[] {
  const roots = [...new Set(["", modelPath])];
  return ["onnx", ""].flatMap((subfolder) => roots.map((root) => [root, subfolder].filter(Boolean).join("/")));
}

/**
 * Selects the paths that hold model weights from `files`, by the rules of `findWeightFiles`. `isStatic`: the model is a table of
 * token vectors.
 */
export function selectWeightFiles(files: readonly string[], isStatic: boolean): string[] {
  const found = [
    ...files.filter((file) => file.endsWith(".onnx")),
    ...files.filter((file) => isWholeModel(file, files) && dirname(file) !== "onnx"),
    ...files.filter((file) => file.endsWith(".gguf")),
  ];
  const safetensors = found.filter((file) => getFormat(file) === "safetensors");
  return isStatic && safetensors.length > 0 ? safetensors : found;
}

/** Whether a file of safetensors holds or names all weights of a model. */
function isWholeModel(file: string, files: readonly string[]): boolean {
  if (basename(file) === "model.safetensors") return true;
  return basename(file) === "model.safetensors.index.json" && !files.includes(file.slice(0, -".index.json".length));
}

/** The files of a subfolder, as paths that begin with its name; empty if there is no such folder. */
async function getFiles(folder: Folder, subfolder: string): Promise<string[]> {
  try {
    const entries = await listFolder(join(folder.path, subfolder));
    const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
    return names.sort().map((name) => (subfolder === "" ? name : `${subfolder}/${name}`));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (subfolder !== "" && (code === "ENOENT" || code === "ENOTDIR")) return [];
    throw unreadable(displayNameIn(folder, subfolder), error);
  }
}

/**
 * Creates the error for a model without weights in a format that is read: MODEL_UNSUPPORTED if `files` has weights of another
 * format, else MODEL_NOT_FOUND. The error is returned, not thrown.
 */
export function missingWeights(displayName: string, files: readonly string[]): InferyardError {
  const other = files
    .map((file) => basename(file))
    .find((file) => /^(pytorch_model.*\.bin|tf_model\.h5|flax_model\.msgpack|.*\.(pt|pth|ckpt))$/.test(file));
  if (other !== undefined) return unsupported(`the weights of ${displayName} are in ${other}`);
  const remedy = "give a folder with .onnx, model.safetensors or .gguf in it, or in its onnx/";
  return new InferyardError("MODEL_NOT_FOUND", `${displayName} holds no model: there are no weights in it`, { remedy });
}

function unsupported(what: string): InferyardError {
  return unsupportedModel(
    `${what}, which this version does not read`,
    "export the model to ONNX: optimum-cli export onnx --model MODEL FOLDER",
  );
}

/**
 * Reads the header of a file of weights: size, precision, files with external data. `namedIn` is the file or folder that names
 * it, for messages. Throws MODEL_INVALID if the file is missing, empty, cut off, or not of its format, or if a file with its
 * external data is missing or too short.
 */
export async function readWeights(
  folder: Folder,
  file: string,
  namedIn: string,
  format: ModelFormat | undefined = getFormat(file),
): Promise<WeightsFile> {
  const path = pathInside(folder, file, namedIn);
  const displayName = displayNameIn(folder, file);
  if (format === undefined) {
    throw modelInvalid(
      `${namedIn} names ${file}, whose format cannot be told from its name`,
      `add "format": ${Object.values(formatByExtension).join(" or ")}`,
    );
  }
  const size = await sizeOfFile(path, displayName, `put ${file} in its place, or take it out of ${namedIn}`);
  const weights = { file, format, path, size, bytes: size };
  if (format === "gguf") return weights;
  if (format === "safetensors") {
    const precision = await safetensorsPrecision(path, displayName);
    return { ...weights, bytes: size + (await shardBytes(path, displayName)), ...precision };
  }
  const { precision, externalFiles, signature } = await readOnnxWeights(path, displayName);
  const beside: Folder = { path: dirname(path), displayName: displayNameIn(folder, dirname(file)) };
  let bytes = size;
  for (const [external, needed] of externalFiles) bytes += await externalBytes(beside, external, needed, displayName);
  return { ...weights, bytes, signature, ...omitUndefined({ precision }) };
}

/** Bytes of the files that an index names; 0 for a file without parts. The files have been read. */
async function shardBytes(path: string, displayName: string): Promise<number> {
  let bytes = 0;
  for (const shard of (await pathsOfWeights(path)).filter((each) => each !== path))
    bytes += await sizeOfFile(shard, basename(shard), `download it beside ${displayName}`);
  return bytes;
}

async function externalBytes(folder: Folder, file: string, needed: number, namedIn: string): Promise<number> {
  const path = pathInside(folder, file, namedIn);
  const displayName = displayNameIn(folder, file);
  const bytes = await sizeOfFile(
    path,
    displayName,
    `${basename(namedIn)} keeps its weights there: download that file too, into the same folder`,
  );
  if (bytes >= needed) return bytes;
  throw modelInvalid(
    `${displayName} ends too early: it has ${bytes} bytes, and ${basename(namedIn)} needs ${needed}`,
    "download it again",
  );
}

/** Precisions by the types of the safetensors format. Other types have no name here. */
const precisions: Readonly<Record<string, Precision>> = { F32: "fp32", F16: "fp16", BF16: "bf16", I8: "int8", U8: "int8" };

/** The precision of the type that most bytes have. */
async function safetensorsPrecision(path: string, displayName: string): Promise<{ precision?: Precision }> {
  const bytes = new Map<Precision, number>();
  for (const { type, start, end } of (await readHeader(path, displayName)).tensors.values()) {
    const precision = precisions[type];
    if (precision !== undefined) bytes.set(precision, (bytes.get(precision) ?? 0) + end - start);
  }
  const [most] = [...bytes].sort(([, a], [, b]) => b - a);
  return most === undefined ? {} : { precision: most[0] };
}

/** Reads the header of a safetensors file or of all files that an index names. Errors are as of `readWeightsHeader`, with the path as the user wrote it. */
export async function readHeader(path: string, displayName: string): Promise<SafetensorsHeader> {
  try {
    return await readWeightsHeader(path);
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    const { code, message, remedy, data, cause } = error;
    const folder = displayName === basename(displayName) ? "" : `${dirname(displayName)}/`;
    throw new InferyardError(code, message.replaceAll(path, displayName).replaceAll(`${dirname(path)}/`, folder), {
      data,
      cause,
      ...omitUndefined({ remedy }),
    });
  }
}
