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
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
