/** The one leaf of the emitter that needs Node.js: V8's flag for relaxed SIMD. A page has no use for it. */
import { setFlagsFromString } from "node:v8";

/** For `detectWasmFeatures`. Holds for every module that is compiled afterwards in this process, workers included. */
export function switchOnRelaxedSimd(): void {
  setFlagsFromString("--experimental-wasm-relaxed-simd");
}
