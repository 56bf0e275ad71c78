/** The accelerators that PyTorch names: what of each this machine has, and what of Inferyard computes with it. */
import { readMachine } from "../../devices/index.ts";
import { InferyardError } from "../../errors.ts";
import type { DiscoveryOptions } from "../discovery/index.ts";
import { listLibraries } from "../inventory/index.ts";
import { type AcceleratorFacts, type AcceleratorInfo, describeAccelerator } from "./accelerator-info.ts";
import { askDriver } from "./cuda-driver/ask-driver.ts";
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

/** Every accelerator in PyTorch's order, with what this machine has of it. Throws what `listLibraries` throws. */
export async function listAccelerators(options: AcceleratorOptions = {}): Promise<readonly AcceleratorInfo[]> {
  const facts = await gatherFacts(options);
  return acceleratorDescriptions.map((description) => describeAccelerator(description, facts));
}

/**
 * What this machine has of one accelerator. Throws INPUT_INVALID for a name that PyTorch does not have; the error lists the names.
 */
export async function acceleratorInfo(name: string, options: AcceleratorOptions = {}): Promise<AcceleratorInfo> {
  return describeAccelerator(descriptionOf(name), await gatherFacts(options));
}

/** Names of the accelerators on which something ran, in PyTorch's order. Libraries alone make none available. */
export async function availableAccelerators(options: AcceleratorOptions = {}): Promise<readonly AcceleratorKind[]> {
  const all = await listAccelerators(options);
  return all.filter(({ state }) => state === "available").map(({ name }) => name);
}

/** Whether something ran on the accelerator. Throws INPUT_INVALID for a name that PyTorch does not have. */
export async function isAcceleratorAvailable(name: string, options: AcceleratorOptions = {}): Promise<boolean> {
  return (await acceleratorInfo(name, options)).state === "available";
}

function descriptionOf(name: string): AcceleratorDescription {
  const description = acceleratorDescriptions.find((each) => each.name === name);
  if (description !== undefined) return description;
  const names = acceleratorDescriptions.map((each) => each.name);
  throw new InferyardError("INPUT_INVALID", `there is no accelerator "${name}"`, {
    remedy: `name one of ${names.join(", ")}`,
    data: { name, names },
  });
}

async function gatherFacts(options: AcceleratorOptions): Promise<AcceleratorFacts> {
  const { machine, libraries, backends = [], driver, signal } = options;
  const [facts, found] = await Promise.all([
    machine ?? readMachine(signal === undefined ? {} : { signal }),
    libraries ?? listLibraries(options).then((inventory) => inventory.libraries),
  ]);
  const hasCuda = facts.accelerators.some(({ device }) => device.type === "cuda");
  return { machine: facts, libraries: found, backends, driver: driver ?? (hasCuda ? await askDriver(signal) : { devices: [] }) };
}
