/** Models on disk: a reference becomes a manifest, and nothing later looks at foreign metadata again. */
import { InferyardError } from "../errors.ts";
import { type FolderEntry, listFolder } from "../platform/node/files.ts";
import { basename, dirname } from "../platform/node/paths.ts";
import type { Manifest } from "./manifest.ts";
import { type Folder, modelInvalid, statOf } from "./model-folder.ts";
import { nearestName } from "./validation/nearest-name.ts";
import { readManifestAt } from "./manifest/read-manifest-at.ts";
import { resolveReference } from "./reference/resolve-reference.ts";
import type { ReadOptions } from "./manifest/variants.ts";

export type { Manifest, Variant } from "./manifest.ts";
export { type DigestCache, createDigestCache, digestOf } from "./digest.ts";
export { canonicalReference } from "./reference/resolve-reference.ts";
export type { ReadOptions } from "./manifest/variants.ts";

/**
 * What is known of the model a reference names: `builtin`, a path, a name in the store, or what is fetched into it (`hf:`, an address).
 * Throws MODEL_NOT_FOUND where there is none, MODEL_INVALID for a damaged one, MODEL_UNSUPPORTED for one this version cannot take; with
 * `fetch`, also what fetching throws. Every file of weights is looked into, so that a broken one is an error here and not a worse model later.
 */
export async function readManifest(reference: string, options: ReadOptions = {}): Promise<Manifest> {
  const place = await resolveReference(reference, options);
  const status = await statOf(place.path, place.shown);
  if (status === undefined) throw await missing(place);
  if (!status.isDirectory() && !status.isFile())
    throw modelInvalid(`${place.shown} is neither a file nor a folder`, "give the path of a model");
  return await readManifestAt(place, status.isDirectory(), options);
}

async function missing(place: Folder): Promise<InferyardError> {
  if (place.shown === "builtin") {
    return new InferyardError("MODEL_NOT_FOUND", "the built-in model is missing from this installation", {
      remedy: "install inferyard again, or give the path of a model",
      data: { path: place.path },
    });
  }
  const beside = await listFolder(dirname(place.path)).catch((): FolderEntry[] => []);
  const guess = nearestName(
    basename(place.path),
    beside.map(({ name }) => name),
  );
  return new InferyardError("MODEL_NOT_FOUND", `there is no file or folder ${place.shown}`, {
    remedy: guess === undefined ? "check the path" : `did you mean "${guess}"?`,
    data: { path: place.path },
  });
}
