/** What the engine asks of V8 in Node.js. A page has no say in it: see src/platform/browser/v8-flags.ts. */
export { enableRelaxedSimd, withOptimizingCompiler } from "./node-flags.ts";
