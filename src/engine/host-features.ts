/** What the engine asks of V8 in Node.js. A page has no say in it: see src/browser/host-features.ts. */
export { switchOnRelaxedSimd, withOptimizingCompiler } from "./emit/wasm/node-flags.ts";
