/**
 * Selection decides which targets may run a model, and in what order loading tries them: facts about backends and the machine,
 * then the order of the policy, then the constraints. It is a pure function: no input or output, no clock. `selection.test.ts`
 * is its specification.
 *
 * Every target that a backend reports or that somebody names becomes a candidate. A candidate that cannot run is refused with
 * the first reason found, in the order of `checks`. The others are eligible, and loading tries them in order until one
 * succeeds.
 */
import type { Capabilities, Device, Library } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { findSupport } from "../../contract/shapes/supported-models.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import type { SelectionStage } from "../decision/decision.ts";
import type { LoadRequest } from "./load-request.ts";
import { measuredSpeed } from "./measured-speed.ts";
import { orderByPolicy } from "./candidate-order.ts";
import { contextFit, type ShortenedContext } from "./context-fit.ts";
import { loadSettings } from "../options/load-options.ts";
import { givenNames, ineffectiveOption, settingsFor } from "./option-scope.ts";
import { requirementProblem } from "./requirements.ts";
import type { CandidateContext, SelectionFacts } from "./selection-facts.ts";
import { abbreviatedList, quoteOption } from "../../contract/errors.ts";
import {
  type Target,
  type TargetPattern,
  formatPattern,
  formatTarget,
  matches,
  parseTarget,
  placementKey,
} from "../targets/target.ts";
import type { Constraints } from "../targets/constraints.ts";
import { packedPrecision, packedVariants, variantsNamed } from "./variant-selection.ts";

/** A candidate after all checks: eligible, or refused with a reason. */
export type CheckedCandidate = EligibleCandidate | RefusedCandidate;

/** A candidate that passed every check, and the variant of the model it would run. */
export interface EligibleCandidate {
  readonly verdict: "eligible";
  readonly target: Target;
  readonly variant: Variant;
  readonly reason: string;
  /** Under the policy "fastest": the measured speed, or why no measurement applies. */
  readonly note?: string;
  /** The shortened context of a language model whose full context does not fit into the memory. */
  readonly shortened?: ShortenedContext;
  /** The same target with the other variants that passed the checks, in their order: tried if no candidate could be loaded with its first one. */
  readonly alternatives?: readonly EligibleCandidate[];
}

/** A candidate that failed a check, with the stage and the reason for the decision. */
export interface RefusedCandidate extends Refusal {
  readonly verdict: "refused";
  readonly target: string;
}

interface Refusal {
  readonly stage: SelectionStage;
  readonly reason: string;
  readonly remedy?: string;
}

/**
 * All candidates in order of preference, eligible and refused ones. An eligible candidate names its target and the variant it
 * would run.
 */
export function select(
  facts: SelectionFacts,
  manifest: Manifest,
  constraints: Constraints,
  request: LoadRequest,
): CheckedCandidate[] {
  const contexts = expand(facts, manifest, constraints).map((expanded) => ({
    ...expanded,
    facts,
    manifest,
    constraints,
    request,
  }));
  const ordered = orderByPolicy(contexts.map(checkCandidate), manifest, constraints).map(({ checked }) => checked);
  const { file } = manifest.selection;
  if (file === undefined || constraints.preferred.length > 0) return ordered;
  const runsFile = (checked: CheckedCandidate): boolean => checked.verdict === "eligible" && checked.variant.path === file;
  return [...ordered.filter(runsFile), ...ordered.filter((checked) => !runsFile(checked))];
}

interface RankedCandidate {
  readonly target: Target;
  readonly checked: CheckedCandidate;
  readonly latencyMs?: number;
}

/** Variants of one target that are tried after its first one: a model that no engine can run is refused after a bounded number of loads. */
const maxAlternatives = 3;

/** The candidate that runs a variant on the target of the context. */
function eligibleWith(context: CandidateContext, library: Library, variant: Variant): EligibleCandidate {
  const { shortened } = contextFit(context, variant);
  const { packing } = variant;
  const packed =
    packing === undefined ? "" : ` packed from ${packing.from} while loading, about ${Math.ceil(packing.bytes / 1e6)} MB`;
  const reason = `${library.name} ${library.version}, ${variant.name}${packed}`;
  const { target } = context;
  return shortened === undefined
    ? { verdict: "eligible", target, variant, reason }
    : { verdict: "eligible", target, variant, reason: `${reason}; ${shortened.sentence}`, shortened };
}

function checkCandidate(context: CandidateContext): RankedCandidate {
  const { target, facts } = context;
  for (const check of checks) {
    const refusal = check(context);
    if (refusal === undefined) continue;
    const whole = { ...refusal, ...alsoUnmet(refusal, context) };
    return { target, checked: { verdict: "refused", target: formatTarget(target), ...whole } };
  }
  const [variant, ...others] = effectiveVariants(context);
  const present = context.backend?.availability;
  if (variant === undefined || present?.present !== true) throw new TypeError("a candidate passed every check without a variant");
  const { library } = present;
  const alternatives = others
    .filter((other) => variantRefusal(context, other) === undefined)
    .slice(0, maxAlternatives)
    .map((other) => eligibleWith(context, library, other));
  const eligible = { ...eligibleWith(context, library, variant), ...(alternatives.length === 0 ? {} : { alternatives }) };
  if (facts.measurements === undefined) return { target, checked: eligible };
  const { kind = "tensor" } = context.request;
  const subject = { target: formatTarget(target), kind, onCpu: target.device.type === "cpu", variant, library };
  const { note, ...measured } = measuredSpeed(subject, facts.measurements);
  return { target, checked: { ...eligible, note }, ...measured };
}

/**
 * All targets: those that registered backends report, and those that the constraints or the manifest name. A backend whose
 * package is missing is represented by its CPU.
 */
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
    const device = pattern.deviceType === undefined ? cpu : { type: pattern.deviceType, index: pattern.index ?? 0 };
    const meant = facts.backends.filter(({ name }) => matches({ backend: pattern.backend }, { backend: name, device }));
    for (const backend of meant) expanded.push({ target: { backend: backend.name, device }, backend });
    if (meant.length === 0) expanded.push({ target: { backend: pattern.backend, device } });
  }
  return expanded;
}

const cpu: Device = { type: "cpu", index: 0 };

function namedByManifest(manifest: Manifest, constraints: Constraints): TargetPattern[] {
  if (constraints.policy !== "manifest") return [];
  const { preferred, fallbacks } = manifest.selection;
  return [...(preferred === undefined ? [] : [preferred]), ...fallbacks].map(parseTarget);
}

/** What would make a device usable that a published engine lacks. */
const provision: Readonly<Record<string, string>> = {
  "onnx:rocm": "install a build of ONNX Runtime for Node.js with the ROCm provider; the npm package has none",
  "onnx:openvino": "install a build of ONNX Runtime for Node.js with the OpenVINO provider; the npm package has none",
};

/** The checks, in order. The first one that fails gives the reason of the refusal. */
const checks: readonly ((context: CandidateContext) => Refusal | undefined)[] = [
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
    if (backends.length === 0 || backends.some((allowed) => matches(parseTarget(allowed), target))) return undefined;
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
    return { stage: "manifest", reason, remedy: quoteOption("policy", "priority") };
  },
  function registered({ target, backend }) {
    if (backend !== undefined) return undefined;
    return { stage: "package", reason: `no backend named "${target.backend}" is registered in this runtime` };
  },
  function installed({ backend }) {
    if (backend === undefined || backend.availability.present) return undefined;
    const { reason, remedy } = backend.availability;
    return { stage: "package", reason, ...omitUndefined({ remedy }) };
  },
  function deviceKnown({ target, device, backend }) {
    if (device !== undefined || backend?.availability.present !== true) return undefined;
    const known = backend.availability.devices.map((entry) => formatTarget({ backend: target.backend, device: entry.device }));
    const remedy = provision[`${target.backend}:${target.device.type}`];
    return {
      stage: "device",
      reason: `${target.backend} has no such device here; it knows ${known.join(", ")}`,
      ...omitUndefined({ remedy }),
    };
  },
  function deviceAvailable({ device }) {
    if (device === undefined || device.state !== "absent") return undefined;
    const stage = device.milliseconds === undefined ? "device" : "probe";
    return { stage, reason: device.reason, ...omitUndefined({ remedy: device.remedy }) };
  },
  function formatSupported(context) {
    return runnableVariants(context).length === 0 ? { stage: "capability", reason: formatProblem(context) } : undefined;
  },
  function settingsEffective(context) {
    if (effectiveVariants(context).length > 0) return undefined;
    const [reason] = runnableVariants(context).map((variant) => ineffectiveOption(context.request, variant));
    return reason === undefined ? undefined : { stage: "capability", reason };
  },
  function settingsSupported(context) {
    const { target, backend, request } = context;
    const supported = backend?.capabilities(target.device).options ?? [];
    const [variant] = effectiveVariants(context);
    const settings = variant === undefined ? {} : settingsFor(request, variant);
    const ignored = givenNames(settings).find((name) => !supported.includes(name) && loadSettings[name].isOwnLimit !== true);
    if (ignored !== undefined)
      return { stage: "capability", reason: `${target.backend} has no setting "${ignored}", and you set it` };
    const { cachePrecision } = settings;
    const precisions = backend?.capabilities(target.device).cachePrecisions ?? [];
    if (cachePrecision === undefined || precisions.includes(cachePrecision)) return undefined;
    return {
      stage: "capability",
      reason: `${target.backend} keeps caches in ${precisions.join(" or ")}, not in ${cachePrecision}`,
    };
  },
  function variantFits(context) {
    const [variant] = effectiveVariants(context);
    return variant === undefined ? undefined : variantRefusal(context, variant);
  },
];

/** Refusal stages at which the requirements of the model have not been checked yet. */
const hidingStages: ReadonlySet<SelectionStage> = new Set<SelectionStage>(["package", "device", "probe"]);

/**
 * Extends the reason of an early refusal with unmet requirements of the model, so that a user who installs the missing device or library does not
 * meet them afterwards.
 */
function alsoUnmet({ stage, reason }: Refusal, context: CandidateContext): Pick<Refusal, "reason"> | undefined {
  const [variant] = runnableVariants(context);
  const unmet = hidingStages.has(stage) && variant !== undefined ? requirementProblem(context, variant) : undefined;
  return unmet === undefined ? undefined : { reason: `${reason}; ${unmet}` };
}

/** Why a variant cannot be loaded on the target now: the requirements of the model, the memory for its context, or an open circuit. */
function variantRefusal(context: CandidateContext, variant: Variant): Refusal | undefined {
  const { target, facts } = context;
  const reason = requirementProblem(context, variant);
  if (reason !== undefined) return { stage: "requirement", reason };
  const { refusal } = contextFit(context, variant);
  if (refusal !== undefined) return refusal;
  const [open] = [formatTarget(target), placementKey(target, variant)].flatMap((key) => facts.openCircuits.get(key) ?? []);
  return open === undefined ? undefined : { stage: "circuit", reason: open.reason };
}

/** The variants that are asked for: of the model's files, or packed by the backend of the candidate. */
function wantedVariants({ manifest, request, backend, target }: CandidateContext): readonly Variant[] {
  const to = packedPrecision(manifest.variants, request.variant);
  if (to === undefined) return variantsNamed(manifest.variants, request.variant);
  const capabilities = backend?.capabilities(target.device);
  return capabilities === undefined ? [] : packedVariants(manifest.variants, to, capabilities, request.kind);
}

function runnableVariants(context: CandidateContext): readonly Variant[] {
  const capabilities = context.backend?.capabilities(context.target.device);
  if (capabilities === undefined) return [];
  return wantedVariants(context).filter((variant) => canRun(capabilities, variant, context.request));
}

/** The runnable variants on which every setting in `request.own` has an effect. */
function effectiveVariants(context: CandidateContext): readonly Variant[] {
  return runnableVariants(context).filter((variant) => ineffectiveOption(context.request, variant) === undefined);
}

function canRun(capabilities: Capabilities, variant: Variant, request: LoadRequest): boolean {
  const { precision } = variant;
  if (precision !== undefined && !capabilities.precisions.includes(precision)) return false;
  return findSupport(capabilities, variant, request.kind) !== undefined;
}

/** Why no variant can run on the target, as a sentence without a full stop. */
function formatProblem(context: CandidateContext): string {
  const { target, backend, request, manifest } = context;
  const { kind = "tensor" } = request;
  const known = (backend?.capabilities(target.device).models ?? []).filter((each) => each.kind === kind);
  const asKind = request.kind === "language" ? " as a language model" : "";
  const to = packedPrecision(manifest.variants, request.variant);
  if (to !== undefined) {
    const names = manifest.variants.map(({ name }) => name).join(", ");
    const packs = [...new Set(known.filter(({ packing }) => packing !== undefined).map(({ format }) => format))];
    const what = packs.length === 0 ? "no weights" : `only ${packs.join(" and ")} weights of architectures that it builds`;
    return `the files have no ${to} weights (they have ${names}), and ${target.backend} packs ${what}${asKind}`;
  }
  const wanted = wantedVariants(context);
  if (wanted.length === 0) return `the model has no variant "${request.variant}"`;
  const formats = [...new Set(wanted.map((variant) => variant.format))];
  const sameFormat = wanted.find((variant) => known.some(({ format }) => format === variant.format));
  if (sameFormat === undefined) {
    return `${target.backend} does not run ${formats.join(" or ")}${asKind}`;
  }
  const architectures = known.filter(({ format }) => format === sameFormat.format).flatMap((each) => each.architectures);
  if (!architectures.includes("any") && !architectures.includes(sameFormat.architecture ?? "")) {
    return `${target.backend} runs ${sameFormat.format}${asKind} of ${abbreviatedList(architectures)}, not of ${sameFormat.architecture ?? "an unnamed architecture"}`;
  }
  return `${target.backend} does not run ${sameFormat.precision} weights on ${target.device.type}`;
}
