/** Files that only this user can write, for the moment in which they are loaded. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferyardError, getMessage } from "../../../contract/errors.ts";
import { dataFolder } from "../../../storage/data-folder.ts";

/** The variable that names a folder in which files of code are written and stay, for debuggers and profilers. */
const keptVariable = "INFERYARD_MACHINE_CODE_FILES";

const writableByOthers = 0o022;
const sticky = 0o1000;

/**
 * Writes a new file in a new private folder (mode 0700, file 0600), runs `load` with its path, and deletes both. Tries the folder for temporary files, the data folder of
 * Inferyard and /dev/shm, in this order, so that one of them may be full, read-only or mounted with noexec. With `INFERYARD_MACHINE_CODE_FILES` its folder alone is used, and nothing is deleted. Throws BACKEND_UNAVAILABLE with all reasons.
 */
export function withPrivateFile<Result>(
  name: string,
  bytes: Uint8Array,
  load: (path: string) => Result,
  parents: readonly string[] = [tmpdir(), dataFolder(), "/dev/shm"],
): Result {
  const kept = process.env[keptVariable];
  const problems: string[] = [];
  for (const parent of kept === undefined ? new Set(parents) : [kept]) {
    let folder: string | undefined;
    try {
      refuseUnsafe(parent);
      folder = mkdtempSync(join(parent, "inferyard-code-"));
      const path = join(folder, name);
      writeFileSync(path, bytes, { mode: 0o600, flag: "wx" });
      return load(path);
    } catch (error) {
      if (isForbidden(error))
        throw new InferyardError("BACKEND_UNAVAILABLE", `Node.js was started without the permission: ${getMessage(error)}`);
      problems.push(`${parent}: ${getMessage(error)}`);
    } finally {
      if (folder !== undefined && kept === undefined) rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new InferyardError("BACKEND_UNAVAILABLE", `machine code cannot be loaded: ${problems.join("; ")}`);
}

/** Whether Node.js itself forbids addons (`--permission` without `--allow-addons`, `--no-addons`) or files. */
function isForbidden(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ERR_DLOPEN_DISABLED" || code === "ERR_ACCESS_DENIED";
}

/** Throws if another user could replace a new folder in this one. */
function refuseUnsafe(parent: string): void {
  const { uid, mode } = statSync(parent);
  const user = process.geteuid?.();
  const isOwn = uid === 0 || uid === user;
  if (!isOwn || ((mode & writableByOthers) !== 0 && (mode & sticky) === 0))
    throw new InferyardError("INPUT_INVALID", "other users can replace what is in this folder");
}
