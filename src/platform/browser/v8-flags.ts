/** Does nothing: a page cannot set flags of its browser's JavaScript engine. Replaces src/engine/codegen/wasm/v8-flags.ts. */
export function enableRelaxedSimd(): void {}

/** Calls `compile` and returns its result. A page cannot choose the compiler tier of its browser. */
export function withOptimizingCompiler<Result>(compile: () => Result): Result {
  return compile();
}

/** Calls `work` and returns its result, as `withoutOptimizer` does. */
export function withOptimizer<Result>(work: () => Result): Result {
  return work();
}

/** Calls `work` and returns its result. A page cannot control the optimizer of its browser. */
export function withoutOptimizer<Result>(work: () => Result): Result {
  return work();
}
