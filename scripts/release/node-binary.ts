/** Fetches binaries of Node.js from npm, and strips them. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { extract } from "tar";
import { nodeVersion, type Target } from "./targets.ts";

/** Returns the path of the binary of Node.js for a machine, in the folder `cache`, where it is kept. Throws if the package has another digest. */
export async function fetchNode(target: Target, cache: string): Promise<string> {
  const folder = join(cache, `${target.package}-${nodeVersion}`);
  const binary = join(folder, "package", target.binary);
  if (existsSync(binary)) return binary;
  const staging = `${folder}.${process.pid}`;
  mkdirSync(staging, { recursive: true });
  const name = `${target.package}@${nodeVersion}`;
  const printed = execFileSync("npm", ["pack", "--silent", "--pack-destination", staging, name], { encoding: "utf8" });
  const file = join(staging, printed.trim().split("\n").at(-1) ?? "");
  const integrity = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
  if (integrity !== target.integrity) throw new Error(`${name} has the digest ${integrity}, not ${target.integrity}`);
  await extract({ file, cwd: staging });
  renameSync(staging, folder);
  return binary;
}

/** Copies a binary to `path`, stripped if one of the programs for that is installed. Returns the program's name; undefined if there is none. */
export function stripTo(target: Target, binary: string, path: string): string | undefined {
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(binary, path);
  chmodSync(path, 0o755);
  for (const [program = "", ...options] of target.strip) {
    const { status, error } = spawnSync(program, [...options, path], { stdio: "ignore" });
    if (error === undefined && status === 0) return program;
  }
  return undefined;
}
