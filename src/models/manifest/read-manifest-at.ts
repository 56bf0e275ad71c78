/** What is known of a model whose place on this machine is known: a folder, a file of weights, or a package. */
import { InferyardError } from "../../errors.ts";
import { isPackage } from "../aimod/package-name.ts";
import { readHuggingFace } from "../huggingface/read-huggingface.ts";
import type { Manifest } from "../manifest.ts";
import type { ModelLocation } from "../reference/model-location.ts";
import { readSingleFile } from "./single-file.ts";
import { readManifestFiles } from "./manifest-files.ts";
import type { ReadOptions } from "./variants.ts";

/** Something must be there. */
export async function readManifestAt(place: ModelLocation, isDirectory: boolean, options: ReadOptions): Promise<Manifest> {
  return keepNamedVariant(await readAllVariants(place, isDirectory, options), place);
}

async function readAllVariants(place: ModelLocation, isDirectory: boolean, options: ReadOptions): Promise<Manifest> {
  if (!isDirectory) {
    if (!isPackage(place.path)) return await readSingleFile(place, options);
    // Imported where it is needed: few models come in packages.
    const { readPackage } = await import("../aimod/read-package.ts");
    return await readPackage(place, options);
  }
  const { overrides, variants } = await readManifestFiles(place, options);
  return await readHuggingFace(place, { ...(place.name === undefined ? {} : { name: place.name }), ...overrides }, variants);
}

/** A reference that names a variant means that one alone. */
function keepNamedVariant(manifest: Manifest, { variant: wanted, shown }: ModelLocation): Manifest {
  if (wanted === undefined) return manifest;
  const variants = manifest.variants.filter(({ name, aliases }) => name === wanted || aliases.includes(wanted));
  if (variants.length > 0) return { ...manifest, variants };
  throw new InferyardError("MODEL_NOT_FOUND", `${shown} names a variant that the files do not have`, {
    remedy: `choose one of ${manifest.variants.map(({ name }) => name).join(", ")}`,
  });
}
