/**
 * Reads the manifests in a folder and merges them. inferyard.json takes precedence over Termite's model_manifest.json, and that over the metadata.json of a
 * package. What none of them states comes from the other files of the folder.
 */
import { readAimodFolder } from "../aimod/metadata-json.ts";
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { readInferyardJson } from "../inferyard-json/read-inferyard-json.ts";
import { type Folder, pathInside, readJsonObject, displayNameIn } from "../model-folder.ts";
import type { TermiteManifest } from "../termite/model-manifest.ts";
import { type ReadOptions, type DeclaredVariant, type FoundVariants, readDeclaredVariants } from "./variants.ts";

/** Contents of the manifests of a folder (inferyard.json, model_manifest.json, metadata.json). */
export interface ManifestFiles {
  /** Fields that take precedence over the other files of the folder. */
  readonly overrides: ManifestOverrides;
  /** The variants they name. Absent: the weights that are found in the folder. */
  readonly variants?: FoundVariants;
}

/**
 * Reads the manifests of the folder (inferyard.json, model_manifest.json, metadata.json). `only` restricts the variants to the
 * one with this absolute path. Throws MODEL_INVALID for an invalid manifest, and MODEL_UNSUPPORTED for features that this version
 * does not have.
 */
export async function readManifestFiles(folder: Folder, options: ReadOptions, only?: string): Promise<ManifestFiles> {
  const packaged = await readAimodFolder(folder);
  const termite = await readTermiteIfPresent(folder, options, only);
  const own = await readInferyardJson(folder);
  const overrides: ManifestOverrides = { source: "huggingface", ...packaged, ...termite?.overrides, ...own?.overrides };
  const wanted = own?.variants?.filter((variant) => only === undefined || getPath(folder, variant) === only);
  const variants = wanted?.length ? await readDeclaredVariants(folder, wanted, options) : termite?.variants;
  return variants?.files.length ? { overrides, variants } : { overrides };
}

/** Its reader is imported on demand: few folders have such a manifest. */
async function readTermiteIfPresent(folder: Folder, options: ReadOptions, only?: string): Promise<TermiteManifest | undefined> {
  if ((await readJsonObject(folder, "model_manifest.json")) === undefined) return undefined;
  const { readTermite } = await import("../termite/model-manifest.ts");
  return readTermite(folder, options, only);
}

function getPath(folder: Folder, variant: DeclaredVariant): string {
  return pathInside(folder, variant.file, displayNameIn(folder, "inferyard.json"));
}
