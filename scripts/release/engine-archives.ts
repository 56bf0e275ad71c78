/** Archives of the engines that `inferyard-omni` contains, made of what `inferyard backends install` installs. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "tar";
import { installPlugin } from "../../src/backends/xla/plugins/install-plugin.ts";
import { type EmbeddedArchive, archiveList } from "../../src/libraries/npm/embedded-engines.ts";
import { installEngine } from "../../src/libraries/npm/install-engine.ts";
import type { Assets } from "./assets.ts";
import type { Target } from "./targets.ts";

/** Files that no program reads when it runs: types, source maps, and the source code of llama.cpp. */
const isForBuilding = /\.(?:map|d\.[cm]?ts)$|^gitRelease\.bundle$/;

/** Modification time of all files in archives: two builds give the same bytes. */
const mtime = new Date(0);

/** Installs the engines for a machine in the folder `work`, and archives them. `notes`: what the machine's program lacks. */
export async function archiveEngines(
  target: Target,
  work: string,
): Promise<{ readonly assets: Assets; readonly notes: readonly string[] }> {
  const { platform, architecture } = target;
  const data = join(work, `data-${target.name}`);
  const environment = { ...process.env, INFERYARD_HOME: data };
  const common = { offline: false, directory: work, environment };
  const archives: EmbeddedArchive[] = [];
  const notes: string[] = [];
  const assets: Record<string, string> = {};
  mkdirSync(data, { recursive: true });
  const add = async (name: string, folder: string, record: string): Promise<void> => {
    const file = join(work, `${name}-${target.name}.tgz`);
    const entries = filesBelow(join(data, folder), "");
    await create({ file, cwd: join(data, folder), gzip: { level: 9 }, portable: true, mtime, noDirRecurse: true }, entries);
    const asset = `engines/${name}.tgz`;
    assets[asset] = file;
    archives.push({ asset, sha256: createHash("sha256").update(readFileSync(file)).digest("hex"), folder, record });
  };
  for (const engine of ["onnx", "llamacpp", "koffi"] as const) {
    try {
      await installEngine({ ...common, engine, machine: { platform, architecture } });
      await add(engine, `engines/${engine}`, "engine.json");
    } catch (error) {
      notes.push(`without ${engine}: ${(error as Error).message}`);
    }
  }
  if (platform === process.platform && architecture === process.arch) {
    await installPlugin({ ...common, accelerator: "cpu" });
    rmSync(join(data, "plugins", "xla", "digests"), { recursive: true, force: true });
    await add("xla", "plugins/xla", "cpu.json");
  } else notes.push("without xla: its plugin is installed on the machine that it is for");
  const list = join(work, `engines-${target.name}.json`);
  writeFileSync(list, JSON.stringify(archives));
  return { assets: { ...assets, [archiveList]: list }, notes };
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
