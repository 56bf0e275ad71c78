/** Kernels as x86-64 machine code. A page gets another module in the place of this one, without any, so that nothing that a page has may import the others of this folder. */
export { hasMachineBlockMatmul } from "./blocks/block-matmul.ts";
export { usesChannelPanels } from "./convolution/conv2d.ts";
export { hasColumnGather } from "./gather-columns.ts";
export { generateMachineKernels, machineScratchBytes } from "./families.ts";
export {
  type BindMachineKernel,
  type MachineCode,
  type MachineCodeCache,
  type MachineObject,
  withInstalled,
  withMachineCode,
} from "./machine-code.ts";
export type { InstalledKernel, StackChange } from "./machine-kernel.ts";
export type { MachineArgument, MachineKernel } from "./machine-kernel.ts";
