/**
 * The package entry `inferyard/libraries`: native libraries of this machine, found, analyzed and validated, and what of PyTorch's accelerators is there.
 */
export { type AnalyzeOptions, analyzeLibrary } from "./analysis/analyze-library.ts";
export type * from "./analysis/library-analysis.ts";
export {
  type AcceleratorDescription,
  type AcceleratorDevice,
  type AcceleratorFacts,
  type AcceleratorInfo,
  type AcceleratorKind,
  type AcceleratorOptions,
  type CudaDevice,
  type DeviceDataType,
  type DriverReport,
  type ProbedBackend,
  type SharedMemory,
  acceleratorInfo,
  availableAccelerators,
  isAcceleratorAvailable,
  listAccelerators,
} from "./accelerators/index.ts";
export type { ContractName } from "./contracts/index.ts";
export type * from "./validation/library-validation.ts";
export { validateLibrary } from "./validation/validate-library.ts";
export type { DiscoveryOptions, LibraryPackage, LocationOutcome, SearchedLocation } from "./discovery/index.ts";
export * from "./inventory/index.ts";
