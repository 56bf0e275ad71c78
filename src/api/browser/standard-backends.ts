/** The backends a browser's runtime has when it is given none. */
import type { Backend } from "../../backend.ts";
import { native } from "../../backends/native/index.ts";
import { wasm } from "../../backends/wasm/index.ts";
import { InferyardError } from "../../errors.ts";
import { assetsFolder } from "../../platform/browser/assets.ts";
import { bundledEntry } from "../../platform/browser/bundled-entry.ts";

/** `assets`: where onnxruntime-web's .mjs and .wasm lie. Default: the folder the bundle was loaded from. */
export function standardBackends(assets: string = assetsFolder()): Backend[] {
  const options = { assets };
  return [
    noNativeEngine("onnx"),
    { ...native(), entry: { module: bundledEntry, export: "native" } },
    { ...wasm(options), entry: { module: bundledEntry, export: "wasm", options } },
  ];
}

/** Stands in every decision for an engine that Node.js would have had, and says why it is not here. */
function noNativeEngine(name: string): Backend {
  const reason = "a browser runs no native engines";
  return {
    name,
    contractVersion: 1,
    probe: async () => ({ present: false, reason, remedy: "use wasm, or run inferyard in Node.js" }),
    capabilities: () => ({ formats: {}, precisions: [], options: [], blocking: false }),
    load: async () => {
      throw new InferyardError("BACKEND_UNAVAILABLE", reason);
    },
  };
}
