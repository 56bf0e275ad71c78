/** Finds the backends that ggml's registry loads at run time from the library's folder. No import table names them. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BinaryFile } from "../binaries/index.ts";

/**
 * File names that `ggml_backend_load_best` of ggml-backend-reg.cpp accepts: prefix, backend name, extension. macOS uses the extension of Linux, .so.
 */
const names = { windows: /^ggml-.+\.dll$/i, others: /^libggml-.+\.so$/ } as const;

/** Paths of the backends in a folder, sorted by name, for libraries of a binary format. Empty if the folder does not exist. */
export async function backendsIn(folder: string, format: BinaryFile["format"]): Promise<readonly string[]> {
  const pattern = format === "pe" ? names.windows : names.others;
  const files = await readdir(folder).catch((): string[] => []);
  return files
    .filter((name) => pattern.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}
