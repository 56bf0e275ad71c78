/** Digests of builds, remembered between processes: reading and hashing all files of the engine takes 10 to 20 ms, and looking at their status less than one. */
import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Build, describeFile, readBuild } from "../platform/node/build-digest.ts";
import { dataFolder } from "./data-folder.ts";
import { isTrusted, makeOwnFolder, removeIfThere } from "./own-files.ts";
import { toSha256 } from "./sha256.ts";

/** Maximum number of records in the folder: of installations of this user. A write removes the oldest ones above it. */
const maxRecords = 16;

/**
 * See `buildDigest`. The digest of an earlier process is used if no file of the build has changed since, as far as size, times and inodes tell, and if only this user can
 * have written it. `folder`: an absolute path. Default: in the data folder.
 */
export function rememberedBuildDigest(
  modules: readonly string[],
  folder: string = join(dataFolder(), "builds"),
  startMs?: number,
): string | undefined {
  const path = join(folder, `${toSha256(JSON.stringify(modules)).slice(0, 32)}.json`);
  const known = readRecord(folder, path);
  if (known !== undefined && isUnchanged(known, startMs)) return known.digest;
  const build = readBuild(modules, startMs);
  if (build !== undefined) writeRecord(folder, path, build);
  return build?.digest;
}

function isUnchanged({ files }: Build, startMs: number | undefined): boolean {
  try {
    return Object.entries(files).every(([path, file]) => describeFile(path, startMs) === file);
  } catch {
    return false; // a file is missing
  }
}

function readRecord(folder: string, path: string): Build | undefined {
  try {
    if (!isTrusted(lstatSync(folder))) return undefined;
    const status = lstatSync(path);
    if (!status.isFile() || !isTrusted(status)) return undefined;
    const { build, check } = JSON.parse(readFileSync(path, "utf8")) as { readonly build: Build; readonly check: string };
    return check === toSha256(JSON.stringify(build)) ? build : undefined;
  } catch {
    return undefined; // there is none, or it is no JSON object
  }
}

function writeRecord(folder: string, path: string, build: Build): void {
  const temporary = `${path}.${process.pid}.${randomUUID()}.tmp`;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    makeOwnFolder(folder);
    if (!isTrusted(lstatSync(folder))) return;
    writeFileSync(temporary, JSON.stringify({ build, check: toSha256(JSON.stringify(build)) }), { flag: "wx", mode: 0o600 });
    renameSync(temporary, path);
    removeOldest(folder);
  } catch {
    removeIfThere(temporary);
  }
}

function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= maxRecords) return;
  const byAge = files.map((path) => ({ path, writtenMs: lstatSync(path).mtimeMs })).toSorted((a, b) => b.writtenMs - a.writtenMs);
  for (const { path } of byAge.slice(maxRecords)) removeIfThere(path);
}
