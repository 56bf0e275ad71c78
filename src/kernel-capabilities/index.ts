/** The kernel registry on this machine. */
export {
  kernelCapabilities,
  type KernelCapabilities,
  type KernelCapabilitiesOptions,
  type KernelCapability,
} from "./kernel-capabilities.ts";
export type { ClosestFormat } from "../kernels/closest-format.ts";
export type { KernelSelfTest } from "../kernels/kernel-entry.ts";
export type { KernelLevel } from "../kernels/simd-levels.ts";
export type { KernelSpeed } from "../backends/native/kernel-facts.ts";
