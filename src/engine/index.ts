/** The engine: ONNX models read, traced and computed with nothing but TypeScript. ARCHITECTURE.md has the picture. */
export type { OnnxModel, OnnxType, OnnxValueInfo } from "./onnx/onnx-model.ts";
export { readOnnxModel } from "./onnx/read-model.ts";
export { bytesInMemory, type ModelBytes } from "../formats/byte-source.ts";
export type { ExternalData } from "./onnx/read-tensor.ts";
export { detectWasmFeatures } from "./codegen/wasm/index.ts";
export { checkOperators } from "./onnx/check-operators.ts";
export { programText } from "./passes/optimized-graph-text.ts";
export { EngineModel } from "./execute/engine-model.ts";
export type { RunLimits } from "./execute/segments/model-run.ts";
export type { EngineCopies, EngineShare } from "./execute/engine-replicas.ts";
export { buildTransformer } from "./transformers/index.ts";
export { Budget, defaultLimits, type TraceLimits } from "./build/trace-budget.ts";
export { Builder } from "./build/builder.ts";
export type { GraphSource } from "./build/graph-source.ts";
export { onnxSource, traceModel } from "./onnx/trace-model.ts";
export { isOptional, isSequence, isTensor, type Traced } from "./build/traced-value.ts";
