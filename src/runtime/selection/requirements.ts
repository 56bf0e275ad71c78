/** Checks the requirements of a model against a target: memory, device memory, CUDA version and precision. */
import type { Capabilities } from "../../contract/backend.ts";
import { findSupport } from "../../contract/shapes/supported-models.ts";
import type { Variant } from "../../models/manifest.ts";
import { estimateMemory, findShortage, formatMegabytes, machineMemory, memoryDeviceType } from "./memory-budget.ts";
import { selectHost } from "./host-selection.ts";
import type { CandidateContext, DeviceFacts } from "./selection-facts.ts";
import { weightBytes } from "./variant-selection.ts";
import { compareVersions } from "../../devices/versions.ts";

/** Why a requirement is not met, as a sentence without a full stop. Undefined if it is met, or if there is none. */
type RequirementCheck = (
  candidate: CandidateContext & { readonly variant: Variant; readonly capabilities: Capabilities },
) => string | undefined;

/** The requirements that a candidate does not meet, as sentences for the decision, joined by "; ". Undefined if all are met. */
export function requirementProblem(candidate: CandidateContext, variant: Variant): string | undefined {
  const { backend, target } = candidate;
  if (backend === undefined) return undefined;
  const checked = { ...candidate, variant, capabilities: backend.capabilities(target.device) };
  const problems = [memoryProblem, deviceMemoryProblem, cudaProblem, precisionProblem].flatMap((check) => check(checked) ?? []);
  return problems.length === 0 ? undefined : problems.join("; ");
}

/** Facts about the accelerator whose memory the target uses; undefined if there are none. */
function deviceFacts({ target: { device }, facts }: CandidateContext): DeviceFacts | undefined {
  const type = memoryDeviceType(device.type);
  return facts.deviceFacts.find((each) => each.device.type === type && each.device.index === device.index);
}

const memoryProblem: RequirementCheck = ({ manifest: { requirements }, target, variant, capabilities, facts, request }) => {
  const needed = requirements.memoryBytes ?? weightBytes(variant);
  if (needed > facts.availableMemory) {
    return `needs ${formatMegabytes(needed)} of memory, and ${formatMegabytes(facts.availableMemory)} is available`;
  }
  if (facts.budget === undefined) return undefined;
  const { limits, host } = facts.budget;
  const hostName = selectHost(host, findSupport(capabilities, variant, request.kind), true);
  const need = estimateMemory(target, variant, requirements, capabilities, hostName);
  const shortage = findShortage(limits, [], need);
  if (shortage === undefined) return undefined;
  const limit = shortage.pool === machineMemory ? "maxMemory" : `the budget of ${shortage.pool}`;
  return `needs about ${formatMegabytes(shortage.need)}, and ${limit} is ${formatMegabytes(shortage.limit)}`;
};

const deviceMemoryProblem: RequirementCheck = (candidate) => {
  const { target, manifest } = candidate;
  const { deviceMemoryBytes } = manifest.requirements;
  if (deviceMemoryBytes === undefined || target.device.type === "cpu") return undefined;
  const device = deviceFacts(candidate);
  if (device?.memoryBytes === undefined)
    return `needs ${formatMegabytes(deviceMemoryBytes)} on the device, whose memory is not known`;
  if (deviceMemoryBytes <= device.memoryBytes) return undefined;
  return `needs ${formatMegabytes(deviceMemoryBytes)} on the device, which has ${formatMegabytes(device.memoryBytes)}`;
};

const cudaProblem: RequirementCheck = (candidate) => {
  const { target, manifest } = candidate;
  const { cudaVersion } = manifest.requirements;
  if (cudaVersion === undefined || memoryDeviceType(target.device.type) !== "cuda") return undefined;
  const device = deviceFacts(candidate);
  if (device?.cudaVersion === undefined) return `needs CUDA ${cudaVersion}, and the driver's CUDA version is not known`;
  if (compareVersions(device.cudaVersion, cudaVersion) >= 0) return undefined;
  return `needs CUDA ${cudaVersion}, and the driver has ${device.cudaVersion}`;
};

const precisionProblem: RequirementCheck = ({ manifest, target, capabilities }) => {
  const { precision } = manifest.requirements;
  if (precision === undefined || capabilities.precisions.includes(precision)) return undefined;
  return `needs ${precision}, which ${target.backend} does not compute on ${target.device.type}`;
};
