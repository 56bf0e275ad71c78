/** Modules that the build for pages puts in the place of others: whoever imports one of Node.js gets the same exports with the same types. */
import { describe, expect, it } from "vitest";
import { pageReplacements } from "../../../scripts/build/page-entries.ts";
import type * as apiBrowserCreateRuntime from "../../api/browser/create-runtime.ts";
import type * as apiCreateRuntime from "../../api/create-runtime.ts";
import type * as backendsWasmPackage from "../../backends/wasm/package.ts";
import type * as backendsNativeRestoreModel from "../../backends/native/kept/restore-model.ts";
import type * as backendsNativeCheckRecord from "../../backends/native/check-record.ts";
import type * as engineCodegenWasmV8Flags from "../../engine/codegen/wasm/v8-flags.ts";
import type * as engineThreadsSpawnThread from "../../engine/threads/spawn-thread.ts";
import type * as modelsAimodReadPackage from "../../models/aimod/read-package.ts";
import type * as modelsReferenceResolveReference from "../../models/reference/resolve-reference.ts";
import type * as browserCheckRecord from "./check-record.ts";
import type * as browserFiles from "../../platform/browser/files.ts";
import type * as browserKernelMachineCode from "./kernel-machine-code.ts";
import type * as browserMachineCode from "./machine-code.ts";
import type * as x64 from "../../engine/codegen/x64/index.ts";
import type * as browserPagePictures from "./page-pictures.ts";
import type * as browserPageDiscard from "./page-discard.ts";
import type * as browserOnnxruntimeWeb from "./onnxruntime-web.ts";
import type * as browserPaths from "../../platform/browser/paths.ts";
import type * as browserReadPackage from "./read-package.ts";
import type * as browserReference from "./reference.ts";
import type * as browserRestoreModel from "./restore-model.ts";
import type * as browserSpawnThread from "../../platform/browser/spawn-thread.ts";
import type * as browserV8Flags from "../../platform/browser/v8-flags.ts";
import type * as nodeFiles from "../../platform/node/files.ts";
import type * as nodeMachineCode from "../../backends/native/machine-code/machine-code.ts";
import type * as nodePageDiscard from "../../backends/native/page-discard.ts";
import type * as imagesSharp from "../../processors/images/sharp.ts";
import type * as nodePaths from "../../platform/node/paths.ts";

const root = new URL("../../../", import.meta.url);

/** The compiler checks each pair: `npm run typecheck` fails where a function of the twin could not be called as the original is. */
interface Pairs {
  "src/backends/wasm/package.ts": [typeof backendsWasmPackage, typeof browserOnnxruntimeWeb];
  "src/api/create-runtime.ts": [typeof apiCreateRuntime, typeof apiBrowserCreateRuntime];
  "src/engine/codegen/wasm/v8-flags.ts": [typeof engineCodegenWasmV8Flags, typeof browserV8Flags];
  "src/engine/threads/spawn-thread.ts": [typeof engineThreadsSpawnThread, typeof browserSpawnThread];
  "src/platform/node/files.ts": [typeof nodeFiles, typeof browserFiles];
  "src/models/aimod/read-package.ts": [typeof modelsAimodReadPackage, typeof browserReadPackage];
  "src/models/reference/resolve-reference.ts": [typeof modelsReferenceResolveReference, typeof browserReference];
  "src/backends/native/check-record.ts": [typeof backendsNativeCheckRecord, typeof browserCheckRecord];
  "src/backends/native/kept/restore-model.ts": [typeof backendsNativeRestoreModel, typeof browserRestoreModel];
  "src/backends/native/machine-code/machine-code.ts": [typeof nodeMachineCode, typeof browserMachineCode];
  "src/engine/codegen/x64/index.ts": [typeof x64, typeof browserKernelMachineCode];
  "src/backends/native/page-discard.ts": [typeof nodePageDiscard, typeof browserPageDiscard];
  "src/platform/node/paths.ts": [typeof nodePaths, typeof browserPaths];
  "src/processors/images/sharp.ts": [typeof imagesSharp, typeof browserPagePictures];
}

/** For each pair true, where the twin can stand in the original's place. */
const fits: { readonly [Original in keyof Pairs]: Pairs[Original][1] extends Pairs[Original][0] ? true : false } = {
  "src/backends/wasm/package.ts": true,
  "src/api/create-runtime.ts": true,
  "src/engine/codegen/wasm/v8-flags.ts": true,
  "src/engine/threads/spawn-thread.ts": true,
  "src/platform/node/files.ts": true,
  "src/models/aimod/read-package.ts": true,
  "src/models/reference/resolve-reference.ts": true,
  "src/backends/native/check-record.ts": true,
  "src/backends/native/kept/restore-model.ts": true,
  "src/backends/native/machine-code/machine-code.ts": true,
  "src/engine/codegen/x64/index.ts": true,
  "src/backends/native/page-discard.ts": true,
  "src/platform/node/paths.ts": true,
  "src/processors/images/sharp.ts": true,
};

describe("modules that a browser has in the place of Node.js's", () => {
  it("are the pairs whose types are compared here", () => {
    expect(Object.keys(fits).toSorted()).toEqual(Object.keys(pageReplacements).toSorted());
  });

  it.each(Object.entries(pageReplacements))("%s has all its names in %s", async (original, twin) => {
    const [names, twins] = await Promise.all(
      [original, twin].map(async (file) => Object.keys((await import(new URL(file, root).href)) as object)),
    );
    expect(twins).toEqual(expect.arrayContaining(names!));
  });
});

it("the entry for browsers has the public names of the one for Node.js but the store, and refuses to work there", async () => {
  const [{ createStore: _store, ...node }, page] = await Promise.all([
    import("../../index.ts"),
    import("../../api/browser/index.ts"),
  ]);
  expect(Object.keys(page).toSorted()).toEqual(Object.keys(node).toSorted());
  await expect(page.createRuntime()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
