/**
 * The load loop: tries eligible candidates in order. Each is loaded in its host and verified; the first success ends the loop.
 * Every attempt is recorded in the decision.
 */
import type { SelectionOutcome } from "../selection/selection-outcome.ts";
import type { Backend, Capabilities, Device, LoadAlternative, LoadLimits } from "../../contract/backend.ts";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { type ErrorCode, InferyardError, errorKinds, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import { getCapabilities } from "../../contract/shapes/held-contract.ts";
import { findSupport } from "../../contract/shapes/supported-models.ts";
import { ReplicaGroup } from "../../hosts/replica-group.ts";
import type { Host, HostedModel } from "../../hosts/host.ts";
import type { HostName, ModelKind } from "../../hosts/host-name.ts";
import { loadWithTimeout } from "../../hosts/load-timeout.ts";
import { type Supervision, unsupervised } from "../../hosts/supervision.ts";
import { type MemoryAmounts, estimateMemory } from "../selection/memory-budget.ts";
import { toBackendSettings } from "../options/load-options.ts";
import { type HostPolicy, selectHost } from "../selection/host-selection.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { type DividedPlacement, isDivided, type ModelPlacement } from "../../models/placement.ts";
import { type Candidate, type Decision, type Selected, makeDecision } from "../decision/decision.ts";
import type { EligibleCandidate, CheckedCandidate } from "../selection/selection.ts";
import { settingsFor } from "../selection/option-scope.ts";
import { type Target, formatDevice, formatTarget } from "../targets/target.ts";
import { type AnswerCheck, type UnprovenPlacement, unprovenRefusal, verifyKnownAnswer } from "./verification.ts";
import { type AlternativeFailure, alternativeEvidence, noAlternative } from "./alternatives.ts";

/** Services of the runtime that the load loop needs. */
export interface LoadingContext {
  readonly backends: readonly Backend[];
  readonly hosts: Readonly<Record<HostName, Host>>;
  readonly host: HostPolicy;
  /** Resource limits passed to every load. Default: the backends' own limits. */
  readonly limits?: LoadLimits;
  /** Number of threads for a load: the requested number clamped to the CPU quota, or the quota if none is requested. */
  readonly threads: (wanted: number | undefined) => number;
  readonly checkAnswers: AnswerCheck;
  /** Computes the hexadecimal SHA-256 of a variant's main file. */
  readonly computeDigest: (variant: Variant) => Promise<string>;
  /** Memory measured when the same variant was last loaded on the same target. Default: unknown. */
  readonly knownSize?: (target: Target, variant: Variant) => MemoryAmounts | undefined;
  /**
   * Waits until the memory budget has room for the model and books it. `known`: `need` was measured, not estimated. Throws
   * MEMORY_BUDGET if no room can be made. Default: no budget.
   */
  readonly bookMemory?: (need: MemoryAmounts, known: boolean) => Promise<void>;
  /** The supervision of the host of a variant on a target. Default: none. */
  readonly supervise?: (target: Target, variant: Variant) => Supervision | undefined;
  /** How models are distributed over devices, whatever their manifests state. Default: what they state. */
  readonly placement?: ModelPlacement | "one-device" | undefined;
  /** See `Platform.divideModels`. */
  readonly divide?: (backend: Backend, placement: DividedPlacement) => Promise<Backend>;
  /** Called before each attempt. */
  readonly onAttempt?: (target: Target, variant: Variant) => void;
}

/** A model that was loaded and verified, with the decision that led to it. */
export interface VerifiedModel {
  readonly model: HostedModel;
  readonly manifest: Manifest;
  readonly variant: Variant;
  readonly target: Target;
  readonly decision: Decision;
  /** What its backend says of the memory of runs. */
  readonly runMemory?: Capabilities["runMemory"];
  /** Why nothing proves where it computes. Undefined if the engine's own evidence does. */
  readonly unproven?: UnprovenPlacement | undefined;
  /** The memory that was booked for it: measured before, or estimated. */
  readonly need: MemoryAmounts;
  /** How it is distributed over devices; undefined: one device. */
  readonly placement?: ModelPlacement | undefined;
  /** Loads the same variant once more, as a replica that runs in parallel: on the same target, or on another device of the same backend. */
  loadReplica(settings: UserLoadSettings, signal?: AbortSignal, device?: Device): Promise<HostedModel>;
  /** Estimated memory of a replica on another device. */
  estimateOn?(device: Device): MemoryAmounts;
}

/**
 * Makes the decision in which the current candidate is selected. `loaded`: the model was loaded for this request and was not in
 * memory before; the record then has the load time.
 */
export type DecisionFactory = (selected: Selected, digest: string | undefined, loaded: boolean) => Decision;

/** The result of one attempt to load. */
export type LoadOutcome<Item> = SuccessfulLoad<Item> | FailedLoad | RefusedLoad;

/** The item that was loaded. */
export interface SuccessfulLoad<Item> {
  readonly ok: true;
  readonly item: Item;
}

/** A failed attempt after which the next candidate may be tried. */
export interface FailedLoad {
  readonly ok: false;
  readonly stage: "load" | "verify";
  readonly error: InferyardError;
}

/** An attempt that was not begun, since the request may not load a model now. Other requests for the same model are not concerned. */
export interface RefusedLoad {
  readonly ok: false;
  readonly stage: "admission";
  readonly error: unknown;
}

/**
 * Loads the first eligible candidate of a selection that succeeds. Throws the error of `noCandidateError` if none does, and
 * ABORTED.
 */
export async function loadFirstCandidate(
  context: LoadingContext,
  selection: SelectionOutcome,
  signal?: AbortSignal,
): Promise<VerifiedModel> {
  const load: LoadCandidate<VerifiedModel> = (candidate, decide) => loadCandidate(context, selection, candidate, decide, signal);
  const outcome = await tryCandidates(selection, load, signal);
  if (outcome.ok) return outcome.item;
  throw outcome.error;
}

/** Loads one candidate, or uses the model of an earlier load of it. */
export type LoadCandidate<Item> = (candidate: EligibleCandidate, decide: DecisionFactory) => Promise<LoadOutcome<Item>>;

/**
 * Tries eligible candidates in order, and returns the first attempt that succeeds or is refused. If all fail, candidates that failed because of their variant
 * are tried with their other variants. If these fail too, throws one error that lists every candidate with its reason.
 */
export async function tryCandidates<Item>(
  { selections, facts, manifest, constraints }: SelectionOutcome,
  load: LoadCandidate<Item>,
  signal?: AbortSignal,
): Promise<SuccessfulLoad<Item> | RefusedLoad> {
  const candidates: Candidate[] = [];
  const failures: FailedCandidate[] = [];
  const queue = [...selections];
  for (const [index, candidate] of queue.entries()) {
    if (candidate.verdict === "refused") {
      candidates.push(candidate);
    } else {
      throwIfAborted(signal);
      const started = performance.now();
      const target = formatTarget(candidate.target);
      const isAlternative = index >= selections.length;
      const before = [...candidates]; // a decision may be made after others were tried
      const decide: DecisionFactory = (selected, digest, loaded) => {
        const time = loaded ? { milliseconds: performance.now() - started } : {};
        const { reason, variant } = candidate;
        const named = isAlternative ? { variant: variant.name } : {};
        const chosen: Candidate = {
          target,
          ...named,
          verdict: "selected",
          stage: "verify",
          reason,
          ...getNote(candidate),
          ...time,
        };
        const all = [...before, chosen, ...queue.slice(index + 1).map(getRecord)];
        return makeDecision({
          manifest,
          constraints,
          candidates: all,
          selected,
          variant,
          ...omitUndefined({ digest }),
        });
      };
      const outcome = await load(candidate, decide);
      if (outcome.ok || outcome.stage === "admission") return outcome;
      const { error, stage } = outcome;
      const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
      const milliseconds = performance.now() - started;
      failures.push({ candidate, error });
      const named = isAlternative || candidate.alternatives !== undefined ? { variant: candidate.variant.name } : {};
      const failed = { target, ...named, verdict: "failed" as const, stage, reason: error.message, ...remedy };
      candidates.push({ ...failed, ...getNote(candidate), milliseconds });
    }
    if (index === selections.length - 1) queue.push(...otherVariants(failures));
  }
  const decision = makeDecision({ manifest, constraints, candidates, selected: null });
  const errors = failures.map(({ error }) => error);
  const { noCandidateError } = await import("./no-candidate-error.ts");
  throw noCandidateError(manifest, constraints, decision, { failures: errors, circuits: [...facts.openCircuits.values()] });
}

interface FailedCandidate {
  readonly candidate: EligibleCandidate;
  readonly error: InferyardError;
}

/** Errors for which the weights may be to blame: they are damaged, have an operator that the engine lacks, or give wrong results. */
const variantErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "LOAD_FAILED",
  "MODEL_INVALID",
  "MODEL_UNSUPPORTED",
  "VERIFICATION_FAILED",
]);

/** The other variants of candidates that failed: first variants with the precision of the one that failed, then in the order of the variants. */
function otherVariants(failed: readonly FailedCandidate[]): readonly EligibleCandidate[] {
  return failed
    .filter(({ error }) => variantErrors.has(error.code))
    .flatMap(({ candidate: { alternatives = [], variant } }) =>
      alternatives.map((candidate, index) => ({
        candidate,
        rank: index + (candidate.variant.precision === variant.precision ? 0 : alternatives.length),
      })),
    )
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ candidate }) => candidate);
}

/**
 * Loads one candidate in its host and verifies it. A failure that permits another candidate is returned; any other error is
 * thrown.
 */
export async function loadCandidate(
  context: LoadingContext,
  { manifest, request, constraints }: SelectionOutcome,
  { target, variant, shortened }: EligibleCandidate,
  decide: DecisionFactory,
  signal?: AbortSignal,
): Promise<SuccessfulLoad<VerifiedModel> | FailedLoad> {
  const { kind = "tensor" } = request;
  const settings = settingsFor(request, variant);
  const backend = context.backends.find(({ name }) => name === target.backend);
  if (backend === undefined)
    throw new InferyardError("CONTRACT_VIOLATION", `selection chose "${target.backend}", which is not registered`);
  const capabilities = getCapabilities(backend, target.device);
  const host = context.hosts[selectHost(context.host, findSupport(capabilities, variant, kind), backend.entry !== undefined)];
  const known = context.knownSize?.(target, variant);
  const need = known ?? estimateMemory(target, variant, manifest.requirements, capabilities, host.name);
  await context.bookMemory?.(need, known !== undefined);
  throwIfAborted(signal);
  context.onAttempt?.(target, variant);
  const supervision = context.supervise?.(target, variant) ?? unsupervised;
  // Replicas share weights that were read in the same way.
  let [replicas, alternative] = [new ReplicaGroup(), undefined as LoadAlternative | undefined];
  const contextLength = shortened === undefined ? {} : { contextLength: shortened.contextLength };
  const stated = context.placement ?? manifest.placement;
  const placement = stated === "one-device" ? undefined : stated;
  const loadInHost = async (
    wanted: UserLoadSettings,
    loadSignal: AbortSignal | undefined,
    device: Device = target.device,
  ): Promise<HostedModel> => {
    const used = isDivided(placement) ? await divided(context, backend, kind, placement) : backend;
    const threads = capabilities.options?.includes("threads") ? { threads: context.threads(wanted.threads) } : {};
    const stop = loadSignal === undefined ? {} : { signal: loadSignal };
    const { engine, ...common } = toBackendSettings({ ...settings, ...wanted });
    const own = engine === undefined && alternative === undefined ? {} : { engine: { ...engine, ...alternative?.engine } };
    return host.load(
      kind,
      used,
      variant,
      device,
      { ...context.limits, ...common, ...own, ...contextLength, ...threads, ...stop },
      supervision,
      replicas,
    );
  };
  const loadReplica: VerifiedModel["loadReplica"] = (wanted, replicaSignal, device) => {
    if (device !== undefined) context.onAttempt?.({ ...target, device }, variant);
    return loadWithTimeout(supervision, host.name, replicaSignal, (loadSignal) => loadInHost(wanted, loadSignal, device));
  };
  const estimateOn: VerifiedModel["estimateOn"] = (device) =>
    estimateMemory({ ...target, device }, variant, manifest.requirements, capabilities, host.name);
  const digest = context.computeDigest(variant); // hashed in parallel with the load
  digest.catch(() => {}); // awaited below; if the load fails first, an unreadable file is not reported
  let stage = "load" as FailedLoad["stage"];
  try {
    return await loadWithTimeout(supervision, host.name, signal, async (loadSignal): Promise<SuccessfulLoad<VerifiedModel>> => {
      const failures: AlternativeFailure[] = [];
      const mayChoose = kind === "tensor" && manifest.probe?.kind === "text";
      const alternatives = mayChoose ? await backend.alternatives?.(variant, toBackendSettings(settings)) : undefined;
      for (const each of alternatives?.length ? alternatives : [undefined]) {
        [replicas, alternative] = [new ReplicaGroup(), each];
        const model = await loadInHost(settings, loadSignal);
        stage = "verify";
        try {
          const verification =
            model.kind === "language"
              ? await (await import("./language-verification.ts")).verifyLanguageModel(model, variant, manifest.probe, loadSignal)
              : await verifyKnownAnswer(model, manifest, context.checkAnswers, loadSignal);
          const refusal = unprovenRefusal(verification.unproven, target.device, constraints);
          if (refusal !== undefined) throw refusal;
          refuseOtherDigest(variant, await digest);
          const { unproven } = verification;
          const selected = {
            target: formatTarget(target),
            device: formatDevice(target.device),
            host: host.name,
            library: model.library,
            evidence: [...verification.evidence, ...alternativeEvidence(each, failures)],
            ...omitUndefined({ unproven: unproven?.reason, givenUp: shortened?.sentence }),
          };
          if (supervision.growth !== undefined) supervision.growth.isVerified = true;
          const decision = decide(selected, `sha256:${await digest}`, true);
          const { runMemory } = capabilities;
          const replicate = { loadReplica, estimateOn };
          const item = { model, manifest, variant, target, decision, runMemory, unproven, need, placement, ...replicate };
          return { ok: true, item };
        } catch (error) {
          await model.dispose({ waitMs: 0 });
          const isWrong = error instanceof InferyardError && error.code === "VERIFICATION_FAILED";
          if (!isWrong || each === undefined) throw error;
          failures.push({ name: each.name, error });
        }
      }
      throw noAlternative(failures);
    });
  } catch (error) {
    if (error instanceof InferyardError && (errorKinds[error.code].tryNext || (stage === "verify" && error.code !== "ABORTED"))) {
      return { ok: false, stage, error };
    }
    throw error;
  }
}

/** The backend of which several processes compute one instance together. Throws MODEL_UNSUPPORTED where there is none. */
async function divided(
  { divide }: LoadingContext,
  backend: Backend,
  kind: ModelKind,
  placement: DividedPlacement,
): Promise<Backend> {
  if (kind === "language")
    throw unsupportedModel(`${placement}: language models are not divided among processes`, "set placement: one-device");
  if (divide === undefined)
    throw unsupportedModel(`${placement}: there are no other processes here`, "set placement: one-device");
  return await divide(backend, placement);
}

/** The decision of `explain`, which loads nothing: the first eligible candidate has the verdict "would-run". */
export function explainSelection({ selections, manifest, constraints }: SelectionOutcome): Decision {
  const first = selections.find(({ verdict }) => verdict === "eligible");
  const candidates = selections.map((selection): Candidate =>
    selection === first ? { ...getRecord(selection), verdict: "would-run" } : getRecord(selection),
  );
  return makeDecision({ manifest, constraints, candidates, selected: null });
}

function getRecord(selection: CheckedCandidate): Candidate {
  if (selection.verdict === "refused") return selection;
  const { target, reason } = selection;
  return { target: formatTarget(target), verdict: "not-tried", stage: "load", reason, ...getNote(selection) };
}

function getNote({ note }: EligibleCandidate): Pick<Candidate, "note"> {
  return note === undefined ? {} : { note };
}

function refuseOtherDigest({ path, sha256 }: Variant, digest: string): void {
  if (sha256 === undefined || sha256.toLowerCase() === digest) return;
  throw new InferyardError(
    "MODEL_INVALID",
    `${path} is not the file its manifest describes: its sha256 is ${digest}, not ${sha256}`,
    {
      remedy: "get the file again, or correct the digest",
    },
  );
}
