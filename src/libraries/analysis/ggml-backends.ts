/** The backends that ggml's registry loads while a program runs, which no table of a library names: files beside it. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BinaryFile } from "../binaries/index.ts";

/** The names that `ggml_backend_load_best` of ggml-backend-reg.cpp takes: prefix, name of a backend, extension; on macOS that of Linux. */
const names = { windows: /^ggml-.+\.dll$/i, others: /^libggml-.+\.so$/ } as const;

/** Paths of the backends in a folder, by name, for libraries of a format; empty if there is no such folder. */
export async function backendsIn(folder: string, format: BinaryFile["format"]): Promise<readonly string[]> {
  const pattern = format === "pe" ? names.windows : names.others;
  const files = await readdir(folder).catch((): string[] => []);
  return files
    .filter((name) => pattern.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}
