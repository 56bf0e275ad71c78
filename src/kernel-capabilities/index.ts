/** The kernel registry on this machine. */
export {
  type FamilyCapability,
  kernelCapabilities,
  type KernelCapabilities,
  type KernelCapabilitiesOptions,
  type KernelCapability,
  type LoadedContext,
} from "./kernel-capabilities.ts";
export { isCapableOf, type IsCapableOfOptions, type KernelCapable } from "./is-capable-of.ts";
export type { KernelTest } from "./kernel-test.ts";
export type { CudaEngine, CudaReport, KernelMachineReport, SimdLevel } from "./machine-report.ts";
export type { ClosestFormat } from "../kernels/closest-format.ts";
export type { KernelSelfTest } from "../kernels/kernel-entry.ts";
export type { KernelLevel } from "../kernels/simd-levels.ts";
export type { FamilySpeed, ProcessorPeaks } from "../backends/native/kernel-speeds/family-speeds.ts";
export type { KernelSpeed } from "../backends/native/kernel-speeds/kernel-facts.ts";
