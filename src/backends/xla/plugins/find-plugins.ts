/** Where PJRT plugins are looked for. Files are found, none is read or loaded. */
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { getMessage } from "../../../contract/errors.ts";
import type { SearchedLocation } from "../../../libraries/discovery/search-location.ts";
import { type PluginLocation, isSharedLibrary, pluginLocations } from "./plugin-locations.ts";
import { homeFolder } from "../../../platform/node/home-folder.ts";

/** A file that may be a plugin. */
export interface PluginFile {
  /** Absolute path. */
  readonly path: string;
  /** The setting, variable or rule that led to it. */
  readonly foundBy: string;
  /** Whether a setting or a variable for plugins names it or its folder. */
  readonly isNamed: boolean;
}

/** The files that were found, and every location that was looked at, in the order of the search. */
export interface PluginSearch {
  readonly files: readonly PluginFile[];
  readonly locations: readonly SearchedLocation[];
}

/** Inputs of a search. Default: the environment and the platform of this process. */
export interface PluginSearchOptions {
  /** Paths of files and folders, as in the setting: the only locations that are looked at. Default: all locations. */
  readonly configured?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly architecture?: string;
  readonly home?: string;
}

/** Most files of one folder that are taken. */
const maxFilesOfFolder = 64;

/** Looks for plugins in all locations of `pluginLocations`. A file that several paths lead to is taken once, by its first path. Throws nothing. */
export async function findPlugins(options: PluginSearchOptions = {}): Promise<PluginSearch> {
  const { environment = process.env, platform = process.platform, architecture = process.arch, home = homeFolder() } = options;
  const { locations, unset } = await pluginLocations({
    configured: options.configured,
    environment,
    platform,
    architecture,
    home,
  });
  const scans = await Promise.all((await distinctLocations(locations)).map(scan));
  const files = new Map<string, PluginFile>();
  for (const file of scans.flatMap((each) => each.files)) {
    const identity = await realpath(file.path).catch(() => file.path);
    if (!files.has(identity)) files.set(identity, file);
  }
  return { files: [...files.values()], locations: [...scans.map(({ location }) => location), ...unset] };
}

/** Locations without those that lead to the folder of an earlier one: /lib is a link to /usr/lib on most systems. */
async function distinctLocations(locations: readonly PluginLocation[]): Promise<readonly PluginLocation[]> {
  const real = await Promise.all(locations.map(({ path }) => realpath(path).catch(() => path)));
  return locations.filter((_location, index) => real.indexOf(real[index] ?? "") === index);
}

interface Scan {
  readonly files: readonly PluginFile[];
  readonly location: SearchedLocation;
}

/** The files of one location. A named path that leads nowhere is a file too, so that the refusal of it is told. */
async function scan({ path, rule, isNamed, accepts }: PluginLocation): Promise<Scan> {
  const report = (outcome: SearchedLocation["outcome"], paths: readonly string[], ...notes: string[]): Scan => ({
    files: paths.map((file) => ({ path: file, foundBy: rule, isNamed })),
    location: { path, rule, outcome, libraries: paths.length, notes },
  });
  try {
    if (!(await stat(path)).isDirectory()) return report("found", [path]);
    const names = (await readdir(path)).filter((name) => isSharedLibrary(name) && accepts(name)).sort();
    const taken = names.slice(0, maxFilesOfFolder).map((name) => join(path, name));
    const notes = names.length > taken.length ? [`only the first ${maxFilesOfFolder} of ${names.length} files are taken`] : [];
    return report(taken.length === 0 ? "empty" : "found", taken, ...notes);
  } catch (error) {
    const named = isNamed ? [path] : [];
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return report("absent", named, "there is no such file or folder");
    return report("unreadable", named, getMessage(error));
  }
}
