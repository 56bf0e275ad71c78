/** Kernels as x86-64 machine code. */
export { machineBlockMatmul } from "./block-matmul.ts";
export { type BindMachineKernel, type InstalledKernel, type MachineCode, withBound, withMachineCode } from "./machine-code.ts";
export { type MachineArgument, type MachineKernel, type X64Level, machineArguments, x64Levels } from "./machine-kernel.ts";
