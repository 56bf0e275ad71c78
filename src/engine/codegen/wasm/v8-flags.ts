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
    // `--no-liftoff` switches it off too. Without it V8 would optimize other modules of the process as a whole: onnxruntime-web's takes seconds.
    setFlagsFromString("--wasm-dynamic-tiering");
  }
}

/** Whether the program was started without V8's optimizing compiler for JavaScript, which then stays off. */
const isOptimizerOff = process.execArgv.some((argument) => /^--(no-?|max-)(opt|lazy)$/.test(argument));

/**
 * Runs synchronous work of at most some hundred milliseconds, such as planning a graph, without V8's optimizing compiler for JavaScript, which would compile
 * functions that are hot only during this work, too late to pay off. Optimized code stays optimized, and a function that stays hot is optimized after the work.
 * The flag belongs to the process: other threads wait as well.
 */
export function withoutOptimizer<Result>(work: () => Result): Result {
  if (isOptimizerOff || isSuspended) return work();
  return withFlag(true, work);
}

/** Runs a part of what `withoutOptimizer` runs with the optimizer: loops over many elements. */
export function withOptimizer<Result>(work: () => Result): Result {
  return isSuspended ? withFlag(false, work) : work();
}

/** Whether this thread runs work of `withoutOptimizer`, which is synchronous. */
let isSuspended = false;

function withFlag<Result>(suspends: boolean, work: () => Result): Result {
  const set = (suspended: boolean): void => {
    isSuspended = suspended;
    setFlagsFromString(suspended ? "--no-opt" : "--opt");
  };
  set(suspends);
  try {
    return work();
  } finally {
    set(!suspends);
  }
}
