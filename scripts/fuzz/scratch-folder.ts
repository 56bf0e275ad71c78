/** A folder for the files of one fuzzing process, in memory where the machine has such a folder. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ScratchFolder {
  readonly path: string;
  remove(): void;
}

export function scratchFolder(): ScratchFolder {
  const path = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "inferyard-fuzz-"));
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove); // of a target that is not closed: an input ended the process
  return { path, remove };
}
