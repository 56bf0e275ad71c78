/** Entries of modules.json and router_config.json, and the errors for what they must not be. */
import { InferyardError } from "../../contract/errors.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { type Folder, type JsonObject, displayNameIn, isJsonObject, pathInside, readJsonObject } from "../model-folder.ts";

/** A module as modules.json or router_config.json names it. */
export interface Module {
  /** Name of the class without its package: "Transformer", "Pooling", ... */
  readonly type: string;
  readonly path: string;
  /** Whether it is a class of PyLate. */
  readonly isPylate: boolean;
}

/**
 * Reads an entry `{ type, path }` of modules.json; `namedIn` is the file with the entry. Throws MODEL_INVALID unless both are texts and the path is inside the
 * folder.
 */
export function readModule(entry: unknown, folder: Folder, namedIn: string): Module {
  if (!isJsonObject(entry)) throw broken(namedIn, "an entry is not an object");
  const { type, path } = entry;
  if (typeof type !== "string" || typeof path !== "string") throw broken(namedIn, 'an entry has no "type" or no "path"');
  if (path !== "") pathInside(folder, path, namedIn);
  const isPylate = type === "pylate.models.Dense.Dense";
  // The classes have moved within sentence_transformers. A class of another package is code of the model, even if it has a known name.
  const isKnown = isPylate || type.startsWith("sentence_transformers.");
  return { type: isKnown ? (type.split(".").at(-1) ?? type) : type, path, isPylate };
}

/** The content of a module's configuration `file`, and the file's name for messages. Throws MODEL_INVALID if it is missing or damaged. */
export async function readModuleConfig(folder: Folder, file: string): Promise<{ config: JsonObject; displayName: string }> {
  const displayName = displayNameIn(folder, file);
  const config = await readJsonObject(folder, file);
  if (config !== undefined) return { config, displayName };
  throw modelInvalid(`${displayName} is missing, and modules.json names it`, "download the whole folder of the model");
}

/** Creates the error for a damaged file; `displayName` is its path. The error is returned, not thrown. */
export function broken(displayName: string, problem: string): InferyardError {
  return modelInvalid(`${displayName} is broken: ${problem}`, "download this file of the model again");
}

/** Creates the error for a module that this version does not compute; `displayName` is the file that names it. The error is returned, not thrown. */
export function unsupportedModule(displayName: string, module: string): InferyardError {
  const known =
    "Transformer and Pooling, or StaticEmbedding, then Dense, LayerNorm and Normalize; Transformer, Dense, MultiVectorMask and Normalize on token vectors; " +
    "Transformer and SpladePooling, or SparseAutoEncoder at the end";
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `${displayName} has the module ${module}, which this version does not compute; it computes ${known}`,
    {
      remedy: "use a model without it",
      data: { module },
    },
  );
}
