/**
 * What manifests in a folder say of its model, one over the other: a package's metadata.json, Termite's model_manifest.json over it, and
 * inferyard.json over both. What none of them says comes from the files beside them.
 */
import { readAimodFolder } from "../aimod/metadata-json.ts";
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { readInferyardJson } from "../inferyard-json/read-inferyard-json.ts";
import { type Folder, pathInside, readJsonObject, shownIn } from "../model-folder.ts";
import type { TermiteManifest } from "../termite/model-manifest.ts";
import { type ReadOptions, type DeclaredVariant, type VariantFile, readDeclaredVariants } from "./variants.ts";

export interface ManifestFiles {
  readonly overrides: ManifestOverrides;
  /** Left out: the weights found in the folder. Never empty. */
  readonly variants?: readonly VariantFile[];
}

/** `only` is the absolute path of the one file of weights that is of interest; left out, all are. */
export async function readManifestFiles(folder: Folder, options: ReadOptions, only?: string): Promise<ManifestFiles> {
  const packaged = await readAimodFolder(folder);
  const termite = await readTermiteIfPresent(folder, options, only);
  const own = await readInferyardJson(folder);
  const overrides: ManifestOverrides = { source: "huggingface", ...packaged, ...termite?.overrides, ...own?.stated };
  const wanted = own?.variants?.filter((variant) => only === undefined || pathOf(folder, variant) === only);
  const variants = wanted?.length ? await readDeclaredVariants(folder, wanted, options) : termite?.variants;
  return variants?.length ? { overrides, variants } : { overrides };
}

/** Its reader is imported where there is something to read: few folders are of Termite. */
async function readTermiteIfPresent(folder: Folder, options: ReadOptions, only?: string): Promise<TermiteManifest | undefined> {
  if ((await readJsonObject(folder, "model_manifest.json")) === undefined) return undefined;
  const { readTermite } = await import("../termite/model-manifest.ts");
  return readTermite(folder, options, only);
}

function pathOf(folder: Folder, variant: DeclaredVariant): string {
  return pathInside(folder, variant.file, shownIn(folder, "inferyard.json"));
}
