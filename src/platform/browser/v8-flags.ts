/** Stands for src/engine/codegen/wasm/v8-flags.ts: a page cannot switch on what its browser has not, and compiles as its browser does. */
export function enableRelaxedSimd(): void {}

/** Calls `compile` and returns its result. A page cannot choose the compiler tier of its browser. */
export function withOptimizingCompiler<Result>(compile: () => Result): Result {
  return compile();
}
