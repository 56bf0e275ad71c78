/**
 * The SHA-256 of a plugin, which names its build: plugins state only "cpu" or "cuda" as their version. It is computed once for each state of the file, and remembered in the data
 * folder.
 */
import { randomUUID } from "node:crypto";
import { lstat, mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { computeSha256 } from "../../../platform/node/files.ts";
import type { DataFolderInputs } from "../../../storage/data-folder.ts";
import { isTrusted } from "../../../storage/own-files.ts";
import { toSha256 } from "../../../storage/sha256.ts";
import { pluginsFolder } from "./installed-plugins.ts";

/** The content of a file of the cache. */
interface KnownDigest {
  readonly path: string;
  /** Changes whenever the file is written or replaced, or its times are set. */
  readonly stamp: string;
  readonly sha256: string;
}

/** Digests that are remembered; the folder is emptied above it. */
const maxKnown = 64;

/** The digest, hexadecimal. Throws errors of reading the file; a data folder that cannot be written is not an error. */
export async function pluginDigest(path: string, inputs: DataFolderInputs = {}): Promise<string> {
  const folder = join(pluginsFolder(inputs), "digests");
  const file = join(folder, `${toSha256(path).slice(0, 32)}.json`);
  const stamp = await getStamp(path);
  const known = await readKnown(file);
  if (known?.path === path && known.stamp === stamp) return known.sha256;
  const sha256 = await computeSha256(path);
  const isUnchanged = (await getStamp(path)) === stamp;
  if (isUnchanged) await remember(folder, file, { path, stamp, sha256 }).catch(() => undefined);
  return sha256;
}

async function getStamp(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/** Undefined for a file that is missing, damaged, or could have been written by another user. */
async function readKnown(file: string): Promise<KnownDigest | undefined> {
  try {
    if (!isTrusted(await lstat(file))) return undefined;
    const { path, stamp, sha256 } = JSON.parse(await readFile(file, "utf8")) as Partial<Record<keyof KnownDigest, unknown>>;
    const isWhole =
      typeof path === "string" && typeof stamp === "string" && typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
    return isWhole ? { path, stamp, sha256 } : undefined;
  } catch {
    return undefined;
  }
}

async function remember(folder: string, file: string, known: KnownDigest): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!isTrusted(await lstat(folder))) return;
  const names = await readdir(folder);
  if (names.length > maxKnown) for (const name of names) await rm(join(folder, name), { force: true });
  const temporary = `${file}.${process.pid}.${randomUUID()}.tmp`;
  try {
    // Not flushed: after a loss of power a damaged file counts for nothing.
    await writeFile(temporary, `${JSON.stringify(known)}\n`, { flag: "wx", mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
