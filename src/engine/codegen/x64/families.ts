/** The families of kernels that have machine code: one table, by the name of the family. */
import { required } from "../../../contract/checked.ts";
import type { MachineFamilyName } from "../../../kernels/machine-families.ts";
import type { X64Level } from "../../../kernels/simd-levels.ts";
import type { Kernel } from "../wasm/kernel.ts";
import { machineBlockMatmul } from "./blocks/block-matmul.ts";
import { conv2dScratchBytes, machineConv2d } from "./convolution/conv2d.ts";
import { machineWindow, windowFunctionScratchBytes } from "./convolution/sliding-window.ts";
import { machineElementwise } from "./elementwise/elementwise.ts";
import type { MachineCode } from "./machine-code.ts";
import type { MachineArgument, MachineFunction, MachineKernel } from "./machine-kernel.ts";
import { machineColumnGather } from "./gather-columns.ts";
import { machineBatchedMatmul } from "./products/batched-matmul.ts";
import { machineByteMatmul } from "./products/byte-matmul.ts";
import { machineMatmul } from "./products/matmul.ts";
import { machineQuantizeActivationBytes, machineQuantizeActivations } from "./quantized/quantize-activations.ts";
import { machineQuantizationRange } from "./quantized/quantization-range.ts";
import { machineQuantizeRows } from "./quantized/quantize-rows.ts";
import { machineNorm } from "./reductions/norm.ts";
import { machineSoftmax } from "./reductions/softmax.ts";

/** How kernels of one family become machine code. */
interface MachineFamily {
  /** Generates the function for a request (`Kernel.machine`), which has the type that the family takes. Undefined: WebAssembly computes the request. */
  generate(request: object, level: X64Level): MachineFunction | undefined;
  /** Bytes of scratch memory of the function, at the level that needs most; 0 if there is none. Default: no more than the WebAssembly function needs. */
  scratchBytes?(request: object): number;
}

const families: Readonly<Record<MachineFamilyName, MachineFamily>> = {
  matmul: { generate: machineMatmul },
  "batched-matmul": { generate: machineBatchedMatmul },
  "byte-matmul": { generate: machineByteMatmul },
  "block-matmul": { generate: machineBlockMatmul },
  "quantize-activations": { generate: machineQuantizeActivations },
  "quantize-activation-bytes": { generate: machineQuantizeActivationBytes },
  "quantize-rows": { generate: machineQuantizeRows },
  "quantization-range": { generate: machineQuantizationRange },
  conv2d: { generate: machineConv2d, scratchBytes: conv2dScratchBytes },
  gather: { generate: machineColumnGather },
  depthwise: { generate: machineWindow, scratchBytes: windowFunctionScratchBytes },
  pool2d: { generate: machineWindow, scratchBytes: windowFunctionScratchBytes },
  softmax: { generate: machineSoftmax },
  norm: { generate: machineNorm },
  elementwise: { generate: machineElementwise },
};

/** Generates the machine code of those distinct kernels that have some for the level of `machineCode`. Without `machineCode` there is none. */
export function generateMachineKernels(
  kernels: readonly Kernel[],
  machineCode: MachineCode | undefined,
): readonly MachineKernel[] {
  if (machineCode === undefined) return [];
  const distinct = new Map(kernels.map((kernel) => [kernel.key, kernel]));
  return [...distinct.values()].flatMap((kernel) => generateMachineKernel(kernel, machineCode.level) ?? []);
}

function generateMachineKernel(kernel: Kernel, highest: X64Level): MachineKernel | undefined {
  const { key, family, machine } = kernel;
  if (machine === undefined) return undefined;
  const { request, level = highest } = machine;
  const generated = getFamily(family).generate(request, level);
  return generated && { key, level, ...generated, arguments: generated.arguments ?? getDefaultArguments(kernel) };
}

function getDefaultArguments({ dynamicSizes, parameters }: Kernel): readonly MachineArgument[] {
  const sizes = dynamicSizes.map((_, operand): MachineArgument => ({ kind: "operand", operand }));
  const addresses = parameters.map((_, index): MachineArgument => ({
    kind: "address",
    operand: dynamicSizes.length + index,
    pieceBytes: 0,
  }));
  const range = [0, 1].map((end): MachineArgument => ({
    kind: "operand",
    operand: dynamicSizes.length + parameters.length + end,
  }));
  return [...sizes, ...addresses, ...range];
}

/** Bytes of scratch memory that machine code of a family needs for a request (`Kernel.machine`), at the level that needs most. */
export function machineScratchBytes(family: string, request: object): number {
  return getFamily(family).scratchBytes?.(request) ?? 0;
}

function getFamily(name: string): MachineFamily {
  return required((families as Readonly<Record<string, MachineFamily>>)[name], `the machine code of "${name}"`);
}
