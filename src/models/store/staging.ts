/** Names of files and folders under way, from which another process of this machine can tell whether their maker still lives. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { listNames, withDiskErrors } from "./disk.ts";

type Purpose = "building" | "removing" | "writing";

/** To be put behind a path, or to stand alone. */
export function stagingName(purpose: Purpose): string {
  return `.${purpose}-${ownHost()}-${process.pid}-${randomUUID()}`;
}

function ownHost(): string {
  return hostname().replaceAll(/[^a-zA-Z0-9]/g, "");
}

const namePattern = /\.(?:building|removing|writing)-(?<host>[a-zA-Z0-9]*)-(?<pid>\d+)-[0-9a-f-]{36}$/;

export function isStaging(name: string): boolean {
  return namePattern.test(name);
}

/** Whether a name is one of these, of this machine, and its process has ended. Those of other machines are theirs to remove. */
function isAbandoned(name: string): boolean {
  const { host, pid } = namePattern.exec(name)?.groups ?? {};
  if (pid === undefined || host !== ownHost()) return false;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    // EPERM: it runs, for someone else.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Removes what processes of this machine left behind in a folder when they were killed; gives the number. */
export async function sweepAbandoned(folder: string): Promise<number> {
  const names = (await listNames(folder)).filter((name) => isAbandoned(name));
  for (const name of names) {
    const path = join(folder, name);
    await withDiskErrors(path, () => rm(path, { recursive: true, force: true }));
  }
  return names.length;
}
