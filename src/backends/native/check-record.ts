/** Checks of generated code that passed before on this machine. In browsers src/composition/browser/check-record.ts takes this module's place. */
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import type { WasmFeatures } from "../../engine/codegen/wasm/assembler/wasm-features.ts";
import type { PassedChecks } from "../../engine/execute/kernel-checks/passed-checks.ts";
import { processorIdentity } from "../../devices/cpu/processor-identity.ts";
import { dataFolder } from "../../storage/data-folder.ts";
import { rememberedBuildDigest } from "../../storage/build-record.ts";
import { PassedTests } from "../../storage/passed-tests.ts";

/** Options of opening a record. */
export interface CheckRecordOptions {
  /** Whether stored results are discarded. Default: false. */
  readonly forget?: boolean;
}

/**
 * Opens the record of the checks that passed with this code. Undefined where the build is not known, so that nothing is remembered: see `buildDigest`. Undefined
 * itself in a page.
 */
export const openCheckRecord: OpenCheckRecord | undefined = (identity, options) =>
  new PassedTests(join(dataFolder(), "self-tests"), { tests: "generated code of the engine", ...identity }, options);

/** Modules that import all code whose results are remembered: of the engine, of machine code, and of restored models. */
const modules = [
  new URL("./create-engine.ts", import.meta.url),
  new URL("./machine-code/bind-machine-code.ts", import.meta.url),
  new URL("./kept/restore-model.ts", import.meta.url),
];

/**
 * All that generated code and its results depend on: this build of Inferyard, the processor, and this version of Node.js with these flags of V8. Undefined where the build is not
 * known: see `buildDigest`.
 */
export function identifyCode(features: WasmFeatures): CodeIdentity | undefined {
  const build = rememberedBuildDigest(modules.map(({ href }) => href));
  if (build === undefined) return undefined;
  return {
    build,
    processor: processorIdentity(),
    node: process.version,
    system: `${process.platform}/${process.arch}`,
    v8: `${process.versions.v8} ${cachedDataVersionTag()}`, // V8's flags, and the instruction sets that it uses
    features: JSON.stringify(features),
  };
}

/** What generated code depends on, by name. */
export type CodeIdentity = Readonly<Record<string, string>>;

/** Opens a record for the code with this identity. */
export type OpenCheckRecord = (identity: CodeIdentity, options?: CheckRecordOptions) => PassedChecks;
