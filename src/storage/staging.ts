/** Names of temporary files and folders. They contain the host and process id, so that leftovers of dead processes can be recognized and removed. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isProcessRunning } from "../platform/node/process-running.ts";
import { listNames, withDiskErrors } from "./disk.ts";

type Purpose = "building" | "loading" | "removing" | "unpacking" | "writing";

/**
 * Makes a unique temporary file name `.<purpose>-<host>-<pid>-<uuid>`, which is either appended to a path or used alone. It names
 * the process, so that leftovers of a process that ended can be removed.
 */
export function stagingName(purpose: Purpose): string {
  return `.${purpose}-${ownHost()}-${process.pid}-${randomUUID()}`;
}

function ownHost(): string {
  return hostname().replaceAll(/[^a-zA-Z0-9]/g, "");
}

const namePattern = /\.(?:building|loading|removing|unpacking|writing)-(?<host>[a-zA-Z0-9]*)-(?<pid>\d+)-[0-9a-f-]{36}$/;

/** Whether a file or folder name is, or ends in, a temporary name that `stagingName` makes: `.writing-<host>-<pid>-<uuid>` and the like. */
export function isStaging(name: string): boolean {
  return namePattern.test(name);
}

/** Whether a name is a temporary name of a process of this machine that has ended. Other machines remove their own. */
export function isAbandoned(name: string): boolean {
  const { host, pid } = namePattern.exec(name)?.groups ?? {};
  return pid !== undefined && host === ownHost() && !isProcessRunning(Number(pid));
}

/** Removes the temporary files and folders of dead processes of this machine from a folder. Returns their number. */
export async function sweepAbandoned(folder: string): Promise<number> {
  const names = (await listNames(folder)).filter((name) => isAbandoned(name));
  for (const name of names) {
    const path = join(folder, name);
    await withDiskErrors(path, () => rm(path, { recursive: true, force: true }));
  }
  return names.length;
}
