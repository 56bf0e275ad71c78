/** Node.js 20 has relaxed SIMD behind a flag. A browser has it or not: see src/browser/relaxed-simd.ts. */
export { switchOnRelaxedSimd } from "./emit/wasm/node-flags.ts";
