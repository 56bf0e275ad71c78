/** The engine: ONNX models read, traced and computed with nothing but TypeScript. ARCHITECTURE.md has the picture. */
export type { OnnxModel } from "./import/onnx-model.ts";
export { readOnnxModel } from "./import/read-model.ts";
export { Builder, type BuilderLimits, defaultLimits } from "./trace/builder.ts";
export { traceModel } from "./trace/trace-model.ts";
export { isOptional, isSequence, isTensor, type Traced } from "./trace/traced.ts";
