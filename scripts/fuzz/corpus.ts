/** Kept inputs: of the repository, and of earlier runs on this machine. A file is named after its content. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Of the repository: inputs that failed once, and the smallest ones that reach what the seeds do not. */
export function keptFolder(target: string): string {
  return join(root, "scripts", "fuzz", "corpus", target);
}

/** Of this machine: everything that reached something new. It may be removed at any time. */
export function foundFolder(target: string): string {
  return join(root, "node_modules", ".cache", "inferyard-fuzz", "corpus", target);
}

/** Where failing inputs are written. */
export function failureFolder(): string {
  return join(root, "tmp", "fuzz");
}

/** Paths of the inputs, by name; none if there is no such folder. */
export function pathsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}

export function inputsIn(folder: string): Uint8Array[] {
  return pathsIn(folder).map((path) => readFileSync(path));
}

/** Writes an input under its digest and gives its path. */
export function keep(folder: string, input: Uint8Array, prefix = ""): string {
  const path = join(folder, `${prefix}${createHash("sha256").update(input).digest("hex").slice(0, 16)}`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, input);
  return path;
}
