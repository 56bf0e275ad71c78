/** The compiled programs on disk, as `inferyard compile --list` and `--remove` show them. */
import { basename, dirname, resolve, sep } from "node:path";
import { invalidInput } from "../../contract/errors.ts";
import { type ListedProgram, type ProgramFolder, programFolderAt } from "../../backends/xla/program-cache/program-folder.ts";
import type { Manifest } from "../../models/manifest.ts";
import { formatTable, printable } from "../output/table.ts";
import { formatBytes, plural } from "../output/units.ts";

/** The folder of the compiled programs as it is; it is not created. */
export function existingFolder(): ProgramFolder {
  return programFolderAt();
}

/** The list for --json. */
export function programsAsJson(folder: ProgramFolder, maxBytes: number): object {
  const programs = folder.list();
  return { folder: folder.path, bytes: getProgramBytes(programs), maxBytes, programs: programs.map(programAsJson) };
}

/** One program for --json. */
export function programAsJson({ key, bytes, usedMs, description }: ListedProgram): object {
  return { key, bytes, used: new Date(usedMs).toISOString(), ...(description ?? { damaged: true }) };
}

/** The list for people. */
export function formatPrograms(folder: ProgramFolder, maxBytes: number, localTime: (iso: string) => string): string {
  const programs = folder.list();
  if (programs.length === 0) return `no compiled programs in ${folder.path}`;
  const rows = programs.map(({ key, bytes, usedMs, description }) => {
    const used = localTime(new Date(usedMs).toISOString());
    const head = [key.slice(0, 12), formatBytes(bytes)];
    if (description === undefined) return [...head, "-", "-", "-", used, "damaged: it is removed when its program is needed"];
    const { device, deviceKind, plugin, apiVersion, model, inputs } = description;
    const where = deviceKind === "" || deviceKind === device ? device : `${device} (${deviceKind})`;
    const names = [where, `${basename(plugin)} (PJRT ${apiVersion})`, modelName(model)];
    return [...head, ...names.map((name) => printable(name, 44)), used, printable(inputs.join(", "), 80)];
  });
  const table = formatTable(rows, ["key", "size", "device", "plugin", "model", "last used", "inputs"]);
  const sum = `${plural(programs.length, "program")}, ${formatBytes(getProgramBytes(programs))} of at most ${formatBytes(maxBytes)} in ${folder.path}`;
  return `${table}\n${sum}`;
}

/** The folder and name of a model's file: "all-MiniLM-L6-v2/model.safetensors". */
function modelName(path: string): string {
  return `${basename(dirname(path))}/${basename(path)}`;
}

/**
 * Removes programs: all of them, the one whose key begins with `what`, or the programs of a model; `manifestOf` reads its manifest. Returns the removed ones.
 * Throws INPUT_INVALID if there is no such program.
 */
export async function removePrograms(
  folder: ProgramFolder,
  what: string,
  directory: string,
  manifestOf: (model: string) => Promise<Manifest | undefined>,
): Promise<readonly ListedProgram[]> {
  const programs = folder.list();
  if (what === "all") return removed(folder, programs);
  const byKey = keyPattern.test(what) ? programs.filter(({ key }) => key.startsWith(what)) : [];
  if (byKey.length > 0) return removed(folder, byKey);
  const isOf = modelTest(resolve(directory, what), await manifestOf(what));
  const byModel = programs.filter(({ description }) => description !== undefined && isOf(description.model));
  if (byModel.length > 0) return removed(folder, byModel);
  throw invalidInput(
    `no compiled program has a key that begins with "${what}" or was compiled for that model`,
    "inferyard compile --list shows them",
  );
}

const keyPattern = /^[0-9a-f]{6,64}$/;

/** Whether a file belongs to a model: to its folder, or to its variants. A model that is gone is known by its path. */
function modelTest(path: string, manifest: Manifest | undefined): (file: string) => boolean {
  const files = new Set([path, ...(manifest?.variants.map((variant) => variant.path) ?? [])]);
  const folders = manifest === undefined ? [path] : manifest.source === "file" ? [] : [manifest.directory];
  return (file) => files.has(file) || folders.some((folder) => file.startsWith(folder + sep));
}

function removed(folder: ProgramFolder, programs: readonly ListedProgram[]): readonly ListedProgram[] {
  return programs.filter(({ key }) => folder.remove(key));
}

/** Bytes of programs together. */
export function getProgramBytes(programs: readonly { readonly bytes: number }[]): number {
  return programs.reduce((sum, { bytes }) => sum + bytes, 0);
}
