/** Decides for each accelerator what of it this machine has, from facts that others have gathered. */
import { omitUndefined } from "../../contract/checked.ts";
import type { Accelerator, Availability, DeviceState, MachineFacts } from "../../contract/backend.ts";
import { type InstalledLibrary, isOfClass } from "../inventory/installed-library.ts";
import type { AcceleratorDescription } from "./accelerator-table.ts";
import type { DriverReport } from "./cuda-driver/ask-driver.ts";
import type { SharedMemory } from "./cuda-driver/cuda-device.ts";
import { type DeviceDataType, cpuDataTypes, cudaDataTypes } from "./data-types.ts";

/** A device of an accelerator. Facts that the device does not report are left out. */
export interface AcceleratorDevice extends Pick<
  Accelerator,
  "name" | "source" | "memory" | "computeCapability" | "driverVersion"
> {
  /** Number types for which it has multiplication instructions, for example "float16". */
  readonly dataTypes?: readonly DeviceDataType[];
  /** NVIDIA: the number of its multiprocessors. */
  readonly multiprocessors?: number;
  /** NVIDIA: memory that the threads of a block share, in bytes. */
  readonly sharedMemory?: SharedMemory;
  /** NVIDIA: why the driver did not report `multiprocessors` and `sharedMemory`, as a sentence without a full stop. */
  readonly limitsProblem?: string;
}

/** Availability and devices of an accelerator on this machine. */
export interface AcceleratorInfo extends AcceleratorDescription {
  /**
   * "available": a program ran on the accelerator. "present": its device was found (or all its libraries, for an interface without a device), but no
   * program has run on it. "absent": neither was found.
   */
  readonly state: DeviceState;
  /** Why, as a sentence without a full stop. */
  readonly reason: string;
  /** Libraries that were found and fit this machine, of the classes in `requiredLibraries`. */
  readonly libraries: readonly InstalledLibrary[];
  readonly devices: readonly AcceleratorDevice[];
}

/** A backend and the result of its probe, as `runtime.backends()` reports them. */
export interface ProbedBackend {
  readonly backend: string;
  readonly availability: Availability;
}

/** Facts from which the availability follows. */
export interface AcceleratorFacts {
  readonly machine: MachineFacts;
  readonly libraries: readonly InstalledLibrary[];
  /** With reports of `runtime.backends({ run: true })`, an accelerator on which a computation ran is "available". */
  readonly backends: readonly ProbedBackend[];
  /** Facts that NVIDIA's driver reports about its GPUs. */
  readonly driver: DriverReport;
}

/** The availability of an accelerator, from the facts. */
export function describeAccelerator(description: AcceleratorDescription, facts: AcceleratorFacts): AcceleratorInfo {
  const { requiredLibraries } = description;
  const libraries = facts.libraries.filter(
    (library) => library.fits && requiredLibraries.some((name) => isOfClass(library, name)),
  );
  const devices = getDevices(description, facts);
  return { ...description, libraries, devices, ...getState(description, facts, libraries, devices) };
}

function getState(
  description: AcceleratorDescription,
  { machine, backends }: AcceleratorFacts,
  libraries: readonly InstalledLibrary[],
  [device]: readonly AcceleratorDevice[],
): Pick<AcceleratorInfo, "state" | "reason"> {
  const { requiredLibraries, deviceType } = description;
  const ran = description.targets.find((target) => hasRun(target, backends));
  if (ran !== undefined) return { state: "available", reason: `${ran} computed on it` };
  if (device !== undefined) {
    if (deviceType === "cpu") return { state: "available", reason: `this program runs on ${device.name}` };
    return { state: "present", reason: `${device.name} (${device.source})` };
  }
  const missing = requiredLibraries.filter((name) => !libraries.some((library) => isOfClass(library, name)));
  // Libraries alone do not prove that the device is present.
  const isPresent = deviceType === undefined && requiredLibraries.length > 0 && missing.length === 0;
  const reasons = [
    ...libraries.slice(0, 1).map(({ path }) => `found ${path}`),
    ...(missing.length === 0 ? [] : [`no library that fits this machine: ${missing.join(", ")}`]),
    ...absenceOfDevice(description, machine),
  ];
  return { state: isPresent ? "present" : "absent", reason: reasons.join("; ") };
}

function hasRun(target: string, backends: readonly ProbedBackend[]): boolean {
  return backends.some(
    ({ backend, availability }) =>
      availability.present &&
      availability.devices.some(({ device, state }) => state === "available" && `${backend}:${device.type}` === target),
  );
}

function getDevices(
  { name, deviceType }: AcceleratorDescription,
  { machine, driver }: AcceleratorFacts,
): readonly AcceleratorDevice[] {
  if (deviceType !== "cpu") {
    const devices = machine.accelerators.filter(({ device }) => device.type === deviceType);
    if (deviceType !== "cuda") return devices;
    return devices.length > 0 ? devices.map((device) => withLimits(device, driver)) : statedBy(driver);
  }
  const { model, features } = machine.cpu;
  if (name === "xeon" && !isXeon(machine)) return [];
  const memory = { totalBytes: machine.memory.total.value, freeBytes: machine.memory.available.value };
  return [{ name: model.value, source: model.source, memory, dataTypes: cpuDataTypes(features.value) }];
}

/**
 * Adds the limits that the driver reports. The GPU is matched by name, since nvidia-smi and CUDA may number GPUs differently; GPUs of the same name have the
 * same limits. The memory of a partition (MIG) is the driver's, since nvidia-smi does not report it.
 */
function withLimits(device: Accelerator, driver: DriverReport): AcceleratorDevice {
  const found = "devices" in driver ? driver.devices.find(({ name }) => name === device.name) : undefined;
  const computeCapability = found?.computeCapability ?? device.computeCapability;
  const dataTypes = computeCapability === undefined ? undefined : cudaDataTypes(computeCapability);
  const stated = { ...device, ...omitUndefined({ computeCapability, dataTypes }) };
  if (found === undefined) {
    const limitsProblem = "problem" in driver ? driver.problem : `the NVIDIA driver lists no ${device.name}`;
    return { ...stated, limitsProblem };
  }
  const { multiprocessors, sharedMemory, totalBytes } = found;
  return { memory: { totalBytes }, ...stated, multiprocessors, sharedMemory };
}

/** GPUs reported by the driver. Used if the machine facts, which come from other programs and files, list none. */
function statedBy(driver: DriverReport): readonly AcceleratorDevice[] {
  if (!("devices" in driver)) return [];
  return driver.devices.map(({ totalBytes, ...device }) => ({
    ...device,
    source: "NVIDIA's driver library",
    memory: { totalBytes },
    ...omitUndefined({ dataTypes: cudaDataTypes(device.computeCapability) }),
  }));
}

function isXeon({ cpu }: MachineFacts): boolean {
  return /\bxeon\b/i.test(cpu.model.value);
}

/** Why there is no device. A library for GPUs may lie on a machine without one. */
function absenceOfDevice(
  { deviceType, needsGpu, requiredLibraries }: AcceleratorDescription,
  { cpu, accelerators, absent }: MachineFacts,
): readonly string[] {
  if (deviceType === "cpu") return [`the processor is ${cpu.model.value}`];
  if (deviceType === undefined && requiredLibraries.length === 0) return ["it is neither a device nor a library"];
  const gpu = deviceType ?? (needsGpu ? "cuda" : undefined);
  if (gpu === undefined || accelerators.some(({ device }) => device.type === gpu)) return [];
  return [absent[gpu] ?? `no ${gpu} device was found`];
}
