/** The runtime below the tasks: it holds the registry of backends, finds each model its place, and keeps it while it is used. */
import type { Backend, LoadLimits, LoadSettings, MachineFacts } from "../backend.ts";
import { threadsFor } from "../devices/threads.ts";
import { InferyardError, messageOf } from "../errors.ts";
import {
  type DigestCache,
  type Manifest,
  type Variant,
  createDigestCache,
  digestOf,
  canonicalReference,
  readManifest,
} from "../models/index.ts";
import { type MemoryAmounts, type MemoryLimits, heldMemory, parseMemoryLimits } from "./residency/memory-budget.ts";
import { CircuitBreakers } from "./supervision/circuit-breakers.ts";
import { replicaCount } from "./residency/replica-count.ts";
import { type Decision, makeDecision } from "./decision/decision.ts";
import { parseDuration } from "./options/duration.ts";
import { FactsReader } from "./selection/facts-reader.ts";
import { type HostPolicy, hostPolicy } from "./loading/host-selection.ts";
import {
  type SelectionOutcome,
  type VerifiedModel,
  type LoadingContext,
  type LoadOutcome,
  explainCandidates,
  loadCandidate,
  loadFirstCandidate,
} from "./loading/loading.ts";
import { ModelHandle } from "./model-handle.ts";
import {
  checkLoadSettings,
  checkRuntimeSettings,
  parseLoadLimits,
  mergeLoadSettings,
  modelOptionNames,
  refuseUnknown,
} from "./options/options.ts";
import type { BackendReport, MemoryReport } from "./reports.ts";
import type { ModelOptions, ModelSettings, RuntimeDisposeOptions, RuntimeSettings } from "./options/runtime-settings.ts";
import { validateBackends } from "./selection/backend-registry.ts";
import { Residency, type MemoryBooking, type Reservation } from "./residency/residency.ts";
import { ResidentModel } from "./residency/resident-model.ts";
import { select } from "./selection/selection.ts";
import type { SelectionFacts } from "./selection/selection-facts.ts";
import { type CandidateLoad, SharedModels } from "./residency/shared-models.ts";
import type { SupervisionFactory, Platform } from "./platform.ts";
import { formatTarget, placementKey } from "./selection/target.ts";
import { waitAtMost } from "../concurrency/time-limit.ts";
import type { SchedulingKey } from "./scheduling/scheduling-key.ts";
import { refuseUnknownVariant, variantOption } from "./selection/variant-selection.ts";
import type { AnswerCheck } from "./loading/verification.ts";
import { type Constraints, type ConstraintOptions, mergeConstraints } from "./selection/constraints.ts";

/** A target that failed while running is left alone for this long. */
const circuitRestMs = 60_000;
const defaultKeepAlive = "5m";
const defaultMemoryWait = "30s";
const defaultDisposeTimeout = "30s";
/** Time to free models and backends at the end, in milliseconds, after the calls that were waited for. */
const maxFreeMs = 4_000;

export class ModelRuntime {
  readonly #backends: readonly Backend[];
  readonly #settings: RuntimeSettings;
  readonly #checkAnswers: AnswerCheck;
  readonly #platform: Platform;
  readonly #facts: FactsReader;
  readonly #circuits = new CircuitBreakers(circuitRestMs);
  readonly #supervisionFor: SupervisionFactory;
  readonly #limits: MemoryLimits | undefined;
  readonly #loadLimits: LoadLimits;
  readonly #residency: Residency<ResidentModel>;
  readonly #models: SharedModels;
  /** What models that have left were seen to take, by what `placedFile` gives. */
  readonly #measuredMemory = new Map<string, MemoryAmounts>();
  readonly #digests: DigestCache = createDigestCache();
  #disposal: Promise<void> | undefined;

  constructor(backends: readonly Backend[], settings: RuntimeSettings, checkAnswers: AnswerCheck, surroundings: Platform) {
    checkRuntimeSettings(settings);
    this.#backends = validateBackends(backends);
    this.#settings = settings;
    this.#checkAnswers = checkAnswers;
    this.#platform = surroundings;
    this.#facts = new FactsReader(this.#backends, surroundings.machine);
    this.#limits = parseMemoryLimits(settings);
    this.#loadLimits = parseLoadLimits(settings);
    this.#supervisionFor = surroundings.createSupervision(settings, this.#circuits);
    this.#residency = new Residency({
      keepAliveMs: parseDuration(settings.keepAlive ?? defaultKeepAlive),
      ...(this.#limits === undefined ? {} : { limits: this.#limits }),
      waitMs: parseDuration(settings.memoryWait ?? defaultMemoryWait),
    });
    this.#models = new SharedModels({
      residency: this.#residency,
      failover: settings.failover ?? false,
      reservationFor: (reference) => this.#reservationFor(reference),
      choose: ({ reference, options }, fetch, signal) => this.#choose(reference, options, fetch, signal),
      load: (load) => this.#loadResident(load),
      onFailed: (reference, error) => this.#reportFailedLoad(reference, error),
    });
    mergeConstraints(settings, ...Object.values(settings.models ?? {})); // a bad target is refused now, not at the first load
  }

  /** Facts about this machine, read once; `again` reads them anew. */
  machine(options: { readonly again?: boolean } = {}): Promise<MachineFacts> {
    return this.#facts.machine(options);
  }

  /** Loads a model, or joins the load under way, or takes the one in memory. Dispose the handle when done with it. */
  load(reference: string, options: ModelOptions = {}): Promise<ModelHandle> {
    return this.#acquire(reference, options, "handle");
  }

  /**
   * Loads a model for one piece of work and gives it back after. A model that is only held so is known to be free soon: when room is
   * needed, nobody new gets it and it leaves, which a model held by a handle does not. `turn`: whose work it is, where calls share batches.
   */
  async use<Result>(
    reference: string,
    options: ModelOptions,
    work: (model: ModelHandle) => Promise<Result>,
    turn?: SchedulingKey,
  ): Promise<Result> {
    const handle = await this.#acquire(reference, options, "work", turn);
    try {
      return await work(handle);
    } finally {
      await handle.dispose();
    }
  }

  /** As `use` with the model that is in memory for these options; undefined where there is none, or it is about to leave. Nothing is loaded. */
  async useLoaded<Result>(
    reference: string,
    options: Omit<ModelOptions, "signal">,
    work: (model: ModelHandle) => Promise<Result>,
  ): Promise<Result | undefined> {
    checkCall(reference, options);
    const held = this.#models.acquireLoaded({ reference, options, leaseKind: "work" });
    if (held === undefined) return undefined;
    const handle = new ModelHandle(reference, held);
    try {
      return await work(handle);
    } finally {
      await handle.dispose();
    }
  }

  /** Loads what the settings say is to be loaded at the start. The first that cannot be loaded is thrown. */
  async preload(): Promise<void> {
    const { models = {}, preload = [] } = this.#settings;
    const early = Object.entries(models).filter(([, { strategy = "lazy" }]) => strategy !== "lazy");
    const references = new Set([...early.map(([reference]) => reference), ...preload]);
    await Promise.all([...references].map((reference) => this.use(reference, {}, async () => {})));
  }

  /** The decision a load would make, with nothing loaded. */
  async explain(reference: string, options: ModelOptions = {}): Promise<Decision> {
    checkCall(reference, options);
    const manifest = await readManifest(reference, variantOption(options));
    const constraints = await this.#constraintsFor(reference, options);
    const request = this.#requestFor(options, manifest);
    const facts = await this.#factsFor(manifest, constraints, request.settings);
    const candidates = explainCandidates(select(facts, manifest, constraints, request));
    return makeDecision({ manifest, constraints, candidates, selected: null });
  }

  /** What the model's files say, with nothing loaded; they are fetched where they are not on this machine. */
  async manifest(reference: string, options: ModelOptions = {}): Promise<Manifest> {
    checkCall(reference, options);
    const fetch = (missing: string): Promise<void> => this.#download(reference, missing, options, options.signal);
    return readManifest(reference, { ...variantOption(options), fetch });
  }

  /** What each backend says of itself. `run`: after running a tiny computation on each device. */
  async backends(options: { readonly run?: boolean; readonly signal?: AbortSignal } = {}): Promise<BackendReport[]> {
    if (options.run !== true) {
      const facts = await this.#facts.read(this.#circuits, { again: true });
      return facts.backends.map(({ name, availability }) => ({ backend: name, availability }));
    }
    const reports = this.#backends.map(async (backend) => ({
      backend: backend.name,
      availability: await this.#facts.run(backend, options.signal),
    }));
    return Promise.all(reports);
  }

  /** Whether a load with these options would take a model that is in memory. */
  async isLoaded(reference: string, options: ModelOptions = {}): Promise<boolean> {
    checkCall(reference, options);
    const { signal: _signal, ...asked } = options;
    return this.#models.isLoaded({ reference, options: asked });
  }

  /** The decisions of the models in memory. */
  async loaded(): Promise<Decision[]> {
    const residents = await this.#residency.items();
    return residents.map((resident) => resident.loaded.decision);
  }

  /** Unloads every model that no one holds, at once; pinned ones stay. */
  unloadIdle(): Promise<void> {
    return this.#residency.clear();
  }

  /**
   * Unloads a model, pinned or not, as soon as nobody uses it; who asks for it meanwhile waits and loads it anew. Says whether it was in
   * memory.
   */
  async unload(reference: string, options: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    return (await this.#residency.unload(await canonicalReference(reference), options.signal)) > 0;
  }

  /** What the models in memory hold, and what they may. */
  memory(): MemoryReport {
    const limits = this.#limits;
    return {
      limits:
        limits === undefined ? null : { bytes: limits.bytes, models: Number.isFinite(limits.models) ? limits.models : null },
      models: this.#residency.entries().map(({ reference, state, item }) => {
        const { measure } = item.loaded.model.memory;
        return {
          reference,
          target: formatTarget(item.loaded.target),
          state,
          bytes: item.heldMemory,
          measure: measure === "weights" ? "estimated" : measure,
        };
      }),
    };
  }

  /**
   * Unloads everything and refuses further use; loads under way are cancelled. A second call waits for the first. It ends within `timeout` and 4
   * seconds, whatever the models do.
   */
  dispose({ timeout = defaultDisposeTimeout }: RuntimeDisposeOptions = {}): Promise<void> {
    const waitMs = parseDuration(timeout);
    this.#disposal ??= waitAtMost(this.#free(waitMs), waitMs + maxFreeMs);
    return this.#disposal;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #free(waitMs: number): Promise<void> {
    await this.#residency.close(waitMs);
    await Promise.all(Object.values(this.#platform.hosts).map((host) => host.dispose()));
    await Promise.all(this.#backends.map(async (backend) => backend.dispose?.()));
  }

  async #acquire(
    reference: string,
    options: ModelOptions,
    leaseKind: "handle" | "work",
    turn?: SchedulingKey,
  ): Promise<ModelHandle> {
    checkCall(reference, options);
    const { signal, ...asked } = options;
    const request = { reference, options: asked, leaseKind, admitLoad: turn?.admitLoad };
    return new ModelHandle(reference, await this.#models.acquire(request, signal), turn);
  }

  async #reservationFor(reference: string): Promise<Omit<Reservation, "leaseKind">> {
    const location = await canonicalReference(reference);
    const strategy =
      (await this.#settingsFor(location)).findLast((settings) => settings.strategy !== undefined)?.strategy ?? "lazy";
    return { reference, location, pinned: strategy === "pinned", keepAliveExempt: strategy === "eager" };
  }

  #reportFailedLoad(reference: string, error: unknown): void {
    const code = error instanceof InferyardError ? error.code : "DEFECT";
    this.#settings.onEvent?.({ type: "load-failed", reference, code, reason: messageOf(error) });
  }

  async #loadResident({
    reference,
    options,
    choice,
    candidate,
    decide,
    signal,
    booking,
  }: CandidateLoad): Promise<LoadOutcome<ResidentModel>> {
    const tried = await loadCandidate(await this.#context(reference, booking), choice, candidate, decide, signal);
    if (!tried.ok) return tried;
    const { item: loaded } = tried;
    this.#settings.onEvent?.({ type: "loaded", decision: loaded.decision });
    return { ok: true, item: await this.#residentOf(reference, options, loaded, booking) };
  }

  async #residentOf(
    reference: string,
    options: ModelOptions,
    loaded: VerifiedModel,
    booking: MemoryBooking,
  ): Promise<ResidentModel> {
    const { replicas = "auto", failover = false } = this.#settings;
    const copies = replicas === "auto" ? await this.#replicaCount(loaded, options) : replicas;
    const move = async (failed: VerifiedModel, failure: InferyardError, moveSignal: AbortSignal): Promise<VerifiedModel> => {
      const target = formatTarget(failed.target);
      this.#circuits.open(target, `it failed while running: ${failure.message}`);
      this.#settings.onEvent?.({ type: "failover", reference, from: target, reason: failure.message });
      return this.#loadOnNextTarget(reference, options, booking, moveSignal);
    };
    const resident: ResidentModel = new ResidentModel(loaded, {
      replicas: copies,
      spreadOverlappingRuns: replicas !== "auto",
      maxRunMemory: this.#loadLimits.maxRunMemory,
      booking,
      ...(failover ? { failover: move } : {}),
      onDispose: (target, departure) => {
        this.#rememberSize(resident.loaded);
        this.#models.forget(resident);
        this.#settings.onEvent?.({ type: "unloaded", reference, target, ...departure });
      },
    });
    return resident;
  }

  async #replicaCount(loaded: VerifiedModel, options: ModelOptions): Promise<number> {
    const machine = await this.#facts.machine();
    return replicaCount(loaded, machine, threadsFor(machine.cpu, options.threads ?? this.#settings.threads));
  }

  #rememberSize({ target, variant, need, model }: VerifiedModel): void {
    const held = heldMemory(model.memory, need);
    if (held !== need) this.#measuredMemory.set(placementKey(target, variant), held);
  }

  async #loadOnNextTarget(
    reference: string,
    options: ModelOptions,
    room: MemoryBooking,
    signal: AbortSignal,
  ): Promise<VerifiedModel> {
    const { facts, manifest, constraints, request } = await this.#choose(reference, options, true, signal);
    const loaded = await loadFirstCandidate(await this.#context(reference, room), facts, manifest, constraints, request, signal);
    this.#settings.onEvent?.({ type: "loaded", decision: loaded.decision });
    return loaded;
  }

  async #choose(
    reference: string,
    options: ModelOptions,
    fetch: boolean,
    signal?: AbortSignal,
  ): Promise<SelectionOutcome & { readonly facts: SelectionFacts }> {
    const fetching = { fetch: (missing: string): Promise<void> => this.#download(reference, missing, options, signal) };
    const manifest = await readManifest(reference, { ...variantOption(options), ...(fetch ? fetching : {}) });
    const request = this.#requestFor(options, manifest);
    refuseUnknownVariant(manifest.variants, request.variant, reference);
    const constraints = await this.#constraintsFor(reference, options);
    const facts = await this.#factsFor(manifest, constraints, request.settings);
    return { selections: select(facts, manifest, constraints, request), facts, manifest, constraints, request };
  }

  /**
   * What selection decides on: the machine, how much of it models may take, and how fast targets were. Measurements are read, and weights
   * for their digests, only where they decide something.
   */
  async #factsFor(manifest: Manifest, constraints: Constraints, settings: LoadSettings): Promise<SelectionFacts> {
    const budget = this.#limits === undefined ? {} : { budget: { limits: this.#limits, host: this.#hostChoice() } };
    const facts = { ...(await this.#facts.read(this.#circuits)), ...budget };
    if (constraints.policy !== "fastest") return facts;
    const { gatherMeasurementFacts } = await import("./selection/measurement-facts.ts"); // rarely needed, and in a page never
    const machine = await this.#facts.machine();
    const digest = (variant: Variant): Promise<string> => digestOf(variant, this.#digests);
    const kept = await this.#platform.readMeasurements();
    return { ...facts, measurements: await gatherMeasurementFacts({ manifest, settings, machine, kept, digestOf: digest }) };
  }

  #hostChoice(): HostPolicy {
    const isLimited = this.#limits !== undefined || this.#settings.maxProcessMemory !== undefined;
    return hostPolicy(this.#settings.host, isLimited ? this.#platform.isolatingHost : "worker");
  }

  async #context(reference: string, room: MemoryBooking): Promise<LoadingContext> {
    const machine = await this.#facts.machine();
    return {
      backends: this.#backends,
      hosts: this.#platform.hosts,
      host: this.#hostChoice(),
      limits: this.#loadLimits,
      threads: (wanted) => threadsFor(machine.cpu, wanted),
      checkAnswers: this.#checkAnswers,
      digestOf: (variant) => digestOf(variant, this.#digests),
      knownSize: (target, variant) => this.#measuredMemory.get(placementKey(target, variant)),
      supervise: (target, variant) => this.#supervisionFor(reference, target, variant),
      onAttempt: (target, { bytes }) =>
        this.#settings.onEvent?.({ type: "loading", reference, target: formatTarget(target), bytes }),
      bookMemory: (need, known) => room.book(need, known),
    };
  }

  async #constraintsFor(reference: string, options: ConstraintOptions): Promise<ReturnType<typeof mergeConstraints>> {
    return mergeConstraints(this.#settings, ...(await this.#settingsFor(await canonicalReference(reference))), options);
  }

  /** What the settings say of the model at this place, however the place is written there. */
  async #settingsFor(place: string): Promise<readonly ModelSettings[]> {
    const named = Object.entries(this.#settings.models ?? {}).map(async ([other, settings]) =>
      (await canonicalReference(other)) === place ? [settings] : [],
    );
    return (await Promise.all(named)).flat();
  }

  /** `missing` is what has to be fetched for the model that was asked for as `reference`. */
  async #download(reference: string, missing: string, options: ModelOptions, signal: AbortSignal | undefined): Promise<void> {
    const { offline, onEvent } = this.#settings;
    await this.#platform.fetchModel(missing, {
      ...variantOption(options),
      onProgress: (progress) => onEvent?.({ type: "download", reference, progress }),
      ...(offline === undefined ? {} : { offline }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** The load's own settings win over the runtime's, and those over what the model's author wants. */
  #requestFor(options: ModelOptions, manifest: Manifest): { readonly variant?: string; readonly settings: LoadSettings } {
    const settings = mergeLoadSettings(manifest.settings ?? {}, this.#settings, options);
    return { ...(options.variant === undefined ? {} : { variant: options.variant }), settings };
  }
}

function checkCall(reference: string, options: ModelOptions): void {
  if (typeof reference !== "string") {
    throw new InferyardError("INPUT_INVALID", "a model reference must be a string", { remedy: 'give "builtin" or a path' });
  }
  refuseUnknown(options, modelOptionNames, "a load");
  checkLoadSettings(options);
}
