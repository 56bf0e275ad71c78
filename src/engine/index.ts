/** The engine: ONNX models read, traced and computed with nothing but TypeScript. ARCHITECTURE.md has the picture. */
export type { OnnxModel, OnnxType, OnnxValueInfo } from "./import/onnx-model.ts";
export { readOnnxModel } from "./import/read-model.ts";
export { bytesInMemory, type ModelBytes } from "./import/model-bytes.ts";
export type { ExternalData } from "./import/read-tensor.ts";
export { detectWasmFeatures } from "./emit/wasm/index.ts";
export { checkOperators } from "./trace/check-operators.ts";
export { programText } from "./program-text.ts";
export { EngineModel } from "./run/engine-model.ts";
export type { RunLimits } from "./run/stages/stage-run.ts";
export type { EngineCopies, EngineShare } from "./run/engine-share.ts";
export { buildTransformer } from "./transformers/index.ts";
export { Budget, defaultLimits, type TraceLimits } from "./budget.ts";
export { Builder } from "./trace/builder.ts";
export type { GraphSource } from "./trace/graph-source.ts";
export { onnxSource, traceModel } from "./trace/trace-model.ts";
export { isOptional, isSequence, isTensor, type Traced } from "./trace/traced.ts";
