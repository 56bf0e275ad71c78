/** Decides for each accelerator what of it this machine has, from facts that others have gathered. */
import type { Accelerator, Availability, DeviceState, MachineFacts } from "../../backend.ts";
import { type InstalledLibrary, isOfClass } from "../inventory/installed-library.ts";
import type { AcceleratorDescription } from "./accelerator-table.ts";

/** A device of an accelerator. `memory` is left out where the device does not state it. */
export type AcceleratorDevice = Pick<Accelerator, "name" | "source" | "memory" | "computeCapability" | "driverVersion">;

/** What this machine has of an accelerator. */
export interface AcceleratorInfo extends AcceleratorDescription {
  /**
   * "available": a program ran on it; "present": its device or all its libraries were found, and nothing has run on it; "absent": neither was
   * found.
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

/** What the decision follows from. */
export interface AcceleratorFacts {
  readonly machine: MachineFacts;
  readonly libraries: readonly InstalledLibrary[];
  /** With those of `runtime.backends({ run: true })`, an accelerator on which a computation ran is "available". */
  readonly backends: readonly ProbedBackend[];
}

/** What the facts say of an accelerator. */
export function describeAccelerator(description: AcceleratorDescription, facts: AcceleratorFacts): AcceleratorInfo {
  const { requiredLibraries } = description;
  const libraries = facts.libraries.filter(
    (library) => library.fits && requiredLibraries.some((name) => isOfClass(library, name)),
  );
  const devices = devicesOf(description, facts.machine);
  return { ...description, libraries, devices, ...stateOf(description, facts, libraries, devices) };
}

function stateOf(
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
  const isPresent = requiredLibraries.length > 0 && missing.length === 0;
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

function devicesOf({ name, deviceType }: AcceleratorDescription, machine: MachineFacts): readonly AcceleratorDevice[] {
  if (deviceType !== "cpu") return machine.accelerators.filter(({ device }) => device.type === deviceType);
  const { model } = machine.cpu;
  if (name === "xeon" && !isXeon(machine)) return [];
  const memory = { totalBytes: machine.memory.total.value, freeBytes: machine.memory.available.value };
  return [{ name: model.value, source: model.source, memory }];
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
