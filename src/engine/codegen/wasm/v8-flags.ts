/** V8 flags that the engine sets in Node.js. In browsers src/platform/browser/v8-flags.ts takes this module's place. */
import { setFlagsFromString } from "node:v8";

/** Enables relaxed SIMD for all modules compiled later in this process, workers included. */
export function enableRelaxedSimd(): void {
  setFlagsFromString("--experimental-wasm-relaxed-simd");
}

/**
 * Runs a synchronous compilation with V8's optimizing compiler. By default V8 compiles a function with its baseline compiler at the first call, and
 * kernels then run five to ten times slower until they are optimized. Optimizing takes about a millisecond per kernel. Modules compiled outside of
 * `compile` are not affected.
 */
export function withOptimizingCompiler<Result>(compile: () => Result): Result {
  setFlagsFromString("--no-liftoff");
  setFlagsFromString("--no-wasm-lazy-compilation"); // a lazy compilation would run later, under other flags
  try {
    return compile();
  } finally {
    setFlagsFromString("--wasm-lazy-compilation");
    setFlagsFromString("--liftoff");
  }
}
