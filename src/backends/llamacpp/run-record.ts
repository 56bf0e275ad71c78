/** The run of the tiny model on the CPU that passed before on this machine. */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { processorIdentity } from "../../devices/cpu/processor-identity.ts";
import { buildDigest } from "../../platform/node/build-digest.ts";
import { dataFolder } from "../../storage/data-folder.ts";
import { PassedTests } from "../../storage/passed-tests.ts";
import { type LlamaBuild, findBuild } from "./package.ts";

/** A record of passed runs, and the build of llama.cpp whose runs it holds. */
export interface RunRecord {
  readonly passed: PassedTests;
  readonly build: LlamaBuild;
}

/** Environment variables that change which native code the dynamic linker and llama.cpp load, or how ggml computes. */
const influential = /^(LD_|DYLD_|GGML_|LLAMA_|NODE_LLAMA_CPP_)/;

/**
 * Opens the record of the runs of the tiny model that passed with this code, this build of llama.cpp and this processor. The name of a test is what llama.cpp said of its run.
 * `module`: URL of a module that imports all code of the run statically. `forget`: runs that passed before count for nothing. Undefined, so that nothing is remembered, where
 * `buildDigest` does not know our own code, or the native code is not that of a package of node-llama-cpp.
 */
export function openRunRecord(module: string, { forget = false }: { readonly forget?: boolean } = {}): RunRecord | undefined {
  const code = buildDigest(module);
  const build = findBuild(process.platform, process.arch, false);
  if (code === undefined || build === undefined) return undefined;
  const key = {
    tests: "tiny model on llamacpp:cpu",
    code,
    package: build.version,
    build: digestOfFiles(build.folder),
    processor: processorIdentity(),
    node: process.version,
    system: `${process.platform}/${process.arch} ${release()}`,
    environment: digestOfEnvironment(),
  };
  return { passed: new PassedTests(join(dataFolder(), "self-tests"), key, { forget }), build };
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

/** SHA-256, since a value may be a secret. */
function digestOfEnvironment(): string {
  const names = Object.keys(process.env).filter((name) => influential.test(name));
  const variables = names.toSorted().map((name) => [name, process.env[name]]);
  return createHash("sha256").update(JSON.stringify(variables)).digest("hex");
}
