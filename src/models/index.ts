/** Models on disk: a reference becomes a manifest, and nothing later looks at foreign metadata again. */
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { InferyardError } from "../errors.ts";
import { isPackage } from "./aimod/package-name.ts";
import { readHuggingFace } from "./huggingface.ts";
import type { Manifest } from "./manifest.ts";
import { type Folder, statOf } from "./model-folder.ts";
import { nearest } from "./nearest.ts";
import { resolveReference } from "./reference.ts";
import { readSingleFile } from "./single-file.ts";
import { readStatements } from "./statements.ts";
import type { ReadOptions } from "./variants.ts";

export type { Manifest, Variant } from "./manifest.ts";
export { type DigestMemo, createDigestMemo, digestOf } from "./digest.ts";
export { placeOf } from "./reference.ts";
export type { ReadOptions } from "./variants.ts";

/**
 * What is known of the model a reference names: `builtin`, the path of a folder, of a file of weights or of a package (.aimod).
 * Throws MODEL_NOT_FOUND where there is none, MODEL_INVALID for a damaged one, MODEL_UNSUPPORTED for one this version cannot take.
 * Every file of weights is looked into, so that a broken one is an error here and not a worse model later.
 */
export async function readManifest(reference: string, options: ReadOptions = {}): Promise<Manifest> {
  const place = resolveReference(reference);
  const status = await statOf(place.path, place.shown);
  if (status === undefined) throw await missing(place);
  if (!status.isDirectory()) {
    if (!isPackage(place.path)) return await readSingleFile(place, options);
    // Imported where it is needed: few models come in packages.
    const { readPackage } = await import("./aimod/read-package.ts");
    return await readPackage(place, options);
  }
  const { stated, variants } = await readStatements(place, options);
  return await readHuggingFace(place, stated, variants);
}

async function missing(place: Folder): Promise<InferyardError> {
  if (place.shown === "builtin") {
    return new InferyardError("MODEL_NOT_FOUND", "the built-in model is missing from this installation", {
      remedy: "install inferyard again, or give the path of a model",
      data: { path: place.path },
    });
  }
  const beside = await readdir(dirname(place.path)).catch((): string[] => []);
  const guess = nearest(basename(place.path), beside);
  return new InferyardError("MODEL_NOT_FOUND", `there is no file or folder ${place.shown}`, {
    remedy: guess === undefined ? "check the path" : `did you mean "${guess}"?`,
    data: { path: place.path },
  });
}
