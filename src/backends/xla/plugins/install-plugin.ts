/** Installs a plugin into the data folder from the user's index of Python packages or from a file, and removes it. */
import { mkdir, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, quoteOption } from "../../../contract/errors.ts";
import { readHost } from "../../../libraries/analysis/host.ts";
import {
  type FoundWheel,
  type PipSettings,
  type WheelMachine,
  type WheelProgress,
  fetchWheel,
  findWheel,
  parseWheelName,
  readPipSettings,
  wheelAt,
  wheelMisfit,
} from "../../../libraries/wheels/index.ts";
import { syncFolder } from "../../../platform/node/atomic-write.ts";
import { writeFileAtomically } from "../../../storage/atomic-write.ts";
import { withDiskErrors } from "../../../storage/disk.ts";
import { withLock } from "../../../storage/lock.ts";
import { stagingName, sweepAbandoned } from "../../../storage/staging.ts";
import { type AcceleratorName, accelerators } from "./accelerators.ts";
import { type InstalledPlugin, type PluginRecord, installedPlugins, pluginsFolder, recordPath } from "./installed-plugins.ts";
import { pluginPackages } from "./plugin-packages.ts";
import { PluginReader } from "./plugin-reader.ts";
import { type UnpackedPlugin, folderMode, unpackPlugin } from "./unpack-plugin.ts";
import { homeFolder } from "../../../platform/node/home-folder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Options of `installPlugin`. */
export interface InstallOptions {
  /** Accelerator of the plugin. Default: the accelerator of the file that `from` names, else "cpu". */
  readonly accelerator?: AcceleratorName | undefined;
  /** A wheel or a folder of wheels on this machine, the URL of a wheel, or the URL of an index. Default: the indexes of pip's settings. */
  readonly from?: string | undefined;
  /** Whether nothing may be fetched over a network. */
  readonly offline: boolean;
  /** Folder that relative paths start from. */
  readonly directory: string;
  readonly environment: Environment;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: WheelProgress) => void) | undefined;
}

/** Result of an installation. */
export interface InstallReport extends InstalledPlugin {
  /** The licence that the package declares. */
  readonly license?: string;
  /** Whether the same plugin was already installed, so that nothing was fetched. */
  readonly isUnchanged: boolean;
  /** Packages with further libraries that the plugin needs; most plugins need none. */
  readonly companions: readonly string[];
  /** Folder for the companions. */
  readonly companionFolder: string;
}

/**
 * Installs a plugin, and replaces the one that is installed for the same accelerator. Waits for other processes that install or remove plugins. Throws
 * INPUT_INVALID, LIMIT_EXCEEDED and LIBRARY_INCOMPATIBLE for a wheel without a plugin for this machine and accelerator, DOWNLOAD_FAILED, ACCESS_DENIED,
 * CONFIG_INVALID, DISK_FULL, OUTPUT_FAILED and ABORTED; the previous installation is kept in this case.
 */
export async function installPlugin(options: InstallOptions): Promise<InstallReport> {
  const { environment, signal } = options;
  const folder = pluginsFolder({ environment });
  const source = await findSource(options);
  await withDiskErrors(folder, async () => {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder, { recursive: true, mode: folderMode });
  });
  return await withLock(
    join(folder, "install.lock"),
    async () => {
      await sweepAbandoned(folder);
      const before = await unchangedPlugin(source, options);
      if (before !== undefined) return toReport(before, undefined, true, folder);
      const staging = join(folder, stagingName("unpacking"));
      await withDiskErrors(staging, () => mkdir(staging, { mode: folderMode }));
      try {
        return await installFrom(source, staging, folder, options);
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
    },
    { signal },
  );
}

/** Removes the plugin of an accelerator, or all. Returns the removed plugins, and the bytes of the libraries. Running programs keep a plugin that they use. */
export async function removePlugins(
  accelerator: AcceleratorName | undefined,
  environment: Environment,
): Promise<{ readonly removed: readonly InstalledPlugin[]; readonly freedBytes: number }> {
  const folder = pluginsFolder({ environment });
  const { plugins, damaged } = await installedPlugins({ environment });
  const isWanted = (name: AcceleratorName): boolean => accelerator === undefined || accelerator === name;
  const removed = plugins.filter((plugin) => isWanted(plugin.accelerator));
  const broken = damaged.filter((record) => isWanted(record.accelerator));
  if (removed.length + broken.length === 0) {
    const what = accelerator === undefined ? "no plugin" : `no plugin for ${accelerator}`;
    throw new InferyardError("INPUT_INVALID", `${what} is installed in ${folder}`, {
      remedy: "inferyard backends list --installed",
    });
  }
  await withLock(join(folder, "install.lock"), async () => {
    for (const name of [...removed, ...broken].map((each) => each.accelerator)) {
      await withDiskErrors(folder, () => rm(recordPath(folder, name), { force: true })); // before the library, which no record may name without being there
      await removeLibraries(join(folder, name), undefined);
    }
  });
  return { removed, freedBytes: removed.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Where the wheel comes from: a path of this machine, or a file of an index. */
type Source =
  | { readonly path: string; readonly name: string }
  | { readonly found: FoundWheel; readonly accelerator: AcceleratorName };

async function findSource(options: InstallOptions): Promise<Source> {
  const { from, accelerator = "cpu", directory, environment, offline, signal } = options;
  const isUrl = from !== undefined && /^https?:\/\//i.test(from);
  const local = from === undefined || isUrl ? undefined : resolve(directory, from);
  const status = local === undefined ? undefined : await stat(local).catch(() => undefined);
  if (local !== undefined && status === undefined) {
    throw new InferyardError("INPUT_INVALID", `there is no file or folder ${from}`, {
      remedy: "name a wheel, a folder of wheels, or the URL of an index",
    });
  }
  const machine = await thisMachine();
  if (local !== undefined && status?.isDirectory() !== true) {
    const wheel = parseWheelName(basename(local));
    const misfit = wheel === undefined ? undefined : wheelMisfit(wheel, machine);
    if (misfit !== undefined) throw misfitting(basename(local), misfit);
    return { path: local, name: from ?? local };
  }
  const settings = await settingsFor(options, isUrl, local);
  const needsNetwork = settings.indexes.length > 0 || settings.findLinks.some((location) => /^https?:/i.test(location));
  if (offline && needsNetwork) {
    throw new InferyardError("DOWNLOAD_FAILED", "a plugin is fetched from an index, and downloads are disabled", {
      remedy: `name a wheel on this machine: ${quoteOption("from")}; HF_HUB_OFFLINE, INFERYARD_OFFLINE or the setting "offline" disable downloads`,
    });
  }
  const search = { machine, settings, environment, signal };
  if (isUrl && /\.whl(?:[?#]|$)/.test(from)) return { found: await wheelAt(from, search), accelerator };
  const { packages } = pluginPackages[accelerator];
  const refusals: InferyardError[] = [];
  for (const name of packages) {
    try {
      return { found: await findWheel({ ...search, package: name }), accelerator };
    } catch (error) {
      const isOther =
        error instanceof InferyardError && (error.code === "LIBRARY_INCOMPATIBLE" || error.data["package"] === name);
      if (!isOther) throw error;
      refusals.push(error);
    }
  }
  const [first] = refusals;
  if (refusals.length === 1 && first !== undefined) throw first;
  throw new InferyardError(
    "LIBRARY_INCOMPATIBLE",
    `no package has a plugin for ${accelerator}: ${refusals.map(({ message }) => message).join("; ")}`,
    {
      remedy: `name an index or a file: ${quoteOption("from")}`,
    },
  );
}

async function settingsFor(
  { environment, from }: InstallOptions,
  isUrl: boolean,
  folder: string | undefined,
): Promise<PipSettings> {
  const settings = await readPipSettings({ environment, platform: process.platform, home: homeFolder() });
  if (folder !== undefined) return { ...settings, indexes: [], findLinks: [folder] };
  return isUrl && from !== undefined ? { ...settings, indexes: [from], findLinks: [] } : settings;
}

/** The plugin that is installed from the very file that the index lists, and whole. */
async function unchangedPlugin(source: Source, { environment }: InstallOptions): Promise<InstalledPlugin | undefined> {
  if (!("found" in source) || source.found.file.digest === undefined) return undefined;
  const { digest } = source.found.file;
  const { plugins } = await installedPlugins({ environment });
  const known = plugins.find(
    ({ accelerator, wheelDigest }) => accelerator === source.accelerator && wheelDigest === `${digest.algorithm}:${digest.value}`,
  );
  const size =
    known === undefined
      ? undefined
      : await stat(known.path).then(
          (status) => status.size,
          () => undefined,
        );
  return size === known?.bytes ? known : undefined;
}

async function installFrom(source: Source, staging: string, folder: string, options: InstallOptions): Promise<InstallReport> {
  const { signal, onProgress } = options;
  const [wheel, name] = "path" in source ? [source.path, source.name] : [join(staging, "wheel.whl"), source.found.file.name];
  if ("found" in source) await fetchWheel(source.found, wheel, { signal, onProgress });
  const unpacked = await unpackPlugin(wheel, name, join(staging, "content"), new PluginReader());
  const accelerator = getAccelerator(unpacked, name, "found" in source ? source.accelerator : options.accelerator);
  const own = join(folder, accelerator);
  const target = join(own, unpacked.sha256.slice(0, 16));
  // The run paths of CUDA plugins lead to ../nvidia from the folder of the library: the companions, which stay when the plugin is replaced.
  await withDiskErrors(own, async () => {
    await mkdir(own, { recursive: true, mode: folderMode });
    await rm(target, { recursive: true, force: true });
    await rename(dirname(unpacked.path), target);
    await syncFolder(own);
  });
  const digest = "found" in source ? source.found.file.digest : undefined;
  const record: PluginRecord = {
    accelerator,
    package: unpacked.package,
    version: unpacked.version,
    path: [accelerator, basename(target), basename(unpacked.path)].join("/"),
    sha256: unpacked.sha256,
    bytes: unpacked.bytes,
    ...(digest === undefined ? {} : { wheelDigest: `${digest.algorithm}:${digest.value}` }),
  };
  await writeFileAtomically(recordPath(folder, accelerator), `${JSON.stringify(record, undefined, 2)}\n`);
  await removeLibraries(own, basename(target));
  return toReport({ backend: "xla", ...record, path: join(target, basename(unpacked.path)) }, unpacked.license, false, folder);
}

/** The accelerator by the contents of the library, which must agree with the wanted one. */
function getAccelerator({ contents }: UnpackedPlugin, name: string, wanted: AcceleratorName | undefined): AcceleratorName {
  const { kind, cudaMajor } = contents;
  const fits = (accelerator: AcceleratorName): boolean => {
    const { deviceType, cudaMajor: major } = pluginPackages[accelerator];
    return (
      (kind === undefined || kind.deviceType === deviceType) &&
      (major === undefined || cudaMajor === undefined || major === cudaMajor)
    );
  };
  const found =
    wanted ??
    (kind === undefined || (kind.deviceType === "cuda" && cudaMajor === undefined) ? undefined : accelerators.find(fits));
  if (found !== undefined && fits(found)) return found;
  const what =
    kind === undefined
      ? "does not tell what it computes on"
      : `computes on ${kind.deviceType}${cudaMajor === undefined ? "" : ` ${cudaMajor}`} (${kind.evidence})`;
  throw new InferyardError(
    "LIBRARY_INCOMPATIBLE",
    `the plugin in ${name} ${what}${wanted === undefined ? "" : `, not on ${wanted}`}`,
    {
      remedy: `name another file (${quoteOption("from")}), or the accelerator (${quoteOption("accelerator")}): ${accelerators.join(", ")}`,
    },
  );
}

/** Removes the folders of libraries of an accelerator, except the one named `kept`; what else is in its folder, such as companions, stays. */
async function removeLibraries(own: string, kept: string | undefined): Promise<void> {
  const names = await readdir(own).catch((): string[] => []);
  for (const name of names.filter((each) => /^[0-9a-f]{16}$/.test(each) && each !== kept))
    await withDiskErrors(own, () => rm(join(own, name), { recursive: true, force: true }));
  await rmdir(own).catch(() => undefined); // where nothing is left in it
}

function toReport(plugin: InstalledPlugin, license: string | undefined, isUnchanged: boolean, folder: string): InstallReport {
  const { companions = [] } = pluginPackages[plugin.accelerator];
  const companionFolder = join(folder, plugin.accelerator);
  return { ...plugin, ...omitUndefined({ license }), isUnchanged, companions, companionFolder };
}

/** Version of musl that is assumed: no file states it, and wheels name 1.1 or 1.2. */
const oldestMusl = "1.2";

/** The facts of this machine that wheels must fit. */
async function thisMachine(): Promise<WheelMachine> {
  const { libc } = await readHost();
  if (libc === undefined) return { platform: process.platform, architecture: process.arch };
  const version = libc === "musl" ? oldestMusl : glibcVersion();
  const known = version === undefined ? undefined : { name: libc, version };
  return { platform: process.platform, architecture: process.arch, libc: known };
}

/** Version of glibc in this process, by its diagnostic report. */
function glibcVersion(): string | undefined {
  const { report } = process as { readonly report?: { excludeNetwork?: boolean; getReport(): object } };
  if (report === undefined) return undefined;
  const before = report.excludeNetwork ?? false;
  report.excludeNetwork = true; // it would ask for the names of hosts that sockets are connected to
  try {
    return (report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } }).header?.glibcVersionRuntime;
  } finally {
    report.excludeNetwork = before;
  }
}

function misfitting(name: string, reason: string): InferyardError {
  return new InferyardError("LIBRARY_INCOMPATIBLE", `${name} does not fit this machine: ${reason}`, {
    remedy: `name a file for this machine: ${quoteOption("from")}`,
  });
}
