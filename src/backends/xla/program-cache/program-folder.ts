/** The folder of the compiled programs of this user, in the data folder. */
import { join } from "node:path";
import { CodeFolder, type ListedCode } from "../../../storage/code-cache/code-folder.ts";
import { dataFolder } from "../../../storage/data-folder.ts";
import { defaultProgramCacheBytes } from "../xla-settings.ts";
import { type ProgramDescription, programFormat } from "./program-file.ts";

/** The compiled programs that this user's processes share. */
export type ProgramFolder = CodeFolder<ProgramDescription>;

/** A file of the folder and its content. */
export type ListedProgram = ListedCode<ProgramDescription>;

/** Opens or creates the folder. `maxBytes`: see `CodeFolderSettings`. */
export async function openProgramFolder({
  path = programFolderPath(),
  maxBytes = defaultProgramCacheBytes,
}: { readonly path?: string; readonly maxBytes?: number | undefined } = {}): Promise<ProgramFolder> {
  return await CodeFolder.open(programFormat, { path, maxBytes, setting: "xla.programCacheBytes" });
}

/** The folder as it is, for lists and removals: nothing is created. */
export function programFolderAt(path: string = programFolderPath()): ProgramFolder {
  return CodeFolder.at(programFormat, path);
}

function programFolderPath(): string {
  return join(dataFolder(), "xla-programs");
}
