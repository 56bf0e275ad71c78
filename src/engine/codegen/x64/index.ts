/** Kernels as x86-64 machine code. */
export { hasMachineBlockMatmul, machineBlockMatmul } from "./block-matmul.ts";
export {
  type BindMachineKernel,
  type MachineCode,
  type MachineCodeCache,
  type MachineObject,
  generateMachineKernels,
  withInstalled,
  withMachineCode,
} from "./machine-code.ts";
export type { InstalledKernel, StackChange } from "./machine-kernel.ts";
export type { MachineArgument, MachineKernel } from "./machine-kernel.ts";
export { machineMatmul } from "./products/matmul.ts";
export { machineByteMatmul } from "./products/byte-matmul.ts";
export { machineBatchedMatmul } from "./products/batched-matmul.ts";
export { machineQuantizeRows } from "./quantized/quantize-rows.ts";
export { machineQuantizationRange } from "./quantized/quantization-range.ts";
