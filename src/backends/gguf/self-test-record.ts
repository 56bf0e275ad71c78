/** Persistent record of the self-tests of an engine for GGUF files that passed earlier on this machine. */
import { release } from "node:os";
import { join } from "node:path";
import { processorIdentity } from "../../devices/cpu/processor-identity.ts";
import { buildDigest } from "../../platform/node/build-digest.ts";
import { dataFolder } from "../../storage/data-folder.ts";
import { PassedTests } from "../../storage/passed-tests.ts";
import { toSha256 } from "../../storage/sha256.ts";

/** Key of a record of passed tests. */
export interface SelfTestSubject {
  /** Name of the tests and the target they run on. */
  readonly tests: string;
  /** URL of a module that imports all code of the test statically. */
  readonly module: string;
  /** Version and digest of the native files. */
  readonly engine: Readonly<Record<string, string>>;
}

/** Environment variables that change which native code the dynamic linker and llama.cpp load, or how ggml computes. */
const influential = /^(LD_|DYLD_|GGML_|LLAMA_|NODE_LLAMA_CPP_)/;

/**
 * Opens the record of the tests that passed with this code, these native files and this processor. `forget`: ignores earlier results. Undefined, so
 * that no result is stored, if `buildDigest` cannot identify this package's code.
 */
export function openSelfTestRecord(
  { tests, module, engine }: SelfTestSubject,
  { forget = false }: { readonly forget?: boolean } = {},
): PassedTests | undefined {
  const code = buildDigest([module]);
  if (code === undefined) return undefined;
  const key = {
    tests,
    code,
    ...engine,
    processor: processorIdentity(),
    node: process.version,
    system: `${process.platform}/${process.arch} ${release()}`,
    environment: digestOfEnvironment(),
  };
  return new PassedTests(join(dataFolder(), "self-tests"), key, { forget });
}

/** SHA-256 of the environment variables that influence the engine. A digest, because a value may be a secret. */
function digestOfEnvironment(): string {
  const names = Object.keys(process.env).filter((name) => influential.test(name));
  const variables = names.toSorted().map((name) => [name, process.env[name]]);
  return toSha256(JSON.stringify(variables));
}
