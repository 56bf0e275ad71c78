/** Reads the manifest of a model at a known location: a folder, a file of weights, or a package. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, unsupportedModel } from "../../contract/errors.ts";
import { isPackage } from "../aimod/package-name.ts";
import { readHuggingFace } from "../huggingface/read-huggingface.ts";
import type { Manifest } from "../manifest.ts";
import type { ModelLocation } from "../reference/model-location.ts";
import { readManifestFiles } from "./manifest-files.ts";
import { refuseUnreadable } from "./unreadable-variants.ts";
import { type ReadOptions, readFoundVariants } from "./variants.ts";
import { basename, dirname, join } from "../../platform/node/paths.ts";
import { type Folder, isFile, displayNameIn } from "../model-folder.ts";
import { modelFolderMarkers } from "./model-path.ts";
import { getFormat } from "./weights.ts";

/**
 * Reads the manifest of the model at a location, which must exist; with `location.variant`, only that variant. `isDirectory`: the location is a folder, not a
 * file. Throws MODEL_INVALID for damaged files, MODEL_UNSUPPORTED for models that this version cannot run, and MODEL_NOT_FOUND if there are no weights or no
 * such variant.
 */
export async function readManifestAt(location: ModelLocation, isDirectory: boolean, options: ReadOptions): Promise<Manifest> {
  return keepNamedVariant(await readAllVariants(location, isDirectory, options), location);
}

async function readAllVariants(location: ModelLocation, isDirectory: boolean, options: ReadOptions): Promise<Manifest> {
  if (!isDirectory) {
    if (!isPackage(location.path)) return await readSingleFile(location, options);
    // Imported on demand: few models are packages.
    const { readPackage } = await import("../aimod/read-package.ts");
    return await readPackage(location, options);
  }
  const { overrides, variants } = await readManifestFiles(location, options);
  return await readHuggingFace(location, { ...omitUndefined({ name: location.name }), ...overrides }, variants);
}

/** Keeps the variant that the reference names, if it names one. */
function keepNamedVariant(manifest: Manifest, { variant: wanted, displayName }: ModelLocation): Manifest {
  if (wanted === undefined) return manifest;
  const variants = manifest.variants.filter(({ name, aliases }) => name === wanted || aliases.includes(wanted));
  if (variants.length > 0) return { ...manifest, variants };
  refuseUnreadable(manifest, wanted);
  throw new InferyardError("MODEL_NOT_FOUND", `${displayName} names a variant that the files do not have`, {
    remedy: `choose one of ${manifest.variants.map(({ name }) => name).join(", ")}`,
  });
}

/**
 * Reads the manifest of a model that is named by its file of weights or its package. The model's folder is the one that holds the
 * file, or the one above if the file is in a folder named `onnx`. Throws MODEL_UNSUPPORTED for a file with an unknown extension,
 * and otherwise as `readHuggingFace` does.
 */
async function readSingleFile(file: Folder, options: ReadOptions): Promise<Manifest> {
  if (getFormat(file.path) === undefined) {
    throw unsupportedModel(
      `${file.displayName} is not a model: its name ends in none of .onnx, .safetensors, .gguf, .aimod`,
      "give a file with one of these endings, or the folder of a model",
    );
  }
  const folder = await getFolder(file);
  const name = basename(file.path);
  const { overrides, variants } = await readManifestFiles(folder, options, file.path);
  const beside: Folder = { path: dirname(file.path), displayName: getParent(file.displayName) };
  const files = variants ?? (await readFoundVariants(beside, [name], file.displayName));
  const manifest = await readHuggingFace(folder, { name, ...overrides, source: "file" }, files);
  return { ...manifest, reference: file.displayName };
}

async function getFolder(file: Folder): Promise<Folder> {
  const own: Folder = { path: dirname(file.path), displayName: getParent(file.displayName) };
  if (basename(own.path) !== "onnx" || (await hasAny(own))) return own;
  const above: Folder = { path: dirname(own.path), displayName: getParent(own.displayName) };
  return (await hasAny(above)) ? above : own;
}

async function hasAny(folder: Folder): Promise<boolean> {
  for (const name of modelFolderMarkers) if (await isFile(join(folder.path, name), displayNameIn(folder, name))) return true;
  return false;
}

/** The folder of a path, as the user would write it. */
function getParent(displayName: string): string {
  return /[/\\]/.test(displayName) ? dirname(displayName) : displayName === "." ? ".." : ".";
}
