/** What the build makes for pages: its entries, and the modules that take the place of modules of Node.js. */

/** The modules of a page: name in `dist/browser/`, and source. */
export const pageEntries: Readonly<Record<string, string>> = {
  inferyard: "src/api/browser/index.ts",
  "inferyard-worker": "src/composition/browser/inferyard-worker.ts",
};

/** Modules that a page gets another one for. */
export const pageReplacements: Readonly<Record<string, string>> = {
  "src/backends/wasm/package.ts": "src/composition/browser/onnxruntime-web.ts",
  "src/api/create-runtime.ts": "src/api/browser/create-runtime.ts",
  "src/engine/codegen/wasm/v8-flags.ts": "src/platform/browser/v8-flags.ts",
  "src/engine/threads/spawn-thread.ts": "src/platform/browser/spawn-thread.ts",
  "src/platform/node/files.ts": "src/platform/browser/files.ts",
  "src/models/aimod/read-package.ts": "src/composition/browser/read-package.ts",
  "src/models/reference/resolve-reference.ts": "src/composition/browser/reference.ts",
  "src/backends/native/check-record.ts": "src/composition/browser/check-record.ts",
  "src/backends/native/kept/restore-model.ts": "src/composition/browser/restore-model.ts",
  "src/backends/native/machine-code/machine-code.ts": "src/composition/browser/machine-code.ts",
  "src/engine/codegen/x64/index.ts": "src/composition/browser/kernel-machine-code.ts",
  "src/backends/native/page-discard.ts": "src/composition/browser/page-discard.ts",
  "src/platform/node/paths.ts": "src/platform/browser/paths.ts",
  "src/processors/images/sharp.ts": "src/composition/browser/page-pictures.ts",
};
