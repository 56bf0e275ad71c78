/** Checks of generated code that passed before on this machine. In browsers src/composition/browser/check-record.ts takes this module's place. */
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import type { WasmFeatures } from "../../engine/codegen/wasm/index.ts";
import type { PassedChecks } from "../../engine/execute/kernel-checks/passed-checks.ts";
import { processorIdentity } from "../../devices/cpu/processor-identity.ts";
import { dataFolder } from "../../storage/data-folder.ts";
import { buildDigest } from "../../platform/node/build-digest.ts";
import { PassedTests } from "../../storage/passed-tests.ts";

/** Options of opening a record. */
export interface CheckRecordOptions {
  /** Whether stored results are discarded. Default: false. */
  readonly forget?: boolean;
}

/**
 * Opens the record of the checks that passed with this build of Inferyard on this processor, with this version of Node.js and these flags of V8. Undefined where the
 * build is not known, so that nothing is remembered: see `buildDigest`. Undefined itself in a page.
 */
export const openCheckRecord: OpenCheckRecord | undefined = (module, features, options) => {
  const build = buildDigest(module);
  if (build === undefined) return undefined;
  const key = {
    tests: "generated code of the engine",
    build,
    processor: processorIdentity(),
    node: process.version,
    system: `${process.platform}/${process.arch}`,
    v8: `${process.versions.v8} ${cachedDataVersionTag()}`, // V8's flags, and the instruction sets that it uses
    features: JSON.stringify(features),
  };
  return new PassedTests(join(dataFolder(), "self-tests"), key, options);
};

/** Opens a record for generated code that uses these features of WebAssembly. `module`: URL of a module that imports the engine statically. */
export type OpenCheckRecord = (module: string, features: WasmFeatures, options?: CheckRecordOptions) => PassedChecks | undefined;
