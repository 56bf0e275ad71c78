/** Reads models from packages. A package is unpacked once into the data folder, under its digest, and read from there. */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../../storage/data-folder.ts";
import { computeDigest } from "../digest.ts";
import { readHuggingFace } from "../huggingface/read-huggingface.ts";
import type { Manifest } from "../manifest.ts";
import { type Folder, pathInside, displayNameIn, sizeOfFile } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { readManifestFiles } from "../manifest/manifest-files.ts";
import { publishFolder } from "../../platform/node/atomic-folder.ts";
import { syncFolder } from "../../platform/node/atomic-write.ts";
import type { ReadOptions } from "../manifest/variants.ts";
import { type ArchiveLimits, archiveLimits } from "./archive-limits.ts";
import { metadataName, readAimodPackage } from "./metadata-json.ts";
import { statOrUndefined, withDiskErrors } from "../../storage/disk.ts";
import { stagingName, sweepAbandoned } from "../../storage/staging.ts";
import { unpack } from "./unpack.ts";

/**
 * The manifest of the model in a package. Throws MODEL_INVALID if the package is damaged or hostile, DISK_FULL or OUTPUT_FAILED if it cannot be unpacked; nothing of it is
 * then left on the disk.
 */
export async function readPackage(file: Folder, options: ReadOptions): Promise<Manifest> {
  const folder: Folder = { path: await openPackage(file, options), displayName: file.displayName };
  const { overrides, variants } = await readManifestFiles(folder, options);
  const manifest = await readHuggingFace(folder, overrides, variants);
  return { ...manifest, source: "aimod" };
}

/**
 * Unpacks an .aimod package and returns the absolute path of the folder, `packages/<sha256>` in the data folder. A package that
 * is unpacked already is not unpacked again. The folder appears atomically; if two processes unpack the same package, one of the
 * two equal folders stays.
 */
export async function openPackage(file: Folder, options: ReadOptions, limits: ArchiveLimits = archiveLimits): Promise<string> {
  const { dataFolder: data = dataFolder(), digests } = options;
  const packages = join(data, "packages");
  const sha256 = await computeDigest(file, digests);
  const folder = join(packages, sha256);
  if (await isFolder(folder)) return folder;
  await withDiskErrors(packages, () => mkdir(packages, { recursive: true }));
  await sweepAbandoned(packages);
  const staging = join(packages, stagingName("unpacking"));
  try {
    await withDiskErrors(staging, () => mkdir(staging));
    const unpacked = await unpack(file, staging, limits);
    if (unpacked.sha256 !== sha256)
      throw modelInvalid(`${file.displayName} changed while it was read`, "wait until it has been written, and try again");
    await checkModel({ path: staging, displayName: file.displayName });
    await syncFolders(staging);
    await withDiskErrors(folder, () => publishFolder(staging, folder, () => isFolder(folder)));
  } catch (error) {
    // An error of the clean-up must not replace the first one. The next unpacking removes leftovers.
    await rm(staging, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  return folder;
}

/** Throws MODEL_INVALID unless the package has a manifest and the model's file that it names. */
async function checkModel(folder: Folder): Promise<void> {
  const { mainFile = "" } = await readAimodPackage(folder);
  const namedIn = displayNameIn(folder, metadataName);
  const remedy = `pack the model again: ${metadataName} names this file`;
  await sizeOfFile(pathInside(folder, mainFile, namedIn), displayNameIn(folder, mainFile), remedy);
}

async function syncFolders(root: string): Promise<void> {
  const entries = await withDiskErrors(root, () => readdir(root, { withFileTypes: true, recursive: true }));
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...folders, root]) await withDiskErrors(path, () => syncFolder(path));
}

async function isFolder(path: string): Promise<boolean> {
  return (await statOrUndefined(path))?.isDirectory() ?? false;
}
