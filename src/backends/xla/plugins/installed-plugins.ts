/**
 * Records of the plugins that `inferyard backends install` put into the data folder: one JSON file for each accelerator, which names the library in a folder beside it. A record is
 * written and replaced as a whole, after the library is in its place.
 */
import { lstat, readFile, readdir } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { getMessage } from "../../../contract/errors.ts";
import { type DataFolderInputs, dataFolder } from "../../../storage/data-folder.ts";
import { isTrusted } from "../../../storage/own-files.ts";
import { type AcceleratorName, accelerators } from "./accelerators.ts";

/** A plugin in the data folder. */
export interface InstalledPlugin {
  readonly backend: "xla";
  readonly accelerator: AcceleratorName;
  /** Name of the Python package that it comes from. */
  readonly package: string;
  /** Version of the package. */
  readonly version: string;
  /** Absolute path of the library. */
  readonly path: string;
  /** SHA-256 of the library, hexadecimal. */
  readonly sha256: string;
  /** Size of the library. */
  readonly bytes: number;
  /** Digest of the wheel as the index stated it, such as "sha256:<hexadecimal>"; absent for a file of the user's and where the index stated none. */
  readonly wheelDigest?: string;
}

/** The content of a record: `path` is relative to the folder of the records, so that the data folder may move. */
export type PluginRecord = Omit<InstalledPlugin, "backend">;

/** A record that cannot be used, and why. */
export interface DamagedPluginRecord {
  readonly accelerator: AcceleratorName;
  readonly path: string;
  readonly problem: string;
}

/** The plugins of the data folder. */
export interface InstalledPlugins {
  /** Absolute path of the folder of the records. */
  readonly folder: string;
  readonly plugins: readonly InstalledPlugin[];
  readonly damaged: readonly DamagedPluginRecord[];
}

/** Largest record that is read, in bytes. */
const maxRecordBytes = 64 * 1024;

/** Absolute path of the folder of the records and libraries. */
export function pluginsFolder(inputs: DataFolderInputs = {}): string {
  return join(dataFolder(inputs), "plugins", "xla");
}

/** Absolute path of the record of an accelerator. */
export function recordPath(folder: string, accelerator: AcceleratorName): string {
  return join(folder, `${accelerator}.json`);
}

/** Reads all records. A record is reported as damaged if it is malformed, or if its folder or library is missing or writable by other users. */
export async function installedPlugins(inputs: DataFolderInputs = {}): Promise<InstalledPlugins> {
  const folder = pluginsFolder(inputs);
  const names = await readdir(folder).catch((): string[] => []);
  const read = await Promise.all(
    accelerators
      .filter((accelerator) => names.includes(`${accelerator}.json`))
      .map((accelerator) => readRecord(folder, accelerator)),
  );
  return {
    folder,
    plugins: read.filter((each): each is InstalledPlugin => !("problem" in each)),
    damaged: read.filter((each): each is DamagedPluginRecord => "problem" in each),
  };
}

async function readRecord(folder: string, accelerator: AcceleratorName): Promise<InstalledPlugin | DamagedPluginRecord> {
  const file = recordPath(folder, accelerator);
  const damaged = (problem: string): DamagedPluginRecord => ({ accelerator, path: file, problem });
  try {
    const text = await readFile(file, "utf8");
    if (text.length > maxRecordBytes) return damaged("it is too large");
    const record = JSON.parse(text) as Partial<Record<keyof PluginRecord, unknown>>;
    const { package: name, version, path, sha256, bytes } = record;
    const isWhole =
      record.accelerator === accelerator &&
      typeof name === "string" &&
      typeof version === "string" &&
      typeof path === "string" &&
      typeof sha256 === "string" &&
      /^[0-9a-f]{64}$/.test(sha256) &&
      typeof bytes === "number";
    if (!isWhole) return damaged("a field is missing or of the wrong type");
    const absolute = join(folder, path);
    const inside = relative(folder, absolute);
    if (isAbsolute(path) || inside === "" || inside.startsWith("..") || isAbsolute(inside))
      return damaged("it names a library outside of its folder");
    for (const each of [folder, dirname(absolute), absolute])
      if (!isTrusted(await lstat(each))) return damaged(`another user can write ${each}`);
    const digest = typeof record.wheelDigest === "string" ? { wheelDigest: record.wheelDigest } : {};
    return { backend: "xla", accelerator, package: name, version, path: absolute, sha256, bytes, ...digest };
  } catch (error) {
    return damaged(getMessage(error));
  }
}
