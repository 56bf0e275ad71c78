/** Installs engines from npm packages into the data folder, lists and removes them. */
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InferyardError, invalidInput, quoteOption } from "../../contract/errors.ts";
import { publishFolder, replaceFolder } from "../../platform/node/atomic-folder.ts";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import { withDiskErrors } from "../../storage/disk.ts";
import { engineFolders, enginesFolder, loadScript } from "../../storage/installed-engines.ts";
import { withLock } from "../../storage/lock.ts";
import { stagingName, sweepAbandoned } from "../../storage/staging.ts";
import type { EnginePackage } from "./engine-package.ts";
import {
  type EngineName,
  type LlamaAccelerator,
  type PackageMachine,
  engineNames,
  packageName,
  packagesFor,
} from "./engine-packages.ts";
import { type PackageSource, fetchTarball, registrySource, tarballName, unpackTarball } from "./fetch-package.ts";
import { readNpmSettings } from "./npm-settings.ts";
import { homeFolder } from "../../platform/node/home-folder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Options of `installEngine`. */
export interface InstallEngineOptions {
  readonly engine: EngineName;
  /** Builds of llama.cpp besides the one for the CPU. Default: none. */
  readonly accelerator?: LlamaAccelerator | undefined;
  /** A folder with tarballs of the packages, or the URL of a registry. Default: the registry of npm's settings. */
  readonly from?: string | undefined;
  /** Machine that the packages are for. Default: this one. */
  readonly machine?: PackageMachine | undefined;
  /** Whether nothing may be fetched over a network. */
  readonly offline: boolean;
  /** Folder that relative paths start from, and whose .npmrc is read. */
  readonly directory: string;
  readonly environment: Environment;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes that were fetched so far, of all packages together. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** An engine in the data folder. */
export interface InstalledEngineRecord {
  readonly engine: EngineName;
  readonly accelerator: LlamaAccelerator;
  /** Name and version of its main package. */
  readonly package: string;
  readonly version: string;
  /** SHA-256 of the list of packages with their digests: another list is another installation. */
  readonly digest: string;
  /** Number of packages, and their size on disk in bytes. */
  readonly packages: number;
  readonly bytes: number;
}

/** An installed engine with the folder that it is in. */
export interface FoundEngine extends InstalledEngineRecord {
  readonly path: string;
}

const recordName = "engine.json";
const thisMachine: PackageMachine = { platform: process.platform, architecture: process.arch };
/** Packages that are fetched at the same time. */
const parallel = 8;

/**
 * Installs an engine, and replaces another version of it. Waits for other processes that install or remove one. Throws INPUT_INVALID for a source that is not there
 * and a build that does not exist, DOWNLOAD_FAILED, ACCESS_DENIED, CONFIG_INVALID, LIMIT_EXCEEDED, DISK_FULL, OUTPUT_FAILED and ABORTED; what was installed before
 * is kept in this case. `isUnchanged`: the same packages were installed before, and nothing was fetched.
 */
export async function installEngine(options: InstallEngineOptions): Promise<FoundEngine & { readonly isUnchanged: boolean }> {
  const { engine, environment, accelerator = "cpu", machine = thisMachine, signal } = options;
  const all = enginesFolder(undefined, { environment });
  const path = enginesFolder(engine, { environment });
  const packages = packagesFor(engine, machine, accelerator);
  const digest = digestOf(packages);
  await withDiskErrors(all, () => mkdir(all, { recursive: true }));
  return await withLock(
    join(all, "install.lock"),
    async () => {
      await sweepAbandoned(all);
      const before = await readRecord(path);
      if (before?.digest === digest) return { ...before, path, isUnchanged: true };
      const source = await findSource(options);
      const staging = join(all, stagingName("unpacking"));
      try {
        await unpackAll(packages, source, staging, join(all, "downloads"), options);
        const main = packages.find((each) => packageName(each) === mainPackages[engine]);
        const record: InstalledEngineRecord = {
          engine,
          accelerator,
          package: mainPackages[engine],
          version: main?.version ?? "",
          digest,
          packages: packages.length,
          bytes: await folderBytes(staging),
        };
        await writeFileAtomically(join(staging, loadScript.name), loadScript.text);
        await writeFileAtomically(join(staging, recordName), `${JSON.stringify(record, null, 2)}\n`);
        if ((await stat(path).catch(() => undefined)) === undefined)
          await publishFolder(staging, path, () => Promise.resolve(false));
        else await replaceFolder(staging, path, join(all, stagingName("removing")));
        await rm(join(all, "downloads"), { recursive: true, force: true });
        return { ...record, path, isUnchanged: false };
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
    },
    { signal },
  );
}

/** By engine: the package that its backend imports. */
export const mainPackages: Readonly<Record<EngineName, string>> = {
  onnx: "onnxruntime-node",
  llamacpp: "node-llama-cpp",
  koffi: "koffi",
};

/** Engines in the data folder, and in the folder of INFERYARD_ENGINES. */
export async function installedEngines(environment: Environment): Promise<readonly FoundEngine[]> {
  const found: FoundEngine[] = [];
  for (const engine of engineNames) {
    for (const path of engineFolders(engine, { environment })) {
      const record = await readRecord(path);
      if (record !== undefined) found.push({ ...record, path });
    }
  }
  return found;
}

/** Removes an engine. Running programs keep what they have loaded. Throws INPUT_INVALID if it is not installed. */
export async function removeEngine(engine: EngineName, environment: Environment): Promise<FoundEngine> {
  const all = enginesFolder(undefined, { environment });
  const path = enginesFolder(engine, { environment });
  const record = await readRecord(path);
  if (record === undefined) throw invalidInput(`${engine} is not installed in ${all}`, "inferyard backends list --installed");
  await withLock(join(all, "install.lock"), async () => {
    const aside = join(all, stagingName("removing"));
    await withDiskErrors(all, () => rename(path, aside)); // as a whole: nobody finds half of it
    await rm(aside, { recursive: true, force: true });
  });
  return { ...record, path };
}

function digestOf(packages: readonly EnginePackage[]): string {
  const lines = packages.map(({ path, integrity }) => `${path} ${integrity}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex");
}

async function readRecord(path: string): Promise<InstalledEngineRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(path, recordName), "utf8")) as InstalledEngineRecord;
  } catch {
    return undefined; // a folder without a readable record is replaced by the next installation
  }
}

async function findSource({ from, offline, directory, environment }: InstallEngineOptions): Promise<PackageSource> {
  const isUrl = from !== undefined && /^https?:\/\//i.test(from);
  if (from !== undefined && !isUrl) {
    const folder = resolve(directory, from);
    if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return { folder };
    throw invalidInput(`there is no folder ${from}`, "name a folder with tarballs of the packages, or the URL of a registry");
  }
  if (offline)
    throw new InferyardError("DOWNLOAD_FAILED", "the packages are fetched from a registry, and downloads are disabled", {
      remedy: `name a folder with their tarballs: ${quoteOption("from")}`,
    });
  const settings = await readNpmSettings({ environment, platform: process.platform, home: homeFolder() }, directory);
  const mirror = from?.replace(/\/+$/, "");
  return await registrySource(mirror === undefined ? settings : { ...settings, registryOf: () => mirror }, environment);
}

async function unpackAll(
  packages: readonly EnginePackage[],
  source: PackageSource,
  staging: string,
  downloads: string,
  { signal, onProgress, machine = thisMachine }: InstallEngineOptions,
): Promise<void> {
  await withDiskErrors(downloads, () => mkdir(downloads, { recursive: true }));
  let bytes = 0;
  const onBytes = (more: number): void => {
    bytes += more;
    onProgress?.(bytes);
  };
  const waiting = [...packages];
  const work = async (): Promise<void> => {
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
      const tarball = join(downloads, tarballName(entry));
      await fetchTarball(entry, source, tarball, { signal, onBytes });
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  // Outer packages first: their folders hold those of packages inside.
  for (const entry of packages) await unpackTarball(entry, join(downloads, tarballName(entry)), staging, machine);
}

async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
