/** Persistent record of the test runs of tiny models on the CPU that passed earlier on this machine. */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PassedTests } from "../../storage/passed-tests.ts";
import { openSelfTestRecord } from "../gguf/self-test-record.ts";
import { type LlamaBuild, findBuild } from "./package.ts";

/** A record of passed runs, and the build of llama.cpp whose runs it holds. */
export interface RunRecord {
  readonly passed: PassedTests;
  readonly build: LlamaBuild;
}

/**
 * The group of test runs that a record holds. A run of a probe is recorded under llama.cpp's report of the run; a run before a load is recorded under
 * the specification of its test model.
 */
export type RunRecordTests = "tiny model on llamacpp:cpu" | "tiny models before loads on llamacpp:cpu";

/**
 * Opens the record of the test runs that passed with this code, this build of llama.cpp and this processor. `module`: URL of a module that imports
 * all code of the run statically. `forget`: ignores earlier results. Undefined, so that no result is stored, if `buildDigest` cannot identify this
 * package's code or the native code does not belong to a package of node-llama-cpp.
 */
export function openRunRecord(
  tests: RunRecordTests,
  module: string,
  { forget = false }: { readonly forget?: boolean } = {},
): RunRecord | undefined {
  const build = findBuild(process.platform, process.arch, false);
  if (build === undefined) return undefined;
  const engine = { package: build.version, build: digestOfFiles(build.folder) };
  const passed = openSelfTestRecord({ tests, module, engine }, { forget });
  return passed === undefined ? undefined : { passed, build };
}

/** SHA-256 of the names and contents of the files in a folder. */
function digestOfFiles(folder: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isDirectory());
  for (const name of files.map((file) => file.name).toSorted()) {
    const content = readFileSync(join(folder, name));
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}
