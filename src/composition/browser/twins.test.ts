/** Modules that package.json puts in the place of others for browsers: whoever imports one of Node.js gets the same exports with the same types. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type * as apiBrowserCreateRuntime from "../../api/browser/create-runtime.ts";
import type * as apiCreateRuntime from "../../api/create-runtime.ts";
import type * as backendsWasmPackage from "../../backends/wasm/package.ts";
import type * as engineCodegenWasmV8Flags from "../../engine/codegen/wasm/v8-flags.ts";
import type * as engineThreadsSpawnThread from "../../engine/threads/spawn-thread.ts";
import type * as modelsAimodReadPackage from "../../models/aimod/read-package.ts";
import type * as modelsReferenceResolveReference from "../../models/reference/resolve-reference.ts";
import type * as browserFiles from "../../platform/browser/files.ts";
import type * as browserMachineCode from "./machine-code.ts";
import type * as browserGgmlKernels from "./ggml-kernels.ts";
import type * as browserOnnxruntimeWeb from "./onnxruntime-web.ts";
import type * as browserPaths from "../../platform/browser/paths.ts";
import type * as browserReadPackage from "./read-package.ts";
import type * as browserReference from "./reference.ts";
import type * as browserSpawnThread from "../../platform/browser/spawn-thread.ts";
import type * as browserV8Flags from "../../platform/browser/v8-flags.ts";
import type * as nodeFiles from "../../platform/node/files.ts";
import type * as nodeMachineCode from "../../backends/native/machine-code.ts";
import type * as nodeGgmlKernels from "../../backends/native/ggml-kernels.ts";
import type * as nodePaths from "../../platform/node/paths.ts";

const root = new URL("../../../", import.meta.url);
const { browser } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { browser: Record<string, string> };

/** The source of a built file. */
const sourceOf = (built: string): string => new URL(built.replace("./dist/", "src/").replace(/\.js$/, ".ts"), root).href;

/** The compiler checks each pair: `npm run typecheck` fails where a function of the twin could not be called as the original is. */
interface Pairs {
  "./dist/backends/wasm/package.js": [typeof backendsWasmPackage, typeof browserOnnxruntimeWeb];
  "./dist/api/create-runtime.js": [typeof apiCreateRuntime, typeof apiBrowserCreateRuntime];
  "./dist/engine/codegen/wasm/v8-flags.js": [typeof engineCodegenWasmV8Flags, typeof browserV8Flags];
  "./dist/engine/threads/spawn-thread.js": [typeof engineThreadsSpawnThread, typeof browserSpawnThread];
  "./dist/platform/node/files.js": [typeof nodeFiles, typeof browserFiles];
  "./dist/models/aimod/read-package.js": [typeof modelsAimodReadPackage, typeof browserReadPackage];
  "./dist/models/reference/resolve-reference.js": [typeof modelsReferenceResolveReference, typeof browserReference];
  "./dist/backends/native/machine-code.js": [typeof nodeMachineCode, typeof browserMachineCode];
  "./dist/backends/native/ggml-kernels.js": [typeof nodeGgmlKernels, typeof browserGgmlKernels];
  "./dist/platform/node/paths.js": [typeof nodePaths, typeof browserPaths];
}

/** For each pair true, where the twin can stand in the original's place. */
const fits: { readonly [Built in keyof Pairs]: Pairs[Built][1] extends Pairs[Built][0] ? true : false } = {
  "./dist/backends/wasm/package.js": true,
  "./dist/api/create-runtime.js": true,
  "./dist/engine/codegen/wasm/v8-flags.js": true,
  "./dist/engine/threads/spawn-thread.js": true,
  "./dist/platform/node/files.js": true,
  "./dist/models/aimod/read-package.js": true,
  "./dist/models/reference/resolve-reference.js": true,
  "./dist/backends/native/machine-code.js": true,
  "./dist/backends/native/ggml-kernels.js": true,
  "./dist/platform/node/paths.js": true,
};

describe("modules that a browser has in the place of Node.js's", () => {
  it("are the pairs whose types are compared here", () => {
    expect(Object.keys(fits).toSorted()).toEqual(Object.keys(browser).toSorted());
  });

  it.each(Object.entries(browser))("%s has all its names in %s", async (original, twin) => {
    const [names, twins] = await Promise.all(
      [original, twin].map(async (file) => Object.keys((await import(sourceOf(file))) as object)),
    );
    expect(twins).toEqual(expect.arrayContaining(names!));
  });
});

it("the entry for browsers has the public names of the one for Node.js, and refuses to work there", async () => {
  const [node, page] = await Promise.all([import("../../index.ts"), import("../../api/browser/index.ts")]);
  expect(Object.keys(page).toSorted()).toEqual(Object.keys(node).toSorted());
  await expect(page.createRuntime()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
