/** Programs in a page, published as `inferyard/browser/program`: `inferyard/program` with the backend `native` alone, in WebAssembly. */
export { defineProgram, type ProgramBuilder, type ProgramOperators } from "../../programs/definition/define-program.ts";
export { programFromOnnx } from "../../programs/definition/program-from-onnx.ts";
export { defineOperator, type UserOperator } from "../../programs/definition/user-operator.ts";
export type { Dimensions, ProgramOperand, ProgramValue, StateOptions } from "../../programs/definition/program-value.ts";
export type { Program, ProgramState, ProgramWeight } from "../../programs/definition/program.ts";
export type { OrtTensor, TensorArgument } from "../../programs/definition/tensor-arguments.ts";
export { compileProgram, type CompileOptions } from "../../programs/compilation/compile-program.ts";
export type { ProgramKernel, ProgramRunOptions } from "../../programs/compilation/program-kernel.ts";
export type { ProgramDecision, SelectedBackend } from "../../programs/compilation/program-decision.ts";
export { type BackendInfo, ProgramBackends } from "../../programs/backends/program-backends.ts";
export { standardProgramBackends } from "../../programs/backends/standard-program-backends.ts";
export { nativePrograms } from "../../programs/backends/native-programs.ts";
