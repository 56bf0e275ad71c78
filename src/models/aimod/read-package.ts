/** Reads models from packages. A package is unpacked once into the data folder, under its digest, and read from there. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { dataFolder } from "../data-folder.ts";
import { digestOf } from "../digest.ts";
import { readHuggingFace } from "../huggingface/read-huggingface.ts";
import type { Manifest } from "../manifest.ts";
import { type Folder, pathInside, shownIn, sizeOfFile, statOf } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { readManifestFiles } from "../manifest/manifest-files.ts";
import { syncFolder } from "../../platform/node/atomic-write.ts";
import type { ReadOptions } from "../manifest/variants.ts";
import { type ArchiveLimits, archiveLimits } from "./archive-limits.ts";
import { metadataName, readAimodPackage } from "./metadata-json.ts";
import { withDiskErrors, unpack } from "./unpack.ts";

/**
 * The manifest of the model in an .aimod package, which is unpacked into the data folder first. Throws MODEL_INVALID if the
 * package is damaged or hostile, OUTPUT_FAILED if it cannot be unpacked; nothing of it is then left on the disk.
 */
export async function readPackage(file: Folder, options: ReadOptions): Promise<Manifest> {
  const folder: Folder = { path: await openPackage(file, options), shown: file.shown };
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
  const sha256 = await digestOf(file, digests);
  const folder = join(packages, sha256);
  if (await isFolder(folder)) return folder;
  await withDiskErrors(packages, () => mkdir(packages, { recursive: true }));
  await sweepAbandoned(packages);
  const staging = join(packages, `${stagingPrefix()}${process.pid}-${randomUUID()}`);
  try {
    await withDiskErrors(staging, () => mkdir(staging));
    const unpacked = await unpack(file, staging, limits);
    if (unpacked.sha256 !== sha256)
      throw modelInvalid(`${file.shown} changed while it was read`, "wait until it has been written, and try again");
    await checkModel({ path: staging, shown: file.shown });
    await publish(staging, folder);
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
  const namedIn = shownIn(folder, metadataName);
  const remedy = `pack the model again: ${metadataName} names this file`;
  await sizeOfFile(pathInside(folder, mainFile, namedIn), shownIn(folder, mainFile), remedy);
}

/** Renames the folder and flushes the rename. If another process created the folder first, that one stays. */
async function publish(staging: string, folder: string): Promise<void> {
  await syncFolders(staging);
  try {
    await rename(staging, folder);
  } catch (error) {
    if (!(await isFolder(folder))) await withDiskErrors(folder, () => Promise.reject(error));
    await rm(staging, { recursive: true, force: true });
    return;
  }
  await withDiskErrors(folder, () => syncFolder(dirname(folder)));
}

async function syncFolders(root: string): Promise<void> {
  const entries = await withDiskErrors(root, () => readdir(root, { withFileTypes: true, recursive: true }));
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...folders, root]) await withDiskErrors(path, () => syncFolder(path));
}

/** Prefix of temporary folders of this machine. The data folder may be shared with others. */
function stagingPrefix(): string {
  return `.unpacking-${hostname().replaceAll(/[^a-zA-Z0-9]/g, "")}-`;
}

/** Removes the temporary folders of dead processes of this machine. */
async function sweepAbandoned(packages: string): Promise<void> {
  const prefix = stagingPrefix();
  for (const name of await withDiskErrors(packages, () => readdir(packages))) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    await withDiskErrors(join(packages, name), () => rm(join(packages, name), { recursive: true, force: true }));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await withDiskErrors(path, () => statOf(path, path)))?.isDirectory() ?? false;
}
