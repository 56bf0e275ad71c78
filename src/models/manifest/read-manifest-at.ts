/** Reads the manifest of a model at a known location: a folder, a file of weights, or a package. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { isPackage } from "../aimod/package-name.ts";
import { readHuggingFace } from "../huggingface/read-huggingface.ts";
import type { Manifest } from "../manifest.ts";
import type { ModelLocation } from "../reference/model-location.ts";
import { readSingleFile } from "./single-file.ts";
import { readManifestFiles } from "./manifest-files.ts";
import { refuseUnreadable } from "./unreadable-variants.ts";
import type { ReadOptions } from "./variants.ts";

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
