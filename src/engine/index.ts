/** The engine: ONNX models read, traced and computed with nothing but TypeScript. ARCHITECTURE.md has the picture. */
export type { OnnxModel, OnnxType, OnnxValueInfo } from "./onnx/onnx-model.ts";
export { readOnnxModel } from "./onnx/read-model.ts";
export { byteSourceOf, type ByteSource } from "../formats/byte-source.ts";
export type { ExternalData } from "./onnx/read-tensor.ts";
export { detectWasmFeatures } from "./codegen/wasm/index.ts";
export { checkOperators } from "./onnx/check-operators.ts";
export { optimizedGraphText } from "./passes/optimized-graph-text.ts";
export { EngineModel } from "./execute/engine-model.ts";
export type { Sequences } from "./execute/decode/sequences.ts";
export type { RunLimits } from "./execute/segments/model-run.ts";
export { KernelChecks } from "./execute/kernel-checks/kernel-checks.ts";
export type { EngineReplica, SharedEngineState } from "./execute/engine-replicas.ts";
export { buildTransformer } from "./transformers/index.ts";
export { TraceBudget, defaultTraceLimits, type TraceLimits } from "./build/trace-budget.ts";
export { Builder } from "./build/builder.ts";
export type { GraphSource } from "./build/graph-source.ts";
export { onnxSource, traceModel } from "./onnx/trace-model.ts";
export { isOptional, isSequence, isTensor, type TracedValue } from "./build/traced-value.ts";
