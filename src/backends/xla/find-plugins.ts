/** Where PJRT plugins are looked for. No file is loaded. */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isInferenceLibrary } from "../../libraries/discovery/library-names.ts";
import { scanLocation } from "../../libraries/discovery/index.ts";

/** A file that may be a plugin. */
export interface PluginFile {
  /** Absolute path. */
  readonly path: string;
  /** The setting, variable or folder that led to it. */
  readonly foundBy: string;
}

/** Names of plugins: pjrt_c_api_cpu_plugin.so, libpjrt_cpu.so, xla_cuda_plugin.so, xla_cpu_pjrt.so, libtpu.so. */
const pluginName = /pjrt|^xla_\w+_plugin|^libtpu/i;

/** Files that may be plugins, the configured one first, then those that variables name. */
export async function findPlugins(
  configured: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<readonly PluginFile[]> {
  if (configured !== undefined) return [{ path: resolve(configured), foundBy: "the setting xla.plugin" }];
  const found: PluginFile[] = [];
  const named = environment["PJRT_PLUGIN_LIBRARY_PATH"];
  if (named !== undefined && named !== "") found.push(...(await filesAt(resolve(named), "PJRT_PLUGIN_LIBRARY_PATH")));
  const root = environment["PJRT_ROOT"];
  if (root !== undefined && root !== "")
    for (const folder of [root, join(root, "lib")]) found.push(...(await filesAt(resolve(folder), "PJRT_ROOT")));
  return [...new Map(found.map((file) => [file.path, file])).values()];
}

/** The file itself, or the plugins in a folder. A path that leads nowhere is returned, so that the probe says so. */
async function filesAt(path: string, foundBy: string): Promise<readonly PluginFile[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [{ path, foundBy }];
  const { files } = await scanLocation(path, 0);
  return files.filter((file) => isPluginName(file.slice(path.length + 1))).map((file) => ({ path: file, foundBy }));
}

function isPluginName(name: string): boolean {
  return isInferenceLibrary(name) && pluginName.test(name);
}
