/** Reads the manifest of a single file of weights. Everything but the weights comes from the other files of its folder. */
import { basename, dirname, join } from "../../platform/node/paths.ts";
import { InferyardError } from "../../contract/errors.ts";
import { readHuggingFace } from "../huggingface/read-huggingface.ts";
import type { Manifest } from "../manifest.ts";
import { type Folder, isFile, displayNameIn } from "../model-folder.ts";
import { modelFolderMarkers } from "./model-path.ts";
import { readManifestFiles } from "./manifest-files.ts";
import { type ReadOptions, readFoundVariants } from "./variants.ts";
import { getFormat } from "./weights.ts";

/**
 * Reads the manifest of a model that is named by its file of weights or its package. The model's folder is the one that holds the
 * file, or the one above if the file is in a folder named `onnx`. Throws MODEL_UNSUPPORTED for a file with an unknown extension,
 * and otherwise as `readHuggingFace` does.
 */
export async function readSingleFile(file: Folder, options: ReadOptions): Promise<Manifest> {
  if (getFormat(file.path) === undefined) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${file.displayName} is not a model: its name ends in none of .onnx, .safetensors, .gguf, .aimod`,
      {
        remedy: "give a file with one of these endings, or the folder of a model",
      },
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
