/** The load loop: candidates in order; load in the host, verify, stop at the first that holds, and record everything. */
import type { Backend, LoadLimits, LoadSettings } from "../../backend.ts";
import { InferyardError, errorKinds, throwIfAborted } from "../../errors.ts";
import { CopyGroup } from "../../hosts/replica-group.ts";
import type { Host, HostName, HostedModel } from "../../hosts/host.ts";
import { loadWithin } from "../../hosts/load-timeout.ts";
import { type Supervision, unsupervised } from "../../hosts/supervision.ts";
import { type Amounts, estimate } from "../residency/memory-budget.ts";
import { type HostChoice, hostFor } from "./host-selection.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { type Candidate, type Decision, type Selected, makeDecision } from "../decision/decision.ts";
import { noCandidateError } from "../decision/no-candidate-error.ts";
import { type LoadRequest, type OpenCandidate, type Selection, select } from "../selection/selection.ts";
import type { SelectionFacts } from "../selection/selection-facts.ts";
import { type Target, formatDevice, formatTarget } from "../selection/target.ts";
import { type AnswerCheck, verify } from "./verification.ts";
import type { Wish } from "../selection/constraints.ts";

/** What the loop needs from the runtime. */
export interface LoadingContext {
  readonly backends: readonly Backend[];
  readonly hosts: Readonly<Record<HostName, Host>>;
  readonly host: HostChoice;
  /** What models may take. Default: the backends' own limits. */
  readonly limits?: LoadLimits;
  /** Threads for an engine when the user set none, or the user's number clamped to the CPU quota. */
  readonly threads: (wanted: number | undefined) => number;
  readonly checkAnswers: AnswerCheck;
  /** Hexadecimal sha256 of a variant's main file. */
  readonly digestOf: (variant: Variant) => Promise<string>;
  /** What the same variant took on the same target before. Default: nothing is known. */
  readonly knownSize?: (target: Target, variant: Variant) => Amounts | undefined;
  /**
   * Waits until there is room for the model; throws MEMORY_BUDGET where none can be made. `known`: the need was seen, not estimated.
   * Default: there is room.
   */
  readonly book?: (need: Amounts, known: boolean) => Promise<void>;
  /** Who watches over the host of a variant on a target. Default: nobody. */
  readonly supervise?: (target: Target, variant: Variant) => Supervision | undefined;
  /** Told what is tried. Default: nobody is. */
  readonly onAttempt?: (target: Target, variant: Variant) => void;
}

/** A verified model and how it came to be. */
export interface Loaded {
  readonly model: HostedModel;
  readonly manifest: Manifest;
  readonly variant: Variant;
  readonly target: Target;
  readonly decision: Decision;
  /** What it was estimated to take. */
  readonly need: Amounts;
  /** Loads the same variant on the same target once more, for runs side by side. */
  copy(settings: LoadSettings, signal?: AbortSignal): Promise<HostedModel>;
}

/** What a choice is made from, and for what. */
export interface Choice {
  readonly selections: readonly Selection[];
  readonly facts: Pick<SelectionFacts, "openCircuits">;
  readonly manifest: Manifest;
  readonly wish: Wish;
  readonly request: LoadRequest;
}

/** Makes the decision for a candidate that runs. `loaded`: whether it was loaded for this choice, and not in memory before. */
export type Decide = (selected: Selected, digest: string | undefined, loaded: boolean) => Decision;

export type Tried<Item> = { readonly ok: true; readonly item: Item } | FailedAttempt;

/** Selects, then loads the first candidate that holds. */
export async function loadFirst(
  context: LoadingContext,
  facts: SelectionFacts,
  manifest: Manifest,
  wish: Wish,
  request: LoadRequest,
  signal?: AbortSignal,
): Promise<Loaded> {
  const choice = { selections: select(facts, manifest, wish, request), facts, manifest, wish, request };
  return tryCandidates(choice, (candidate, decide) => loadCandidate(context, choice, candidate, decide, signal), signal);
}

/** Tries one open candidate after the other until one holds. When none is left, one error lists every candidate with its reason. */
export async function tryCandidates<Item>(
  { selections, facts, manifest, wish }: Choice,
  attempt: (candidate: OpenCandidate, decide: Decide) => Promise<Tried<Item>>,
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
    const decide: Decide = (selected, digest, loaded) => {
      const time = loaded ? { milliseconds: performance.now() - started } : {};
      const { reason, variant } = candidate;
      const chosen: Candidate = { target, verdict: "selected", stage: "verify", reason, ...noteOf(candidate), ...time };
      const all = [...candidates, chosen, ...selections.slice(index + 1).map(recordOf)];
      return makeDecision({ manifest, wish, candidates: all, selected, variant, ...(digest === undefined ? {} : { digest }) });
    };
    const tried = await attempt(candidate, decide);
    if (tried.ok) return tried.item;
    const { error, stage } = tried;
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
    const milliseconds = performance.now() - started;
    failures.push(error);
    candidates.push({ target, verdict: "failed", stage, reason: error.message, ...remedy, ...noteOf(candidate), milliseconds });
  }
  const decision = makeDecision({ manifest, wish, candidates, selected: null });
  throw noCandidateError(manifest, wish, decision, { failures, circuits: [...facts.openCircuits.values()] });
}

/** Loads one candidate and verifies it. */
export async function loadCandidate(
  context: LoadingContext,
  { manifest, request }: Choice,
  candidate: OpenCandidate,
  decide: Decide,
  signal?: AbortSignal,
): Promise<Tried<Loaded>> {
  const tried = await attempt(context, candidate, manifest, request.settings, signal);
  if (!tried.ok) return tried;
  const { target, variant } = candidate;
  const { model, evidence, host, need, copy, digest } = tried;
  const place = { target: formatTarget(target), device: formatDevice(target.device), host: host.name };
  const decision = decide({ ...place, library: model.library, evidence }, `sha256:${digest}`, true);
  return { ok: true, item: { model, manifest, variant, target, decision, need, copy } };
}

/** The candidates of a load that is not carried out: the first open one would run. */
export function explainCandidates(selections: readonly Selection[]): Candidate[] {
  const first = selections.find(({ verdict }) => verdict === "open");
  return selections.map((selection) =>
    selection === first ? { ...recordOf(selection), verdict: "would-run" } : recordOf(selection),
  );
}

function recordOf(selection: Selection): Candidate {
  if (selection.verdict === "refused") return selection;
  const { target, reason } = selection;
  return { target: formatTarget(target), verdict: "not-tried", stage: "load", reason, ...noteOf(selection) };
}

function noteOf({ note }: OpenCandidate): Pick<Candidate, "note"> {
  return note === undefined ? {} : { note };
}

interface Attempt {
  readonly ok: true;
  readonly model: HostedModel;
  readonly evidence: readonly string[];
  readonly host: Host;
  readonly digest: string;
  readonly need: Amounts;
  copy(settings: LoadSettings, signal?: AbortSignal): Promise<HostedModel>;
}

export interface FailedAttempt {
  readonly ok: false;
  readonly stage: "load" | "verify";
  readonly error: InferyardError;
}

async function attempt(
  context: LoadingContext,
  { target, variant }: OpenCandidate,
  manifest: Manifest,
  settings: LoadSettings,
  signal: AbortSignal | undefined,
): Promise<Attempt | FailedAttempt> {
  const backend = context.backends.find(({ name }) => name === target.backend);
  if (backend === undefined)
    throw new InferyardError("CONTRACT_VIOLATION", `selection chose "${target.backend}", which is not registered`);
  const capabilities = backend.capabilities(target.device);
  const host = context.hosts[hostFor(context.host, capabilities, variant, backend.entry !== undefined)];
  const known = context.knownSize?.(target, variant);
  const need = known ?? estimate(target, variant, manifest.requirements, capabilities, host.name);
  await context.book?.(need, known !== undefined);
  throwIfAborted(signal);
  context.onAttempt?.(target, variant);
  const supervision = context.supervise?.(target, variant);
  const copies = new CopyGroup();
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
  const copy: Loaded["copy"] = (wanted, copySignal) =>
    loadWithin(supervision ?? unsupervised, host.name, copySignal, (loadSignal) => place(wanted, loadSignal));
  const digest = context.digestOf(variant); // beside the load: another thread does that
  digest.catch(() => {}); // reported below; a model that does not load may be unreadable without it mattering
  let stage = "load" as FailedAttempt["stage"];
  try {
    return await loadWithin(supervision ?? unsupervised, host.name, signal, async (loadSignal): Promise<Attempt> => {
      const model = await place(settings, loadSignal);
      stage = "verify";
      try {
        const evidence = await verify(model, manifest, context.checkAnswers, loadSignal);
        refuseOtherDigest(variant, await digest);
        return { ok: true, model, evidence, host, digest: await digest, need, copy };
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
