/** What the backend and its two builds of onnxruntime-web, for Node.js and for browsers, share. */
import type { Requirement } from "../../contract/availability.ts";

/** The package that the backend `wasm` needs, with its version range and the command that installs it. */
export const requirement: Requirement = {
  kind: "package",
  name: "onnxruntime-web",
  range: ">=1.24 <2",
  install: "npm install onnxruntime-web",
};

/** Options of the backend `wasm`. */
export interface WasmOptions {
  /**
   * URL of the folder with `ort-wasm-simd-threaded.mjs` and `.wasm`, ending in "/". Default: in Node.js the installed package,
   * in a browser the folder of the bundle.
   */
  readonly assets?: string;
}

/** Source of a session. */
export interface WasmGraphSource {
  /** Path of the file, or its bytes. */
  readonly graph: string | Uint8Array;
  /** Files with external data: the path by which the graph names each, and its bytes or its location on disk. */
  readonly externalData?: readonly { readonly path: string; readonly data: Uint8Array | string }[];
}
