/** Kernels as x86-64 machine code. */
export { hasMachineBlockMatmul, machineBlockMatmul } from "./block-matmul.ts";
export { type BindMachineKernel, type InstalledKernel, type MachineCode, withBound, withMachineCode } from "./machine-code.ts";
export { type MachineArgument, type MachineKernel, machineArguments } from "./machine-kernel.ts";
