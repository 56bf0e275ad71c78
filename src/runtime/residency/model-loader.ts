/** Loads a candidate, wraps it as a resident model with its replicas, and loads it again on another target after a failure. */
import type { Backend, Device, LoadLimits } from "../../contract/backend.ts";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { omitUndefined, required } from "../../contract/checked.ts";
import { threadsFor } from "../../devices/threads.ts";
import { InferyardError } from "../../contract/errors.ts";
import { type ModelReference, computeDigest } from "../../models/index.ts";
import { type DividedPlacement, isDivided } from "../../models/placement.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";
import type { SupervisionFactory } from "../supervision/supervisor.ts";
import { type MemoryAmounts, heldMemory } from "../selection/memory-budget.ts";
import { replicaCount } from "./replica-count.ts";
import type { MemoryBooking } from "./residency.ts";
import { ResidentModel, type ResidentModelOptions } from "./resident-model.ts";
import type { ModelSelector, ModelSelectorParts } from "../selection/model-selector.ts";
import type { CheckedCandidate, EligibleCandidate } from "../selection/selection.ts";
import type { SelectionOutcome } from "../selection/selection-outcome.ts";
import { formatTarget, placementKey } from "../targets/target.ts";
import { trialSupervision } from "../supervision/trial-supervision.ts";
import { makeDecision } from "../decision/decision.ts";
import { getFallbacks } from "../decision/fallbacks.ts";
import {
  type DecisionFactory,
  type LoadOutcome,
  type LoadingContext,
  type VerifiedModel,
  loadCandidate,
  loadFirstCandidate,
} from "../loading/loading.ts";
import type { AnswerCheck } from "../loading/verification.ts";

/** The parts of a runtime that loading needs. */
export interface ModelLoaderParts extends ModelSelectorParts {
  readonly backends: readonly Backend[];
  readonly loadLimits: LoadLimits;
  readonly checkAnswers: AnswerCheck;
  readonly selector: ModelSelector;
}

/** A candidate that must be loaded, and everything the load needs. */
export interface CandidateLoad {
  readonly reference: ModelReference;
  readonly options: Omit<ModelOptions, "signal">;
  readonly outcome: SelectionOutcome;
  readonly candidate: EligibleCandidate;
  readonly decide: DecisionFactory;
  readonly signal: AbortSignal;
  readonly booking: MemoryBooking;
  /** Called when the model was unloaded. */
  readonly onUnloaded: (resident: ResidentModel) => void;
}

/** The model of this package, which lives inline. */
const builtinName = "builtin";

/** A second instance of a model, loaded while the first one serves. */
export interface TrialModel {
  readonly loaded: VerifiedModel;
  /** Called when it serves: its deaths are counted from here on. */
  promote(): void;
}

/** Loads the models of one runtime and reports each load as an event. */
export class ModelLoader {
  readonly #parts: ModelLoaderParts;
  readonly #supervisionFor: SupervisionFactory;
  /** Memory measured when a model was unloaded, by `placementKey`. */
  readonly #measuredMemory = new Map<string, MemoryAmounts>();
  /** How each model was loaded. */
  readonly #loads = new WeakMap<ResidentModel, CandidateLoad>();
  #hasPrepared = false;

  constructor(parts: ModelLoaderParts) {
    this.#parts = parts;
    this.#supervisionFor = parts.platform.createSupervision(parts.settings, parts.circuits);
  }

  /**
   * Starts the thread of the first model beside the reading of its files, where it will probably have one. Later loads start theirs themselves: a request for a model that cannot be
   * loaded must not cost a thread each time. The returned function is called when the load has ended, in whatever way.
   */
  prepareThread({ text }: ModelReference): () => void {
    const { backends, platform, selector } = this.#parts;
    const { requested, blocking } = selector.hostPolicy();
    const mayNeedThread = (requested ?? blocking) === "worker" && backends.some(({ entry }) => entry !== undefined);
    if (this.#hasPrepared || !mayNeedThread || text === builtinName) return () => {};
    this.#hasPrepared = true;
    return platform.hosts.worker.prepare?.() ?? (() => {});
  }

  /** Loads and verifies one candidate. A failure that permits another candidate is returned; any other error is thrown. */
  async load(load: CandidateLoad): Promise<LoadOutcome<ResidentModel>> {
    const { reference, outcome, candidate, decide, signal, booking } = load;
    const { backends } = this.#parts;
    for (;;) {
      const used = [...backends];
      const result = await loadCandidate(await this.#context(reference.text, booking), outcome, candidate, decide, signal);
      const isReplaced = backends.some((backend, index) => backend !== used[index] && backend.name === candidate.target.backend);
      if (!isReplaced) {
        if (!result.ok) return result;
        this.#reportLoaded(reference.text, result.item);
        const resident = await this.#residentOf(load, result.item);
        this.#loads.set(resident, load);
        return { ok: true, item: resident };
      }
      if (result.ok) await result.item.model.dispose({ waitMs: 0 }); // its library was replaced while it was loaded
    }
  }

  /**
   * Loads a model once more, on the same target with another instance of its backend, while it serves. The decision differs from the model's decision only in
   * `selected`.
   */
  async loadBeside(resident: ResidentModel, backend: Backend, signal: AbortSignal | undefined): Promise<TrialModel> {
    const load = this.#loads.get(resident);
    if (load === undefined) throw new InferyardError("CONTRACT_VIOLATION", "a model is loaded that this loader did not load");
    const { outcome, candidate, booking } = load;
    const { text: reference } = load.reference;
    const { decision: before, need, target, variant } = resident.loaded;
    if (!booking.grow(need)) {
      throw new InferyardError("MEMORY_BUDGET", `there is no memory for ${reference} with two libraries at a time`, {
        remedy: "raise maxMemory, or unload models that are not needed",
      });
    }
    const supervision = trialSupervision(this.#supervisionFor(reference, target, variant));
    const context = { ...(await this.#context(reference, booking)), backends: [backend], supervise: () => supervision };
    const started = performance.now();
    const decide: DecisionFactory = (selected, digest) => {
      const { name, version } = selected.library;
      const time = { reason: `${name} ${version}, ${variant.name}`, milliseconds: performance.now() - started };
      const candidates = before.candidates.map((each) => (each.verdict === "selected" ? { ...each, ...time } : each));
      const { manifest, constraints } = outcome;
      return makeDecision({ manifest, constraints, candidates, selected, variant, ...omitUndefined({ digest }) });
    };
    const trial = { ...context, bookMemory: async () => {} }; // booked above, beside the model that serves
    try {
      const result = await loadCandidate(trial, outcome, { ...candidate, target, variant }, decide, signal);
      if (!result.ok) throw result.error;
      return { loaded: result.item, promote: () => supervision.promote() };
    } catch (error) {
      booking.correct(resident.heldMemory);
      throw error;
    }
  }

  /** Gives back the memory of a trial that does not serve. */
  async dropTrial(resident: ResidentModel, { loaded }: TrialModel): Promise<void> {
    await loaded.model.dispose({ waitMs: 0 });
    this.#loads.get(resident)?.booking.correct(resident.heldMemory);
  }

  async #residentOf(load: CandidateLoad, loaded: VerifiedModel): Promise<ResidentModel> {
    const { settings, circuits, loadLimits } = this.#parts;
    const { outcome, booking, onUnloaded } = load;
    const { text: reference } = load.reference;
    const { replicas = "auto", failover = false } = settings;
    const move = async (failed: VerifiedModel, failure: InferyardError, moveSignal: AbortSignal): Promise<VerifiedModel> => {
      const target = formatTarget(failed.target);
      circuits.open(target, `it failed while running: ${failure.message}`);
      settings.onEvent?.({ type: "failover", reference, from: target, reason: failure.message });
      return this.#loadOnNextTarget(load, moveSignal);
    };
    const devices = findDevices(loaded, outcome.selections);
    const count = replicas === "auto" ? await this.#replicaCount(loaded, outcome.request.settings) : replicas;
    const resident: ResidentModel = new ResidentModel(loaded, {
      replicas: isDivided(loaded.placement) ? 1 : count,
      spreadOverlappingRuns: replicas !== "auto",
      devices,
      maxRunMemory: loadLimits.maxRunMemory,
      booking,
      ...(failover ? { failover: move } : {}),
      onDispose: (target, reason) => {
        this.#recordMemory(resident.loaded);
        onUnloaded(resident);
        settings.onEvent?.({ type: "unloaded", reference, target, ...reason });
      },
    });
    if (devices !== undefined) await resident.replicas();
    return resident;
  }

  #reportLoaded(reference: string, { decision, target }: VerifiedModel): void {
    const { onEvent } = this.#parts.settings;
    onEvent?.({ type: "loaded", decision });
    for (const fallback of getFallbacks(decision, formatTarget(target))) onEvent?.({ type: "fallback", reference, ...fallback });
  }

  async #replicaCount(loaded: VerifiedModel, { threads }: UserLoadSettings): Promise<number> {
    const machine = await this.#parts.facts.machine();
    return replicaCount(loaded, machine, threadsFor(machine.cpu, threads));
  }

  #recordMemory({ target, variant, need, model }: VerifiedModel): void {
    const held = heldMemory(model.memory, need);
    if (held !== need) this.#measuredMemory.set(placementKey(target, variant), held);
  }

  async #loadOnNextTarget({ reference, options, booking }: CandidateLoad, signal: AbortSignal): Promise<VerifiedModel> {
    const selection = await this.#parts.selector.select(reference, options, { download: true, signal });
    const loaded = await loadFirstCandidate(await this.#context(reference.text, booking), selection, signal);
    this.#reportLoaded(reference.text, loaded);
    return loaded;
  }

  async #context(reference: string, booking: MemoryBooking): Promise<LoadingContext> {
    const { backends, platform, selector, loadLimits, checkAnswers, digests, settings, facts } = this.#parts;
    const machine = await facts.machine();
    const { placement, ranks = 2 } = settings;
    return {
      backends,
      placement,
      ...(platform.divideModels === undefined
        ? {}
        : {
            divide: async (backend: Backend, divided: DividedPlacement): Promise<Backend> =>
              required(await platform.divideModels?.(backend, { placement: divided, ranks }), "the divided backend"),
          }),
      hosts: platform.hosts,
      host: selector.hostPolicy(),
      limits: loadLimits,
      threads: (wanted) => threadsFor(machine.cpu, wanted),
      checkAnswers,
      computeDigest: (variant) => computeDigest(variant, digests),
      knownSize: (target, variant) => this.#measuredMemory.get(placementKey(target, variant)),
      supervise: (target, variant) => this.#supervisionFor(reference, target, variant),
      onAttempt: (target, { bytes }) => settings.onEvent?.({ type: "loading", reference, target: formatTarget(target), bytes }),
      bookMemory: (need, known) => booking.book(need, known),
    };
  }
}

/** The other devices of the same kind that passed the checks for the same variant; undefined if the model is on one device alone. */
function findDevices(
  { model, placement, target, variant }: VerifiedModel,
  selections: readonly CheckedCandidate[],
): ResidentModelOptions["devices"] {
  if (placement === undefined || isDivided(placement) || model.kind === "language") return undefined;
  const others = selections.flatMap((each): Device[] => {
    if (each.verdict !== "eligible" || each.target.backend !== target.backend || each.variant.path !== variant.path) return [];
    const { device } = each.target;
    return device.type === target.device.type && device.index !== target.device.index ? [device] : [];
  });
  return others.length === 0 ? undefined : { others, order: placement === "round-robin" ? "in-turn" : "least-work" };
}
