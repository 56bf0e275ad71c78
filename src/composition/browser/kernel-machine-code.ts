/** A page generates no machine code: WebAssembly computes all its kernels. Stands in the place of the engine's `codegen/x64/`. */
import type * as x64 from "../../engine/codegen/x64/index.ts";

export const generateMachineKernels: typeof x64.generateMachineKernels = () => [];
export const withMachineCode: typeof x64.withMachineCode = (compiled) => compiled;
export const withInstalled: typeof x64.withInstalled = (compiled) => compiled;
export const hasMachineBlockMatmul: typeof x64.hasMachineBlockMatmul = () => false;
export const machineScratchBytes: typeof x64.machineScratchBytes = () => 0;
export const usesChannelPanels: typeof x64.usesChannelPanels = () => false;
export const hasColumnGather: typeof x64.hasColumnGather = () => false;
