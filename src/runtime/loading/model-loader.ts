/** Loads a candidate, wraps it as a resident model with its replicas, and loads it again on another target after a failure. */
import type { Backend, LoadLimits } from "../../backend.ts";
import { threadsFor } from "../../devices/threads.ts";
import type { InferyardError } from "../../errors.ts";
import { type DigestCache, digestOf, resolveReference } from "../../models/index.ts";
import type { ModelOptions, RuntimeSettings } from "../options/runtime-settings.ts";
import type { Platform, SupervisionFactory } from "../platform.ts";
import { type MemoryAmounts, heldMemory } from "../residency/memory-budget.ts";
import { replicaCount } from "../residency/replica-count.ts";
import type { MemoryBooking } from "../residency/residency.ts";
import { ResidentModel } from "../residency/resident-model.ts";
import type { CandidateLoad } from "../residency/shared-models.ts";
import type { FactsReader } from "../selection/facts-reader.ts";
import type { ModelSelector } from "../selection/model-selector.ts";
import { formatTarget, placementKey } from "../selection/target.ts";
import type { CircuitBreakers } from "../supervision/circuit-breakers.ts";
import { type LoadOutcome, type LoadingContext, type VerifiedModel, loadCandidate, loadFirstCandidate } from "./loading.ts";
import type { AnswerCheck } from "./verification.ts";

/** The parts of a runtime that loading needs. */
export interface ModelLoaderParts {
  readonly backends: readonly Backend[];
  readonly settings: RuntimeSettings;
  readonly loadLimits: LoadLimits;
  readonly checkAnswers: AnswerCheck;
  readonly platform: Platform;
  readonly facts: FactsReader;
  readonly circuits: CircuitBreakers;
  readonly digests: DigestCache;
  readonly selector: ModelSelector;
  /** Called when a model was unloaded. */
  readonly onUnloaded: (resident: ResidentModel) => void;
}

/** Loads the models of one runtime and reports each load as an event. */
export class ModelLoader {
  readonly #parts: ModelLoaderParts;
  readonly #supervisionFor: SupervisionFactory;
  /** Memory measured when a model was unloaded, by `placementKey`. */
  readonly #measuredMemory = new Map<string, MemoryAmounts>();

  constructor(parts: ModelLoaderParts) {
    this.#parts = parts;
    this.#supervisionFor = parts.platform.createSupervision(parts.settings, parts.circuits);
  }

  /** Loads and verifies one candidate. A failure that permits another candidate is returned; any other error is thrown. */
  async load(load: CandidateLoad): Promise<LoadOutcome<ResidentModel>> {
    const { reference, options, outcome, candidate, decide, signal, booking } = load;
    const result = await loadCandidate(await this.#context(reference, booking), outcome, candidate, decide, signal);
    if (!result.ok) return result;
    this.#parts.settings.onEvent?.({ type: "loaded", decision: result.item.decision });
    return { ok: true, item: await this.#residentOf(reference, options, result.item, booking) };
  }

  async #residentOf(
    reference: string,
    options: ModelOptions,
    loaded: VerifiedModel,
    booking: MemoryBooking,
  ): Promise<ResidentModel> {
    const { settings, circuits, loadLimits, onUnloaded } = this.#parts;
    const { replicas = "auto", failover = false } = settings;
    const move = async (failed: VerifiedModel, failure: InferyardError, moveSignal: AbortSignal): Promise<VerifiedModel> => {
      const target = formatTarget(failed.target);
      circuits.open(target, `it failed while running: ${failure.message}`);
      settings.onEvent?.({ type: "failover", reference, from: target, reason: failure.message });
      return this.#loadOnNextTarget(reference, options, booking, moveSignal);
    };
    const resident: ResidentModel = new ResidentModel(loaded, {
      replicas: replicas === "auto" ? await this.#replicaCount(loaded, options) : replicas,
      spreadOverlappingRuns: replicas !== "auto",
      maxRunMemory: loadLimits.maxRunMemory,
      booking,
      ...(failover ? { failover: move } : {}),
      onDispose: (target, reason) => {
        this.#recordMemory(resident.loaded);
        onUnloaded(resident);
        settings.onEvent?.({ type: "unloaded", reference, target, ...reason });
      },
    });
    return resident;
  }

  async #replicaCount(loaded: VerifiedModel, options: ModelOptions): Promise<number> {
    const machine = await this.#parts.facts.machine();
    return replicaCount(loaded, machine, threadsFor(machine.cpu, options.threads ?? this.#parts.settings.threads));
  }

  #recordMemory({ target, variant, need, model }: VerifiedModel): void {
    const held = heldMemory(model.memory, need);
    if (held !== need) this.#measuredMemory.set(placementKey(target, variant), held);
  }

  async #loadOnNextTarget(
    reference: string,
    options: ModelOptions,
    booking: MemoryBooking,
    signal: AbortSignal,
  ): Promise<VerifiedModel> {
    const selection = await this.#parts.selector.select(await resolveReference(reference), options, { download: true, signal });
    const { facts, manifest, constraints, request } = selection;
    const context = await this.#context(reference, booking);
    const loaded = await loadFirstCandidate(context, facts, manifest, constraints, request, signal);
    this.#parts.settings.onEvent?.({ type: "loaded", decision: loaded.decision });
    return loaded;
  }

  async #context(reference: string, booking: MemoryBooking): Promise<LoadingContext> {
    const { backends, platform, selector, loadLimits, checkAnswers, digests, settings, facts } = this.#parts;
    const machine = await facts.machine();
    return {
      backends,
      hosts: platform.hosts,
      host: selector.hostPolicy(),
      limits: loadLimits,
      threads: (wanted) => threadsFor(machine.cpu, wanted),
      checkAnswers,
      digestOf: (variant) => digestOf(variant, digests),
      knownSize: (target, variant) => this.#measuredMemory.get(placementKey(target, variant)),
      supervise: (target, variant) => this.#supervisionFor(reference, target, variant),
      onAttempt: (target, { bytes }) => settings.onEvent?.({ type: "loading", reference, target: formatTarget(target), bytes }),
      bookMemory: (need, known) => booking.book(need, known),
    };
  }
}
