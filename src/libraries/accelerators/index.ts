/** The accelerators that PyTorch names: what of each this machine has, and what of Inferyard computes with it. */
import { required } from "../../contract/checked.ts";
import { readMachine } from "../../devices/index.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { DiscoveryOptions } from "../discovery/index.ts";
import { listLibraries } from "../inventory/index.ts";
import { isOfClass } from "../inventory/installed-library.ts";
import { type AcceleratorFacts, type AcceleratorInfo, describeAccelerator } from "./accelerator-info.ts";
import { type DriverReport, askDriver } from "./cuda-driver/ask-driver.ts";
import { type AcceleratorDescription, type AcceleratorKind, acceleratorDescriptions } from "./accelerator-table.ts";

export type { AcceleratorDevice, AcceleratorFacts, AcceleratorInfo, ProbedBackend } from "./accelerator-info.ts";
export type { AcceleratorDescription, AcceleratorKind } from "./accelerator-table.ts";
export type { DriverReport } from "./cuda-driver/ask-driver.ts";
export type { CudaDevice, SharedMemory } from "./cuda-driver/cuda-device.ts";
export type { DeviceDataType } from "./data-types.ts";

/**
 * Options of the accelerator functions: facts that are known already, and how libraries are looked for otherwise. Without `backends` nothing but
 * the processor is "available", since nothing was run.
 */
export interface AcceleratorOptions extends DiscoveryOptions, Partial<AcceleratorFacts> {}

/** Every accelerator in PyTorch's order, with its availability and devices on this machine. Throws errors of `listLibraries`. */
export async function listAccelerators(options: AcceleratorOptions = {}): Promise<readonly AcceleratorInfo[]> {
  return describeAll(acceleratorDescriptions, options);
}

/** Availability and devices of one accelerator on this machine. Throws INPUT_INVALID for a name that PyTorch does not have; the error lists the names. */
export async function acceleratorInfo(name: string, options: AcceleratorOptions = {}): Promise<AcceleratorInfo> {
  const [info] = await describeAll([getDescription(name)], options);
  return required(info, "the description of an accelerator");
}

/** Names of the accelerators on which something ran, in PyTorch's order. Libraries alone make none available. */
export async function availableAccelerators(options: AcceleratorOptions = {}): Promise<readonly AcceleratorKind[]> {
  const all = await listAccelerators({ ...options, driver: notAsked });
  return all.filter(({ state }) => state === "available").map(({ name }) => name);
}

/** Whether something ran on the accelerator. Throws INPUT_INVALID for a name that PyTorch does not have. */
export async function isAcceleratorAvailable(name: string, options: AcceleratorOptions = {}): Promise<boolean> {
  return (await acceleratorInfo(name, { ...options, driver: notAsked })).state === "available";
}

/** Limits of GPUs say nothing on whether a program ran. */
const notAsked: DriverReport = { devices: [] };

function getDescription(name: string): AcceleratorDescription {
  const description = acceleratorDescriptions.find((each) => each.name === name.toLowerCase());
  if (description !== undefined) return description;
  const names = acceleratorDescriptions.map((each) => each.name);
  throw invalidInput(`there is no accelerator "${name}"`, `name one of ${names.join(", ")}`, { name, names });
}

/** Describes accelerators by the facts in `options`, and gathers missing facts. NVIDIA's driver is asked only where its GPUs are described. */
async function describeAll(
  descriptions: readonly AcceleratorDescription[],
  options: AcceleratorOptions,
): Promise<readonly AcceleratorInfo[]> {
  const { backends = [], signal } = options;
  const [machine, libraries] = await Promise.all([
    options.machine ?? readMachine(signal === undefined ? {} : { signal }),
    options.libraries ?? listLibraries(options).then((inventory) => inventory.libraries),
  ]);
  const hasGpu =
    descriptions.some(({ deviceType }) => deviceType === "cuda") &&
    (machine.accelerators.some(({ device }) => device.type === "cuda") ||
      libraries.some((library) => library.fits && isOfClass(library, "cuda-driver")));
  const driver = options.driver ?? (hasGpu ? await askDriver(signal) : notAsked);
  return descriptions.map((description) => describeAccelerator(description, { machine, libraries, backends, driver }));
}
