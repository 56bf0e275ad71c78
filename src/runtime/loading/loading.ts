/** The load loop: candidates in order; load in the host, verify, stop at the first that holds, and record everything. */
import type { Backend, LoadLimits, LoadSettings } from "../../backend.ts";
import { InferyardError, errorKinds, throwIfAborted } from "../../errors.ts";
import { ReplicaGroup } from "../../hosts/replica-group.ts";
import type { Host, HostName, HostedModel } from "../../hosts/host.ts";
import { loadWithTimeout } from "../../hosts/load-timeout.ts";
import { type Supervision, unsupervised } from "../../hosts/supervision.ts";
import { type MemoryAmounts, estimateMemory } from "../residency/memory-budget.ts";
import { type HostPolicy, selectHost } from "./host-selection.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { type Candidate, type Decision, type Selected, makeDecision } from "../decision/decision.ts";
import { noCandidateError } from "../decision/no-candidate-error.ts";
import { type LoadRequest, type EligibleCandidate, type CheckedCandidate, select } from "../selection/selection.ts";
import type { SelectionFacts } from "../selection/selection-facts.ts";
import { type Target, formatDevice, formatTarget } from "../selection/target.ts";
import { type AnswerCheck, verify } from "./verification.ts";
import type { Constraints } from "../selection/constraints.ts";

/** What the loop needs from the runtime. */
export interface LoadingContext {
  readonly backends: readonly Backend[];
  readonly hosts: Readonly<Record<HostName, Host>>;
  readonly host: HostPolicy;
  /** What models may take. Default: the backends' own limits. */
  readonly limits?: LoadLimits;
  /** Threads for an engine when the user set none, or the user's number clamped to the CPU quota. */
  readonly threads: (wanted: number | undefined) => number;
  readonly checkAnswers: AnswerCheck;
  /** Hexadecimal sha256 of a variant's main file. */
  readonly digestOf: (variant: Variant) => Promise<string>;
  /** What the same variant took on the same target before. Default: nothing is known. */
  readonly knownSize?: (target: Target, variant: Variant) => MemoryAmounts | undefined;
  /**
   * Waits until there is room for the model; throws MEMORY_BUDGET where none can be made. `known`: the need was seen, not estimated.
   * Default: there is room.
   */
  readonly bookMemory?: (need: MemoryAmounts, known: boolean) => Promise<void>;
  /** Who watches over the host of a variant on a target. Default: nobody. */
  readonly supervise?: (target: Target, variant: Variant) => Supervision | undefined;
  /** Told what is tried. Default: nobody is. */
  readonly onAttempt?: (target: Target, variant: Variant) => void;
}

/** A verified model and how it came to be. */
export interface VerifiedModel {
  readonly model: HostedModel;
  readonly manifest: Manifest;
  readonly variant: Variant;
  readonly target: Target;
  readonly decision: Decision;
  /** What it was estimated to take. */
  readonly need: MemoryAmounts;
  /** Loads the same variant on the same target once more, for runs side by side. */
  loadReplica(settings: LoadSettings, signal?: AbortSignal): Promise<HostedModel>;
}

/** What a choice is made from, and for what. */
export interface SelectionOutcome {
  readonly selections: readonly CheckedCandidate[];
  readonly facts: Pick<SelectionFacts, "openCircuits">;
  readonly manifest: Manifest;
  readonly constraints: Constraints;
  readonly request: LoadRequest;
}

/** Makes the decision for a candidate that runs. `loaded`: whether it was loaded for this choice, and not in memory before. */
export type DecisionFactory = (selected: Selected, digest: string | undefined, loaded: boolean) => Decision;

export type LoadOutcome<Item> = { readonly ok: true; readonly item: Item } | FailedLoad;

/** Selects, then loads the first candidate that holds. */
export async function loadFirstCandidate(
  context: LoadingContext,
  facts: SelectionFacts,
  manifest: Manifest,
  constraints: Constraints,
  request: LoadRequest,
  signal?: AbortSignal,
): Promise<VerifiedModel> {
  const choice = { selections: select(facts, manifest, constraints, request), facts, manifest, constraints, request };
  return tryCandidates(choice, (candidate, decide) => loadCandidate(context, choice, candidate, decide, signal), signal);
}

/** Tries one open candidate after the other until one holds. When none is left, one error lists every candidate with its reason. */
export async function tryCandidates<Item>(
  { selections, facts, manifest, constraints }: SelectionOutcome,
  attempt: (candidate: EligibleCandidate, decide: DecisionFactory) => Promise<LoadOutcome<Item>>,
  signal?: AbortSignal,
): Promise<Item> {
  const candidates: Candidate[] = [];
  const failures: InferyardError[] = [];
  for (const [index, candidate] of selections.entries()) {
    if (candidate.verdict === "refused") {
      candidates.push(candidate);
      continue;
    }
    throwIfAborted(signal);
    const started = performance.now();
    const target = formatTarget(candidate.target);
    const decide: DecisionFactory = (selected, digest, loaded) => {
      const time = loaded ? { milliseconds: performance.now() - started } : {};
      const { reason, variant } = candidate;
      const chosen: Candidate = { target, verdict: "selected", stage: "verify", reason, ...noteOf(candidate), ...time };
      const all = [...candidates, chosen, ...selections.slice(index + 1).map(recordOf)];
      return makeDecision({
        manifest,
        constraints,
        candidates: all,
        selected,
        variant,
        ...(digest === undefined ? {} : { digest }),
      });
    };
    const tried = await attempt(candidate, decide);
    if (tried.ok) return tried.item;
    const { error, stage } = tried;
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
    const milliseconds = performance.now() - started;
    failures.push(error);
    candidates.push({ target, verdict: "failed", stage, reason: error.message, ...remedy, ...noteOf(candidate), milliseconds });
  }
  const decision = makeDecision({ manifest, constraints, candidates, selected: null });
  throw noCandidateError(manifest, constraints, decision, { failures, circuits: [...facts.openCircuits.values()] });
}

/** Loads one candidate and verifies it. */
export async function loadCandidate(
  context: LoadingContext,
  { manifest, request }: SelectionOutcome,
  candidate: EligibleCandidate,
  decide: DecisionFactory,
  signal?: AbortSignal,
): Promise<LoadOutcome<VerifiedModel>> {
  const tried = await attempt(context, candidate, manifest, request.settings, signal);
  if (!tried.ok) return tried;
  const { target, variant } = candidate;
  const { model, evidence, host, need, loadReplica, digest } = tried;
  const place = { target: formatTarget(target), device: formatDevice(target.device), host: host.name };
  const decision = decide({ ...place, library: model.library, evidence }, `sha256:${digest}`, true);
  return { ok: true, item: { model, manifest, variant, target, decision, need, loadReplica } };
}

/** The candidates of a load that is not carried out: the first open one would run. */
export function explainCandidates(selections: readonly CheckedCandidate[]): Candidate[] {
  const first = selections.find(({ verdict }) => verdict === "open");
  return selections.map((selection) =>
    selection === first ? { ...recordOf(selection), verdict: "would-run" } : recordOf(selection),
  );
}

function recordOf(selection: CheckedCandidate): Candidate {
  if (selection.verdict === "refused") return selection;
  const { target, reason } = selection;
  return { target: formatTarget(target), verdict: "not-tried", stage: "load", reason, ...noteOf(selection) };
}

function noteOf({ note }: EligibleCandidate): Pick<Candidate, "note"> {
  return note === undefined ? {} : { note };
}

interface SuccessfulLoad {
  readonly ok: true;
  readonly model: HostedModel;
  readonly evidence: readonly string[];
  readonly host: Host;
  readonly digest: string;
  readonly need: MemoryAmounts;
  loadReplica(settings: LoadSettings, signal?: AbortSignal): Promise<HostedModel>;
}

export interface FailedLoad {
  readonly ok: false;
  readonly stage: "load" | "verify";
  readonly error: InferyardError;
}

async function attempt(
  context: LoadingContext,
  { target, variant }: EligibleCandidate,
  manifest: Manifest,
  settings: LoadSettings,
  signal: AbortSignal | undefined,
): Promise<SuccessfulLoad | FailedLoad> {
  const backend = context.backends.find(({ name }) => name === target.backend);
  if (backend === undefined)
    throw new InferyardError("CONTRACT_VIOLATION", `selection chose "${target.backend}", which is not registered`);
  const capabilities = backend.capabilities(target.device);
  const host = context.hosts[selectHost(context.host, capabilities, variant, backend.entry !== undefined)];
  const known = context.knownSize?.(target, variant);
  const need = known ?? estimateMemory(target, variant, manifest.requirements, capabilities, host.name);
  await context.bookMemory?.(need, known !== undefined);
  throwIfAborted(signal);
  context.onAttempt?.(target, variant);
  const supervision = context.supervise?.(target, variant);
  const copies = new ReplicaGroup();
  const place = async (wanted: LoadSettings, loadSignal: AbortSignal | undefined): Promise<HostedModel> => {
    const threads = capabilities.options.includes("threads") ? { threads: context.threads(wanted.threads) } : {};
    const stop = loadSignal === undefined ? {} : { signal: loadSignal };
    return host.load(
      backend,
      variant,
      target.device,
      { ...context.limits, ...settings, ...wanted, ...threads, ...stop },
      supervision,
      copies,
    );
  };
  const loadReplica: VerifiedModel["loadReplica"] = (wanted, copySignal) =>
    loadWithTimeout(supervision ?? unsupervised, host.name, copySignal, (loadSignal) => place(wanted, loadSignal));
  const digest = context.digestOf(variant); // beside the load: another thread does that
  digest.catch(() => {}); // reported below; a model that does not load may be unreadable without it mattering
  let stage = "load" as FailedLoad["stage"];
  try {
    return await loadWithTimeout(supervision ?? unsupervised, host.name, signal, async (loadSignal): Promise<SuccessfulLoad> => {
      const model = await place(settings, loadSignal);
      stage = "verify";
      try {
        const evidence = await verify(model, manifest, context.checkAnswers, loadSignal);
        refuseOtherDigest(variant, await digest);
        return { ok: true, model, evidence, host, digest: await digest, need, loadReplica };
      } catch (error) {
        await model.dispose({ waitMs: 0 });
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof InferyardError && (errorKinds[error.code].tryNext || (stage === "verify" && error.code !== "ABORTED"))) {
      return { ok: false, stage, error };
    }
    throw error;
  }
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
