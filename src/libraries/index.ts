/**
 * The package entry `inferyard/libraries`: native libraries of this machine, found, analyzed and validated, and what of PyTorch's accelerators is there.
 */
export {
  type AcceleratorName,
  type AnalyzeOptions,
  type BinaryFacts,
  type ComputeVerdict,
  type Confidence,
  type ContractCoverage,
  type Fit,
  type FoundBy,
  type IndirectNeed,
  type IndirectVersion,
  type LibraryAnalysis,
  type LibraryClass,
  type NeededLibrary,
  type OfferedKernel,
  type SymbolGroup,
  type SymbolGroupName,
  type VersionRequirement,
  type VersionSummary,
  analyzeLibrary,
} from "./analysis/index.ts";
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
export {
  type LibraryRefusal,
  type LibraryValidation,
  type ProvedStruct,
  type ValidateOptions,
  type ValidationStep,
  type ValidationStepName,
  validateLibrary,
} from "./validation/index.ts";
export type { DiscoveryOptions, LibraryPackage, LocationOutcome, SearchedLocation } from "./discovery/index.ts";
export {
  type BuildFlag,
  type BuildFlags,
  type InstalledLibrary,
  type LibraryInventory,
  buildFlags,
  listLibraries,
} from "./inventory/index.ts";
