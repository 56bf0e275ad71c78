/** Checks the requirements of a model against a target: memory, device memory, CUDA version and precision. */
import type { Capabilities } from "../../backend.ts";
import type { Requirements, Variant } from "../../models/manifest.ts";
import { estimateMemory, machineMemory, findShortage } from "../residency/memory-budget.ts";
import { selectHost } from "../loading/host-selection.ts";
import type { SelectionFacts } from "./selection-facts.ts";
import type { Target } from "./target.ts";
import { compareVersions } from "../../devices/versions.ts";

/**
 * The first requirement that the target does not meet, as a sentence without a full stop for the decision. Undefined if all are
 * met.
 */
export function requirementProblem(
  requirements: Requirements,
  target: Target,
  variant: Variant,
  capabilities: Capabilities,
  facts: SelectionFacts,
): string | undefined {
  const device = facts.deviceFacts.find(({ device }) => device.type === deviceOf(target) && device.index === target.device.index);
  const { memoryBytes, deviceMemoryBytes, cudaVersion, precision } = requirements;
  const needed = memoryBytes ?? variant.bytes;
  if (needed > facts.availableMemory) {
    return `needs ${inMegabytes(needed)} of memory, and ${inMegabytes(facts.availableMemory)} is available`;
  }
  if (facts.budget !== undefined) {
    const { limits, host } = facts.budget;
    const need = estimateMemory(target, variant, requirements, capabilities, selectHost(host, capabilities, variant, true));
    const shortage = findShortage(limits, [], need);
    if (shortage !== undefined) {
      const limit = shortage.pool === machineMemory ? "maxMemory" : `the budget of ${shortage.pool}`;
      return `needs about ${inMegabytes(shortage.need)}, and ${limit} is ${inMegabytes(shortage.limit)}`;
    }
  }
  if (deviceMemoryBytes !== undefined && target.device.type !== "cpu") {
    if (device?.memoryBytes === undefined)
      return `needs ${inMegabytes(deviceMemoryBytes)} on the device, whose memory is not known`;
    if (deviceMemoryBytes > device.memoryBytes) {
      return `needs ${inMegabytes(deviceMemoryBytes)} on the device, which has ${inMegabytes(device.memoryBytes)}`;
    }
  }
  if (cudaVersion !== undefined && deviceOf(target) === "cuda") {
    if (device?.cudaVersion === undefined) return `needs CUDA ${cudaVersion}, and the driver's CUDA version is not known`;
    if (compareVersions(device.cudaVersion, cudaVersion) < 0)
      return `needs CUDA ${cudaVersion}, and the driver has ${device.cudaVersion}`;
  }
  if (precision !== undefined && !capabilities.precisions.includes(precision)) {
    return `needs ${precision}, which ${target.backend} does not compute on ${target.device.type}`;
  }
  return undefined;
}

/** The device type whose facts apply: TensorRT runs on CUDA devices. */
function deviceOf(target: Target): string {
  return target.device.type === "tensorrt" ? "cuda" : target.device.type;
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
