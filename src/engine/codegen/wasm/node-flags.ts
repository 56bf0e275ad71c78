/** The one leaf of the emitter that needs Node.js: V8's flags. A page has no use for them. */
import { setFlagsFromString } from "node:v8";

/** For `detectWasmFeatures`. Holds for every module that is compiled afterwards in this process, workers included. */
export function enableRelaxedSimd(): void {
  setFlagsFromString("--experimental-wasm-relaxed-simd");
}

/**
 * Runs a synchronous compilation with V8's optimising compiler, at once. Otherwise a kernel is compiled by the baseline compiler when it is first
 * called, and that call is five to ten times slower than the next ones. Costs about a millisecond for each kernel. Modules of others are left
 * alone.
 */
export function withOptimizingCompiler<Result>(compile: () => Result): Result {
  setFlagsFromString("--no-liftoff");
  setFlagsFromString("--no-wasm-lazy-compilation"); // compiled lazily, it would be with the flags of that later time
  try {
    return compile();
  } finally {
    setFlagsFromString("--wasm-lazy-compilation");
    setFlagsFromString("--liftoff");
  }
}
