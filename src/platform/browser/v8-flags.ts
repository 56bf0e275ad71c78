/** Stands for src/engine/codegen/wasm/v8-flags.ts: a page cannot switch on what its browser has not, and compiles as its browser does. */
export function enableRelaxedSimd(): void {}

export function withOptimizingCompiler<Result>(compile: () => Result): Result {
  return compile();
}
