/** Models on disk. A reference is resolved to files, and the files to a manifest, which is all that the rest of the program sees of their metadata. */
import { InferyardError } from "../contract/errors.ts";
import { type FolderEntry, listFolder } from "../platform/node/files.ts";
import { basename, dirname } from "../platform/node/paths.ts";
import type { Manifest } from "./manifest.ts";
import { type Folder, readStatus } from "./model-folder.ts";
import { modelInvalid } from "../formats/format-errors.ts";
import { nearestName } from "./validation/nearest-name.ts";
import { readManifestAt } from "./manifest/read-manifest-at.ts";
import type { ModelReference } from "./reference/model-location.ts";
import { resolveReference } from "./reference/resolve-reference.ts";
import type { ReadOptions } from "./manifest/variants.ts";

export type { Manifest, Variant } from "./manifest.ts";
export { type DigestCache, createDigestCache, computeDigest } from "./digest.ts";
export type { ModelReference } from "./reference/model-location.ts";
export { languageVariants } from "./manifest/language-variants.ts";
export { refuseUnreadable, requireReadable } from "./manifest/unreadable-variants.ts";
export { resolveReference } from "./reference/resolve-reference.ts";
export type { ReadOptions } from "./manifest/variants.ts";

/**
 * The manifest of the model that a reference names: `builtin`, a path, a name in the store, `hf:owner/name`, or a URL with a digest. The header of every file
 * of weights is read, so that a damaged file is an error here. Throws MODEL_NOT_FOUND if there is no such model, MODEL_INVALID for a damaged one,
 * MODEL_UNSUPPORTED for one that this version cannot run and, with `options.fetch`, errors of fetching.
 */
export async function readManifest(reference: string, options: ReadOptions = {}): Promise<Manifest> {
  return await readResolvedManifest(await resolveReference(reference, options), options);
}

/** As `readManifest`, for a resolved reference. */
export async function readResolvedManifest(reference: ModelReference, options: ReadOptions = {}): Promise<Manifest> {
  const location = await reference.locate(options);
  const status = await readStatus(location.path, location.displayName);
  if (status === undefined) throw await missing(location);
  if (!status.isDirectory() && !status.isFile())
    throw modelInvalid(`${location.displayName} is neither a file nor a folder`, "give the path of a model");
  return await readManifestAt(location, status.isDirectory(), options);
}

/**
 * The canonical form of a reference, equal for all spellings of the same model: see `ModelReference.canonical`. A reference that cannot be resolved is returned
 * unchanged. Nothing is fetched.
 */
export async function canonicalReference(reference: string): Promise<string> {
  try {
    return (await resolveReference(reference)).canonical;
  } catch (error) {
    if (error instanceof InferyardError) return reference;
    throw error;
  }
}

async function missing(location: Folder): Promise<InferyardError> {
  if (location.displayName === "builtin") {
    return new InferyardError("MODEL_NOT_FOUND", "the built-in model is missing from this installation", {
      remedy: "install inferyard again, or give the path of a model",
      data: { path: location.path },
    });
  }
  const beside = await listFolder(dirname(location.path)).catch((): FolderEntry[] => []);
  const guess = nearestName(
    basename(location.path),
    beside.map(({ name }) => name),
  );
  return new InferyardError("MODEL_NOT_FOUND", `there is no file or folder ${location.displayName}`, {
    remedy: guess === undefined ? "check the path" : `did you mean "${guess}"?`,
    data: { path: location.path },
  });
}
