/** Files and folders that are searched for PJRT plugins, in order of preference. */
import { readdir } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { nodeSources } from "../../../devices/sources.ts";
import { loaderDirectories } from "../../../devices/libraries.ts";
import type { SearchedLocation } from "../../../libraries/discovery/search-location.ts";
import { pythonEnvironments } from "../../../libraries/discovery/site-packages.ts";
import { installedPlugins } from "./installed-plugins.ts";

/** A file, or a folder whose files are examined; its subfolders are not. */
export interface PluginLocation {
  /** Absolute path. */
  readonly path: string;
  /** Why it is looked at: a setting, a variable, or a rule such as "Python packages of /opt/venv". */
  readonly rule: string;
  /** Whether a setting or a variable for plugins names it. */
  readonly isNamed: boolean;
  /** Whether a shared library in the folder may be a plugin, by its name. */
  readonly accepts: (name: string) => boolean;
}

/** Facts that the locations depend on. */
export interface LocationSources {
  readonly configured: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** Home folder of the user. */
  readonly home: string;
}

/** Names of plugins: pjrt_c_api_cpu_plugin.so, libpjrt_cpu.so, xla_cuda_plugin.so, xla_cpu_pjrt.so, libtpu.so. */
const pluginName = /pjrt|^(?:lib)?xla_\w+_plugin|^libtpu/i;
/** Folders of Python packages that hold a plugin. */
const packageName = /^(?:jax|xla)_plugins$|pjrt|xla|^libtpu$/i;
/** Folders of Python packages whose subfolders hold plugins. */
const namespaceName = /^(?:jax|xla)_plugins$/;

/** Whether a file has the name of a shared library of Linux, macOS or Windows. */
export function isSharedLibrary(name: string): boolean {
  return /\.(?:so(?:\.\d[\w.-]*)?|dylib|dll)$/i.test(name);
}

const isPluginName = (name: string): boolean => pluginName.test(name);
const any = (): boolean => true;

/** The locations, and the variables that are not set. */
export async function pluginLocations(
  sources: LocationSources,
): Promise<{ readonly locations: readonly PluginLocation[]; readonly unset: readonly SearchedLocation[] }> {
  const { configured, environment } = sources;
  const listed = (text: string, rule: string, folders: readonly string[]): PluginLocation[] =>
    text
      .split(delimiter)
      .filter((part) => part !== "")
      .flatMap((part) =>
        folders.map((folder) => ({ path: join(resolve(part), folder), rule, isNamed: folder === ".", accepts: any })),
      );
  if (configured !== undefined) return { locations: listed(configured, "the setting xla.plugin", ["."]), unset: [] };
  const variables: [string, readonly string[]][] = [
    ["PJRT_PLUGIN_LIBRARY_PATH", ["."]],
    ["PJRT_ROOT", [".", "lib"]],
    ["TPU_LIBRARY_PATH", ["."]],
  ];
  const isSet = ([name]: [string, readonly string[]]): boolean => (environment[name] ?? "") !== "";
  const locations = [
    ...variables.flatMap(([name, folders]) => listed(environment[name] ?? "", name, folders)),
    ...(await installedLocations(environment, sources)),
    ...(await pythonLocations(sources)),
    ...usualLocations(sources),
  ];
  const unset = variables
    .filter((variable) => !isSet(variable))
    .map(([rule]): SearchedLocation => ({ rule, outcome: "absent", libraries: 0, notes: ["the variable is not set"] }));
  return { locations, unset };
}

/** The plugins that `inferyard backends install` put into the data folder; the folder of them where there is none. */
async function installedLocations(
  environment: LocationSources["environment"],
  { platform, home }: LocationSources,
): Promise<readonly PluginLocation[]> {
  const rule = "installed by inferyard backends install";
  const { folder, plugins } = await installedPlugins({ environment, platform, home });
  const paths = plugins.length === 0 ? [folder] : plugins.map(({ path }) => path);
  return paths.map((path) => ({ path, rule, isNamed: false, accepts: () => false }));
}

async function pythonLocations(sources: LocationSources): Promise<readonly PluginLocation[]> {
  const found = await Promise.all(
    (await pythonEnvironments(sources)).map(async ({ prefix, rule: why, folders }): Promise<PluginLocation[]> => {
      const rule = `Python packages of ${prefix} (${why})`;
      const location = (path: string): PluginLocation => ({ path, rule, isNamed: false, accepts: isPluginName });
      if (folders.length === 0) return [location(prefix)];
      const packages = await Promise.all(folders.map(async (folder) => [folder, ...(await pluginPackages(folder))]));
      return packages.flat().map(location);
    }),
  );
  return found.flat();
}

/** The folders below a folder of Python packages that may hold plugins. */
async function pluginPackages(folder: string): Promise<readonly string[]> {
  const names = (await subfolders(folder)).filter((name) => packageName.test(name) && !name.endsWith("-info"));
  const nested = await Promise.all(
    names.map(async (name) =>
      namespaceName.test(name)
        ? (await subfolders(join(folder, name))).map((below) => join(folder, name, below))
        : [join(folder, name)],
    ),
  );
  return nested.flat();
}

async function subfolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .filter((name) => name !== "__pycache__")
    .sort();
}

/** Folders of the loader, of gomlx's installer, and libtpu.so as it is mounted into containers. */
function usualLocations({ environment, platform, architecture, home }: LocationSources): readonly PluginLocation[] {
  const machine = { ...nodeSources(), environment, platform, architecture };
  const loader = (environment["LD_LIBRARY_PATH"] ?? "").split(/[:;]/).filter((folder) => folder !== "" && platform === "linux");
  const own =
    platform === "win32" ? [] : [join(home, ".local/lib"), join(home, ".local/lib/go-xla"), join(home, ".local/lib/gomlx/pjrt")];
  const shared = platform === "win32" ? [] : ["/usr/local/lib", "/usr/local/lib/go-xla", "/usr/local/lib/gomlx/pjrt"];
  return [
    ...loader.map((folder) => ({ path: resolve(folder), rule: "LD_LIBRARY_PATH" })),
    ...[...own, ...shared].map((path) => ({ path, rule: "usual folder" })),
    ...loaderDirectories(machine).map((path) => ({ path, rule: "default folder of the loader" })),
  ].map((location) => ({ ...location, isNamed: false, accepts: isPluginName }));
}
