/** Lists the files of a model's folder for its package. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { invalidInput } from "../../contract/errors.ts";
import { type Folder, displayNameIn } from "../model-folder.ts";
import { withReadErrors } from "../../formats/format-errors.ts";
import type { ArchiveFile } from "./archive-writer.ts";
import { checkEntryName, entryKey } from "./entry-name.ts";
import { metadataName } from "./metadata-json.ts";

/**
 * All files of a model's folder that go into an .aimod package, sorted by name: all except hidden ones (".git", ".cache") and metadata.json, which is
 * generated. Links to files are followed, as the cache of huggingface_hub requires. Throws INPUT_INVALID that lists everything a package cannot hold.
 */
export async function packageFiles(folder: Folder): Promise<ArchiveFile[]> {
  const problems: string[] = [];
  const files = (await filesIn(folder, "", problems)).filter(({ name }) => name !== metadataName);
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = new Map([[entryKey(metadataName), metadataName]]);
  for (const { name } of files) {
    const { refusal } = checkEntryName(name);
    if (refusal !== undefined) problems.push(`${name} ${refusal}`);
    const twin = names.get(entryKey(name));
    if (twin !== undefined) problems.push(`${twin} and ${name} are one file where capitals do not count`);
    names.set(entryKey(name), name);
  }
  if (problems.length === 0) return files;
  throw invalidInput(
    `${folder.displayName} cannot be packed: ${problems.join("; ")}`,
    "rename these files, or move them out of the folder",
    { problems },
  );
}

async function filesIn(folder: Folder, subfolder: string, problems: string[]): Promise<ArchiveFile[]> {
  const displayName = displayNameIn(folder, subfolder);
  const entries = await withReadErrors(displayName, () => readdir(join(folder.path, subfolder), { withFileTypes: true }));
  const files: ArchiveFile[] = [];
  for (const entry of entries.filter(({ name }) => !name.startsWith("."))) {
    const name = subfolder === "" ? entry.name : `${subfolder}/${entry.name}`;
    const path = join(folder.path, name);
    if (entry.isDirectory()) {
      files.push(...(await filesIn(folder, name, problems)));
      continue;
    }
    const status = await withReadErrors(displayNameIn(folder, name), () => stat(path));
    if (status.isFile()) files.push({ name, size: status.size, content: path });
    else problems.push(`${name} is ${status.isDirectory() ? "a link to a folder" : "neither a file nor a folder"}`);
  }
  return files;
}
