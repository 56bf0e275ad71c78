/** The files of ggml in a folder: its base library and its CPU backends. */
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { computeSha256 } from "../../platform/node/files.ts";
import { checkLibrarySize } from "../binaries/library-size.ts";
import type { LoadedFile } from "./loaded-files.ts";

/** Absolute paths. */
export interface GgmlFiles {
  readonly base: string;
  /** CPU backends. Builds for several processors have one for each. */
  readonly cpu: readonly string[];
}

/** What ends the name of a shared library: libggml-base.so, libggml-base.so.0.9.4, libggml-base.dylib, ggml-base.dll. */
const ending = String.raw`\.(?:so(?:\.[\d.]+)?|dylib|dll)$`;
const baseName = new RegExp(`^(?:lib)?ggml-base${ending}`);
const cpuName = new RegExp(`^(?:lib)?ggml-cpu(?:-[\\w.]+?)?${ending}`);

/** Finds the files by their names. Throws LIBRARY_INCOMPATIBLE if the folder cannot be read, or has no base library or no CPU backend. */
export async function findGgmlFiles(folder: string): Promise<GgmlFiles> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new InferyardError("LIBRARY_INCOMPATIBLE", `${folder} cannot be read: ${getMessage(error)}`, {
      cause: error,
      remedy: "give the folder that has libggml-base and libggml-cpu",
    });
  });
  // Links with and without a version are the same file; the shortest name is the one that others need.
  const sorted = names.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const base = sorted.find((name) => baseName.test(name));
  const cpu = withoutVersions(sorted.filter((name) => cpuName.test(name)));
  if (base !== undefined && cpu.length > 0) {
    return { base: resolve(folder, base), cpu: cpu.map((name) => resolve(folder, name)) };
  }
  const missing = base === undefined ? "libggml-base" : "libggml-cpu";
  throw new InferyardError("LIBRARY_INCOMPATIBLE", `${join(folder)} has no ${missing}`, {
    remedy: "give a folder with both: that of node-llama-cpp's binaries, or bin of a build of llama.cpp with shared libraries",
    data: { folder, missing: [missing] },
  });
}

/**
 * Reads ggml's files and computes their digests. Throws errors of Node.js, INPUT_INVALID for a path that is not a regular file, and LIMIT_EXCEEDED
 * for a file that is too large.
 */
export async function readGgmlDigests({ base, cpu }: GgmlFiles): Promise<readonly LoadedFile[]> {
  const files: LoadedFile[] = [];
  for (const path of [base, ...cpu]) {
    // Sequential, so that only one file is read at a time.
    // oxlint-disable-next-line no-await-in-loop
    await checkLibrarySize(path);
    // oxlint-disable-next-line no-await-in-loop
    files.push({ name: basename(path), path, sha256: await computeSha256(path) });
  }
  return files;
}

/** One name for each library: of libx.so and libx.so.0, the first. */
function withoutVersions(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return names.filter((name) => {
    const stem = name.replace(/\.so[\d.]*$/, ".so");
    if (seen.has(stem)) return false;
    seen.add(stem);
    return true;
  });
}
