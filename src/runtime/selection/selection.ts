/**
 * Selection: facts, then order, then constraints. Pure: no input or output, no clock; `selection.test.ts` reads like its specification.
 *
 * Every target that could be meant becomes a candidate, in order of preference. A candidate that cannot run carries the first
 * reason, in the order of `checks`; the others are open, and loading tries them one after the other.
 */
import type { Capabilities, Device, DeviceAvailability, LoadSettings } from "../../backend.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import type { Stage } from "../decision/decision.ts";
import { measuredSpeed } from "./measured-speed.ts";
import { orderByPolicy } from "./candidate-order.ts";
import { requirementProblem } from "./requirements.ts";
import type { BackendFacts, SelectionFacts } from "./selection-facts.ts";
import { abbreviatedList } from "../../shown-names.ts";
import { type Target, type TargetPattern, formatPattern, formatTarget, matches, parseTarget, placementKey } from "./target.ts";
import type { Constraints } from "./constraints.ts";

/** What this load asks for beside the constraints. */
export interface LoadRequest {
  /** Name or alias of a variant. Default: the first one a backend can run. */
  readonly variant?: string;
  readonly settings: LoadSettings;
}

export type CheckedCandidate = EligibleCandidate | RefusedCandidate;

export interface EligibleCandidate {
  readonly verdict: "open";
  readonly target: Target;
  readonly variant: Variant;
  readonly reason: string;
  /** Under the policy "fastest": what is known of its speed, or why nothing is. */
  readonly note?: string;
}

export interface RefusedCandidate extends Refusal {
  readonly verdict: "refused";
  readonly target: string;
}

interface Refusal {
  readonly stage: Stage;
  readonly reason: string;
  readonly remedy?: string;
}

interface CandidateContext {
  readonly target: Target;
  /** Left out where the backend is not registered or not installed. */
  readonly device?: DeviceAvailability;
  readonly backend?: BackendFacts;
  readonly facts: SelectionFacts;
  readonly manifest: Manifest;
  readonly constraints: Constraints;
  readonly request: LoadRequest;
}

/** Every candidate, in order of preference. */
export function select(
  facts: SelectionFacts,
  manifest: Manifest,
  constraints: Constraints,
  request: LoadRequest,
): CheckedCandidate[] {
  const questions = expand(facts, manifest, constraints).map((expanded) => ({
    ...expanded,
    facts,
    manifest,
    constraints,
    request,
  }));
  return orderByPolicy(questions.map(checkCandidate), manifest, constraints).map(({ selection }) => selection);
}

interface RankedCandidate {
  readonly target: Target;
  readonly selection: CheckedCandidate;
  readonly latencyMs?: number;
}

function checkCandidate(question: CandidateContext): RankedCandidate {
  const { target, facts } = question;
  for (const check of checks) {
    const refusal = check(question);
    if (refusal !== undefined) return { target, selection: { verdict: "refused", target: formatTarget(target), ...refusal } };
  }
  const variant = runnableVariant(question);
  const present = question.backend?.availability;
  if (variant === undefined || present?.present !== true) throw new TypeError("a candidate passed every check without a variant");
  const { library } = present;
  const open: EligibleCandidate = {
    verdict: "open",
    target,
    variant,
    reason: `${library.name} ${library.version}, ${variant.name}`,
  };
  if (facts.measurements === undefined) return { target, selection: open };
  const subject = { target: formatTarget(target), onCpu: target.device.type === "cpu", variant, library };
  const { note, ...measured } = measuredSpeed(subject, facts.measurements);
  return { target, selection: { ...open, note }, ...measured };
}

/** All targets: those the registered backends know, and those that somebody named. Where a backend is missing, its CPU stands for it. */
function expand(
  facts: SelectionFacts,
  manifest: Manifest,
  constraints: Constraints,
): Pick<CandidateContext, "target" | "device" | "backend">[] {
  const expanded: Pick<CandidateContext, "target" | "device" | "backend">[] = facts.backends.flatMap((backend) =>
    backend.availability.present
      ? backend.availability.devices.map((device) => ({
          target: { backend: backend.name, device: device.device },
          device,
          backend,
        }))
      : [{ target: { backend: backend.name, device: cpu }, backend }],
  );
  const order = constraints.priorityChosen && constraints.policy !== "manifest" ? constraints.priority : [];
  const named = [...constraints.required.flat(), ...constraints.preferred, ...namedByManifest(manifest, constraints)];
  for (const pattern of [...named, ...[...order, ...manifest.selection.backends].map(parseTarget)]) {
    if (expanded.some(({ target }) => matches(pattern, target))) continue;
    const backend = facts.backends.find(({ name }) => name === pattern.backend);
    const device = pattern.deviceType === undefined ? cpu : { type: pattern.deviceType, index: pattern.index ?? 0 };
    expanded.push({ target: { backend: pattern.backend, device }, ...(backend === undefined ? {} : { backend }) });
  }
  return expanded;
}

const cpu: Device = { type: "cpu", index: 0 };

function namedByManifest(manifest: Manifest, constraints: Constraints): TargetPattern[] {
  if (constraints.policy !== "manifest") return [];
  const { preferred, fallbacks } = manifest.selection;
  return [...(preferred === undefined ? [] : [preferred]), ...fallbacks].map(parseTarget);
}

/** In the order in which reasons are given. */
const checks: readonly ((question: CandidateContext) => Refusal | undefined)[] = [
  function excluded({ target, constraints }) {
    const pattern = constraints.excluded.find((candidate) => matches(candidate, target));
    return pattern && { stage: "constraints", reason: `you excluded ${formatPattern(pattern)}` };
  },
  function required({ target, constraints }) {
    const missed = constraints.required.find((alternatives) => !alternatives.some((pattern) => matches(pattern, target)));
    return missed && { stage: "constraints", reason: `you required ${missed.map(formatPattern).join(" or ")}` };
  },
  function allowedByManifest({ target, manifest }) {
    const { backends } = manifest.selection;
    if (backends.length === 0 || backends.includes(target.backend)) return undefined;
    return { stage: "manifest", reason: `the model's manifest allows only ${backends.join(", ")}` };
  },
  function namedUnderManifestPolicy({ target, manifest, constraints }) {
    if (constraints.policy !== "manifest") return undefined;
    const named = namedByManifest(manifest, constraints);
    if (named.some((pattern) => matches(pattern, target))) return undefined;
    const reason =
      named.length === 0
        ? 'the policy is "manifest", and the manifest names no preferred target'
        : `the policy is "manifest", which names only ${named.map(formatPattern).join(", ")}`;
    return { stage: "manifest", reason, remedy: "--policy priority" };
  },
  function registered({ target, backend }) {
    if (backend !== undefined) return undefined;
    return { stage: "package", reason: `no backend named "${target.backend}" is registered in this runtime` };
  },
  function installed({ backend }) {
    if (backend === undefined || backend.availability.present) return undefined;
    const { reason, remedy } = backend.availability;
    return { stage: "package", reason, ...(remedy === undefined ? {} : { remedy }) };
  },
  function deviceKnown({ target, device, backend }) {
    if (device !== undefined || backend?.availability.present !== true) return undefined;
    const known = backend.availability.devices.map((entry) => formatTarget({ backend: target.backend, device: entry.device }));
    return { stage: "device", reason: `${target.backend} has no such device here; it knows ${known.join(", ")}` };
  },
  function deviceAvailable({ device }) {
    if (device === undefined || device.available) return undefined;
    const stage = device.milliseconds === undefined ? "device" : "probe";
    return { stage, reason: device.reason, ...(device.remedy === undefined ? {} : { remedy: device.remedy }) };
  },
  function formatSupported(question) {
    return runnableVariant(question) === undefined ? formatRefusal(question) : undefined;
  },
  function settingsObeyed({ target, backend, request }) {
    const obeyed = backend?.capabilities(target.device).options ?? [];
    const set = (Object.keys(request.settings) as (keyof LoadSettings)[]).filter((key) => request.settings[key] !== undefined);
    const ignored = set.find((key) => !obeyed.includes(key));
    return ignored && { stage: "capability", reason: `${target.backend} has no setting "${ignored}", and you set it` };
  },
  function requirementsMet(question) {
    const { target, backend, facts, manifest } = question;
    const variant = runnableVariant(question);
    if (variant === undefined || backend === undefined) return undefined;
    const reason = requirementProblem(manifest.requirements, target, variant, backend.capabilities(target.device), facts);
    return reason === undefined ? undefined : { stage: "requirement", reason };
  },
  function circuitClosed(question) {
    const { target, facts } = question;
    const variant = runnableVariant(question);
    const keys = [formatTarget(target), ...(variant === undefined ? [] : [placementKey(target, variant)])];
    const [open] = keys.flatMap((key) => facts.openCircuits.get(key) ?? []);
    return open === undefined ? undefined : { stage: "circuit", reason: open.reason };
  },
];

function wantedVariants({ manifest, request }: CandidateContext): readonly Variant[] {
  if (request.variant === undefined) return manifest.variants;
  const wanted = request.variant;
  return manifest.variants.filter((variant) => variant.name === wanted || variant.aliases.includes(wanted));
}

function runnableVariant(question: CandidateContext): Variant | undefined {
  const capabilities = question.backend?.capabilities(question.target.device);
  return wantedVariants(question).find((variant) => capabilities !== undefined && canRun(capabilities, variant));
}

function canRun(capabilities: Capabilities, variant: Variant): boolean {
  const architectures = capabilities.formats[variant.format];
  if (architectures === undefined) return false;
  if (variant.precision !== undefined && !capabilities.precisions.includes(variant.precision)) return false;
  return architectures === "any" || (variant.architecture !== undefined && architectures.includes(variant.architecture));
}

function formatRefusal(question: CandidateContext): Refusal {
  const { target, backend } = question;
  const capabilities = backend?.capabilities(target.device);
  const wanted = wantedVariants(question);
  const formats = [...new Set(wanted.map((variant) => variant.format))];
  const sameFormat = wanted.find((variant) => capabilities?.formats[variant.format] !== undefined);
  if (sameFormat === undefined) {
    return { stage: "capability", reason: `${target.backend} does not run ${formats.join(" or ")}` };
  }
  const architectures = capabilities?.formats[sameFormat.format];
  if (architectures !== "any" && !architectures?.includes(sameFormat.architecture ?? "")) {
    const known = abbreviatedList(architectures ?? []);
    return {
      stage: "capability",
      reason: `${target.backend} runs ${sameFormat.format} of ${known}, not of ${sameFormat.architecture ?? "an unnamed architecture"}`,
    };
  }
  return {
    stage: "capability",
    reason: `${target.backend} does not run ${sameFormat.precision} weights on ${target.device.type}`,
  };
}
