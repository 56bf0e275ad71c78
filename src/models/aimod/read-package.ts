/** A package as a model: unpacked once into the data folder, under its digest, and read from there. */
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
import { syncFolder } from "../sync-folder.ts";
import type { ReadOptions } from "../manifest/variants.ts";
import { type ArchiveLimits, archiveLimits } from "./archive-limits.ts";
import { metadataName, readAimodPackage } from "./metadata-json.ts";
import { withDiskErrors, unpack } from "./unpack.ts";

/** Throws MODEL_INVALID for a package that is damaged or hostile, OUTPUT_FAILED when it cannot be unpacked. Nothing of either is left. */
export async function readPackage(file: Folder, options: ReadOptions): Promise<Manifest> {
  const folder: Folder = { path: await openPackage(file, options), shown: file.shown };
  const { overrides, variants } = await readManifestFiles(folder, options);
  const manifest = await readHuggingFace(folder, overrides, variants);
  return { ...manifest, source: "aimod" };
}

/**
 * The folder a package is unpacked in, made if it is not there yet: `packages/<sha256>` of the data folder. It appears under this name
 * whole or not at all. Two processes may unpack the same package at once; one of the two equal folders stays.
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
    // The first failure is the one to tell; what cannot be removed now, the next unpacking sweeps away.
    await rm(staging, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  return folder;
}

/** A package without its manifest or its model is none. */
async function checkModel(folder: Folder): Promise<void> {
  const { mainFile = "" } = await readAimodPackage(folder);
  const namedIn = shownIn(folder, metadataName);
  const remedy = `pack the model again: ${metadataName} names this file`;
  await sizeOfFile(pathInside(folder, mainFile, namedIn), shownIn(folder, mainFile), remedy);
}

/** Moves the folder to its place and makes the move outlast a loss of power. Where another process was faster, its folder stays. */
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

/** Names what this machine is unpacking: a shared folder may hold what others are. */
function stagingPrefix(): string {
  return `.unpacking-${hostname().replaceAll(/[^a-zA-Z0-9]/g, "")}-`;
}

/** Removes what processes of this machine left behind when they were killed. */
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
    // EPERM: it runs, for someone else.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await withDiskErrors(path, () => statOf(path, path)))?.isDirectory() ?? false;
}
