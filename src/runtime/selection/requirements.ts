/** Checks the requirements of a model against a target: memory, device memory, CUDA version and precision. */
import type { Capabilities, SupportedModels } from "../../contract/backend.ts";
import { findSupport } from "../../contract/shapes/supported-models.ts";
import type { Requirements, Variant } from "../../models/manifest.ts";
import { estimateMemory, findShortage, machineMemory, memoryDeviceType } from "./memory-budget.ts";
import { selectHost } from "./host-selection.ts";
import type { SelectionFacts } from "./selection-facts.ts";
import type { Target } from "../targets/target.ts";
import { weightBytes } from "./variant-selection.ts";
import { compareVersions } from "../../devices/versions.ts";

/** What a requirement is checked against. */
interface RequirementContext {
  readonly requirements: Requirements;
  readonly target: Target;
  readonly variant: Variant;
  readonly capabilities: Capabilities;
  readonly kind: SupportedModels["kind"] | undefined;
  readonly facts: SelectionFacts;
  /** Facts about the target's device; undefined if there are none. */
  readonly device: SelectionFacts["deviceFacts"][number] | undefined;
}

/**
 * The requirements that the target does not meet, as sentences without a full stop for the decision, joined by "; ". Undefined
 * if all are met.
 */
export function requirementProblem(
  requirements: Requirements,
  target: Target,
  variant: Variant,
  capabilities: Capabilities,
  kind: SupportedModels["kind"] | undefined,
  facts: SelectionFacts,
): string | undefined {
  const type = memoryDeviceType(target.device.type);
  const device = facts.deviceFacts.find(({ device }) => device.type === type && device.index === target.device.index);
  const context = { requirements, target, variant, capabilities, kind, facts, device };
  const problems = [memoryProblem, deviceMemoryProblem, cudaProblem, precisionProblem].flatMap((check) => check(context) ?? []);
  return problems.length === 0 ? undefined : problems.join("; ");
}

function memoryProblem({ requirements, target, variant, capabilities, kind, facts }: RequirementContext): string | undefined {
  const needed = requirements.memoryBytes ?? weightBytes(variant);
  if (needed > facts.availableMemory) {
    return `needs ${inMegabytes(needed)} of memory, and ${inMegabytes(facts.availableMemory)} is available`;
  }
  if (facts.budget === undefined) return undefined;
  const { limits, host } = facts.budget;
  const hostName = selectHost(host, findSupport(capabilities, variant, kind), true);
  const need = estimateMemory(target, variant, requirements, capabilities, hostName);
  const shortage = findShortage(limits, [], need);
  if (shortage === undefined) return undefined;
  const limit = shortage.pool === machineMemory ? "maxMemory" : `the budget of ${shortage.pool}`;
  return `needs about ${inMegabytes(shortage.need)}, and ${limit} is ${inMegabytes(shortage.limit)}`;
}

function deviceMemoryProblem({ requirements, target, device }: RequirementContext): string | undefined {
  const { deviceMemoryBytes } = requirements;
  if (deviceMemoryBytes === undefined || target.device.type === "cpu") return undefined;
  if (device?.memoryBytes === undefined)
    return `needs ${inMegabytes(deviceMemoryBytes)} on the device, whose memory is not known`;
  if (deviceMemoryBytes <= device.memoryBytes) return undefined;
  return `needs ${inMegabytes(deviceMemoryBytes)} on the device, which has ${inMegabytes(device.memoryBytes)}`;
}

function cudaProblem({ requirements, target, device }: RequirementContext): string | undefined {
  const { cudaVersion } = requirements;
  if (cudaVersion === undefined || memoryDeviceType(target.device.type) !== "cuda") return undefined;
  if (device?.cudaVersion === undefined) return `needs CUDA ${cudaVersion}, and the driver's CUDA version is not known`;
  if (compareVersions(device.cudaVersion, cudaVersion) >= 0) return undefined;
  return `needs CUDA ${cudaVersion}, and the driver has ${device.cudaVersion}`;
}

function precisionProblem({ requirements, target, capabilities }: RequirementContext): string | undefined {
  const { precision } = requirements;
  if (precision === undefined || capabilities.precisions.includes(precision)) return undefined;
  return `needs ${precision}, which ${target.backend} does not compute on ${target.device.type}`;
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
