/** The backend `wasm`: onnxruntime-web's WebAssembly build, for machines where no native library may be loaded. */
export { wasm } from "./backend.ts";
export type { WasmOptions } from "./engine-options.ts";
