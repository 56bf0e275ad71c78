/** Facts about this machine (processor, memory and accelerators), each with the source it was read from. */
export { findCudaDriver } from "./accelerators/cuda.ts";
export {
  createMachineReader,
  fixedMachine,
  readAvailableMemory,
  readMachine,
  type MachineOptions,
  type MachineReader,
} from "./machine.ts";
export { nodeSources, type MachineSources, type CommandOutput, type SystemFigures } from "./sources.ts";
export { threadsFor } from "./threads.ts";
export { compareVersions, isInRange } from "./versions.ts";
