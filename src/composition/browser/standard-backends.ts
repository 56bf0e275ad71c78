/** The default backends of a runtime in a browser. */
import type { Backend } from "../../contract/backend.ts";
import { native } from "../../backends/native/index.ts";
import { wasm } from "../../backends/wasm/index.ts";
import { InferyardError } from "../../contract/errors.ts";
import { assetsFolder } from "../../platform/browser/assets.ts";
import { bundledEntry } from "./bundled-entry.ts";

/** Creates them. `assets`: URL of the folder with onnxruntime-web's .mjs and .wasm. Default: the folder of the bundle. */
export function standardBackends(assets: string = assetsFolder()): Backend[] {
  const options = { assets };
  return [
    noNativeEngine("onnx"),
    { ...native(), entry: { module: bundledEntry, export: "native" } },
    { ...wasm(options), entry: { module: bundledEntry, export: "wasm", options } },
  ];
}

/** A backend that is never available, so that decisions explain why the engine is missing in a browser. */
function noNativeEngine(name: string): Backend {
  const reason = "a browser runs no native engines";
  return {
    name,
    contractVersion: 1,
    probe: async () => ({ present: false, reason, remedy: "use wasm, or run inferyard in Node.js" }),
    capabilities: () => ({ models: [], precisions: [], options: [] }),
    load: async () => {
      throw new InferyardError("BACKEND_UNAVAILABLE", reason);
    },
  };
}
