/** A page generates no machine code: WebAssembly computes all its kernels. Stands in the place of the engine's modules of `codegen/x64/`. */
import { InferyardError } from "../../contract/errors.ts";
import type * as x64 from "../../engine/codegen/x64/index.ts";

/** In the place of what generates a kernel. Nothing calls it where no machine code is generated. */
function refuse(): never {
  throw new InferyardError("CONTRACT_VIOLATION", "machine code was to be generated in a page, which cannot call it");
}

export const generateMachineKernels: typeof x64.generateMachineKernels = () => [];
export const withMachineCode: typeof x64.withMachineCode = (compiled) => compiled;
export const withInstalled: typeof x64.withInstalled = (compiled) => compiled;
export const hasMachineBlockMatmul: typeof x64.hasMachineBlockMatmul = () => false;
export const machineBlockMatmul: () => never = refuse;
export const machineMatmul: () => never = refuse;
export const machineByteMatmul: () => never = refuse;
export const machineBatchedMatmul: () => never = refuse;
export const machineQuantizeRows: () => never = refuse;
export const machineQuantizationRange: () => never = refuse;
export const machineConvolution: () => never = refuse;
export const machineWindow: () => never = refuse;
export const machineSoftmax: () => never = refuse;
export const machineNorm: () => never = refuse;
export const machineElementwise: () => never = refuse;

/** No pooling and depthwise convolution has machine code. */
export function hasWindowFunction(): boolean {
  return false;
}

/** Scratch memory of a convolution in machine code, in bytes: none, since a page has no such convolution. */
export function convolutionScratchBytes(): number {
  return 0;
}

/** Scratch memory of a pooling or depthwise convolution in machine code, in bytes: none, for the same reason. */
export function windowScratchBytes(): number {
  return 0;
}
