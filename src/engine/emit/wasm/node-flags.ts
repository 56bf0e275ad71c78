/** The one leaf of the emitter that needs Node.js: V8's flags. A page has no use for them. */
import { setFlagsFromString } from "node:v8";

/** For `detectWasmFeatures`. Holds for every module that is compiled afterwards in this process, workers included. */
export function switchOnRelaxedSimd(): void {
  setFlagsFromString("--experimental-wasm-relaxed-simd");
}

/**
 * Runs a synchronous compilation with V8's optimising compiler alone. Otherwise a kernel's first call is compiled by the baseline compiler,
 * and is five to ten times slower than the next ones. Costs about a millisecond for each kernel. Modules of others are left alone.
 */
export function withOptimizingCompiler<Result>(compile: () => Result): Result {
  setFlagsFromString("--no-liftoff");
  try {
    return compile();
  } finally {
    setFlagsFromString("--liftoff");
  }
}
