/** Archives of the engines that `inferyard-omni` contains, made of what `inferyard backends install` installs. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "tar";
import { installPlugin } from "../../src/backends/xla/plugins/install-plugin.ts";
import { type EmbeddedArchive, archiveList } from "../../src/libraries/npm/embedded-engines.ts";
import { installEngine } from "../../src/libraries/npm/install-engine.ts";
import type { Assets } from "./assets.ts";
import { type Component, npmComponents, packageFolders, pythonComponent } from "./components.ts";
import type { Target } from "./targets.ts";

/** Files that no program reads when it runs: types, source maps, and the source code of llama.cpp. */
const isForBuilding = /\.(?:map|d\.[cm]?ts)$|^gitRelease\.bundle$/;

/** Modification time of all files in archives: two builds give the same bytes. */
const mtime = new Date(0);

/** An engine that was installed for a machine. */
export interface PreparedEngine {
  readonly name: "onnx" | "llamacpp" | "koffi" | "xla";
  /** Folder below the data folder: "engines/onnx". */
  readonly folder: string;
  /** Absolute path of it. */
  readonly path: string;
  /** A file in the folder that is there once it is complete. */
  readonly record: string;
  /** Paths in the folder of the files that a program needs, sorted. */
  readonly files: readonly string[];
}

/** Installs the engines for a machine into a data folder in `work`. `notes`: what could not be installed, and why. */
export async function prepareEngines(
  target: Target,
  work: string,
): Promise<{ readonly engines: readonly PreparedEngine[]; readonly notes: readonly string[] }> {
  const { platform, architecture } = target;
  const data = join(work, `data-${target.name}`);
  const common = { offline: false, directory: work, environment: { ...process.env, INFERYARD_HOME: data } };
  const engines: PreparedEngine[] = [];
  const notes: string[] = [];
  mkdirSync(data, { recursive: true });
  const add = (name: PreparedEngine["name"], folder: string, record: string): void => {
    const path = join(data, folder);
    engines.push({ name, folder, path, record, files: filesBelow(path, "") });
  };
  for (const engine of ["onnx", "llamacpp", "koffi"] as const) {
    try {
      await installEngine({ ...common, engine, machine: { platform, architecture } });
      add(engine, `engines/${engine}`, "engine.json");
    } catch (error) {
      notes.push(`without ${engine}: ${(error as Error).message}`);
    }
  }
  if (platform === process.platform && architecture === process.arch) {
    await installPlugin({ ...common, accelerator: "cpu" });
    rmSync(join(data, "plugins", "xla", "digests"), { recursive: true, force: true });
    add("xla", "plugins/xla", "cpu.json");
  } else notes.push("without xla: its plugin is installed on the machine that it is for");
  return { engines, notes };
}

/** The packages that engines consist of. */
export function engineComponents(engines: readonly PreparedEngine[]): readonly Component[] {
  return engines.flatMap(({ name, path, record }) => {
    if (name !== "xla") return npmComponents(packageFolders(path), path);
    const plugin = JSON.parse(readFileSync(join(path, record), "utf8")) as { readonly package: string; readonly version: string };
    return [pythonComponent(plugin.package, plugin.version)];
  });
}

/** What a program contains of engines. */
interface ArchivedEngines {
  readonly assets: Assets;
  /** What the machine's program lacks. */
  readonly notes: readonly string[];
  readonly components: readonly Component[];
}

/** Archives the engines for a machine in the folder `work`. */
export async function archiveEngines(target: Target, work: string): Promise<ArchivedEngines> {
  const { engines, notes } = await prepareEngines(target, work);
  const archives: EmbeddedArchive[] = [];
  const assets: Record<string, string> = {};
  for (const { name, folder, path, record, files } of engines) {
    const file = join(work, `${name}-${target.name}.tgz`);
    await create({ file, cwd: path, gzip: { level: 9 }, portable: true, mtime, noDirRecurse: true }, [...files]);
    const asset = `engines/${name}.tgz`;
    assets[asset] = file;
    archives.push({ asset, sha256: createHash("sha256").update(readFileSync(file)).digest("hex"), folder, record });
  }
  const list = join(work, `engines-${target.name}.json`);
  writeFileSync(list, JSON.stringify(archives));
  return { assets: { ...assets, [archiveList]: list }, notes, components: engineComponents(engines) };
}

/** Paths of all files below a folder, sorted; locks and leftovers are left out. */
function filesBelow(folder: string, prefix: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== "install.lock" && !isForBuilding.test(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${prefix}${entry.name}`;
      return entry.isDirectory() ? filesBelow(join(folder, entry.name), `${path}/`) : [path];
    });
}
