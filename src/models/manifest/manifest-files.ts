/**
 * What manifests in a folder say of its model, one over the other: a package's metadata.json, Termite's model_manifest.json over it, and
 * inferyard.json over both. What none of them says comes from the files beside them.
 */
import { readAimodFolder } from "../aimod/metadata-json.ts";
import type { Stated } from "../huggingface/read-huggingface.ts";
import { readInferyardJson } from "../inferyard-json/read-inferyard-json.ts";
import { type Folder, pathInside, readJsonObject, shownIn } from "../model-folder.ts";
import type { TermiteStatement } from "../termite/model-manifest.ts";
import { type ReadOptions, type StatedVariant, type VariantFile, statedVariants } from "./variants.ts";

export interface Statements {
  readonly stated: Stated;
  /** Left out: the weights found in the folder. Never empty. */
  readonly variants?: readonly VariantFile[];
}

/** `only` is the absolute path of the one file of weights that is of interest; left out, all are. */
export async function readStatements(folder: Folder, options: ReadOptions, only?: string): Promise<Statements> {
  const packaged = await readAimodFolder(folder);
  const termite = await termiteOf(folder, options, only);
  const own = await readInferyardJson(folder);
  const stated: Stated = { source: "huggingface", ...packaged, ...termite?.stated, ...own?.stated };
  const wanted = own?.variants?.filter((variant) => only === undefined || pathOf(folder, variant) === only);
  const variants = wanted?.length ? await statedVariants(folder, wanted, options) : termite?.variants;
  return variants?.length ? { stated, variants } : { stated };
}

/** Its reader is imported where there is something to read: few folders are of Termite. */
async function termiteOf(folder: Folder, options: ReadOptions, only?: string): Promise<TermiteStatement | undefined> {
  if ((await readJsonObject(folder, "model_manifest.json")) === undefined) return undefined;
  const { readTermite } = await import("../termite/model-manifest.ts");
  return readTermite(folder, options, only);
}

function pathOf(folder: Folder, variant: StatedVariant): string {
  return pathInside(folder, variant.file, shownIn(folder, "inferyard.json"));
}
