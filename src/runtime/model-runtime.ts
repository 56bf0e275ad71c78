/** The runtime below the tasks: it registers backends, selects a target for each model, loads it, and keeps it in memory while it is used. */
import type { Backend, MachineFacts } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { waitAtMost } from "../concurrency/time-limit.ts";
import { InferyardError, invalidInput } from "../contract/errors.ts";
import { usualKind } from "../models/language-tasks.ts";
import { type Manifest, canonicalReference, createDigestCache, resolveReference } from "../models/index.ts";
import type { Decision } from "./decision/decision.ts";
import { explainSelection } from "./loading/loading.ts";
import { ModelLoader } from "./residency/model-loader.ts";
import type { AnswerCheck } from "./loading/verification.ts";
import { ModelHandle } from "./model-handle.ts";
import { parseDuration } from "./options/duration.ts";
import { refuseUnlisted } from "./options/option.ts";
import { checkLoadSettings, checkRuntimeSettings, modelOptionNames, parseLoadLimits, refuseUnknown } from "./options/options.ts";
import { runtimeDefaults } from "./options/runtime-options.ts";
import type { ModelOptions, RuntimeDisposeOptions, RuntimeSettings } from "./options/runtime-settings.ts";
import type { Platform } from "./platform.ts";
import type { BackendReport, MemoryReport } from "./reports.ts";
import { type MemoryLimits, parseMemoryLimits } from "./selection/memory-budget.ts";
import { Residency } from "./residency/residency.ts";
import type { ResidentModel } from "./residency/resident-model.ts";
import { type LoadHooks, SharedModels } from "./residency/shared-models.ts";
import type { LibraryReloader, LibraryReloaderParts } from "./reloading/library-reloader.ts";
import type { ReloadOptions, ReloadReport } from "./reloading/reload-report.ts";
import type { SchedulingKey } from "./scheduling/scheduling-key.ts";
import { validateBackends } from "./selection/backend-registry.ts";
import type { LeaseKind } from "./selection/reservation.ts";
import { mergeConstraints } from "./targets/constraints.ts";
import { refuseUnknownNames } from "./targets/known-names.ts";
import { FactsReader } from "./selection/facts-reader.ts";
import { checkKernelNames } from "./selection/kernel-names.ts";
import { ModelSelector } from "./selection/model-selector.ts";
import { formatTarget } from "./targets/target.ts";
import { CircuitBreakers } from "./supervision/circuit-breakers.ts";

/** Time for which a target that failed while running is not tried, in milliseconds. */
const circuitCooldownMs = 60_000;
const defaultDisposeTimeout = "30s";
/** Maximum time to free models and backends on disposal, in milliseconds, after the calls that were waited for. */
const maxFreeMs = 4_000;

/** Loads models, keeps them in memory, and reports where they run and why. Knows tensors only; `Runtime` adds the tasks. */
export class ModelRuntime {
  /** `reloadLibrary` replaces one of them in place. */
  readonly #backends: Backend[];
  readonly #settings: RuntimeSettings;
  readonly #platform: Platform;
  readonly #facts: FactsReader;
  readonly #circuits = new CircuitBreakers(circuitCooldownMs);
  readonly #limits: MemoryLimits | undefined;
  readonly #selector: ModelSelector;
  readonly #residency: Residency<ResidentModel>;
  readonly #models: SharedModels;
  readonly #reloaderParts: LibraryReloaderParts;
  /** Undefined until the first reload: few programs reload a library, and pages have none. */
  #reloader: Promise<LibraryReloader> | undefined;
  /** Kernels that are preferred for single models, by canonical reference. */
  readonly #kernelPreferences = new Map<string, readonly string[]>();
  #disposal: Promise<void> | undefined;

  /** Throws INPUT_INVALID or CONFIG_INVALID for wrong settings and CONTRACT_VIOLATION for a backend that cannot be registered. */
  constructor(backends: readonly Backend[], settings: RuntimeSettings, checkAnswers: AnswerCheck, platform: Platform) {
    checkRuntimeSettings(settings);
    this.#backends = [...validateBackends(backends)];
    this.#settings = settings;
    this.#platform = platform;
    this.#facts = new FactsReader(this.#backends, platform.machine);
    this.#limits = parseMemoryLimits(settings, this.#backends);
    const parts = {
      backends: this.#backends,
      settings,
      platform,
      facts: this.#facts,
      circuits: this.#circuits,
      limits: this.#limits,
      digests: createDigestCache(),
    };
    const selector = new ModelSelector(parts);
    const loader = new ModelLoader({ ...parts, selector, checkAnswers, loadLimits: parseLoadLimits(settings) });
    this.#selector = selector;
    this.#residency = new Residency({
      keepAliveMs: parseDuration(settings.keepAlive ?? runtimeDefaults.keepAlive),
      ...omitUndefined({ limits: this.#limits }),
      waitMs: parseDuration(settings.memoryWait ?? runtimeDefaults.memoryWait),
    });
    this.#models = new SharedModels({ settings, selector, loader, residency: this.#residency });
    this.#reloaderParts = { ...parts, loader, residency: this.#residency };
    // Validates constraints when the runtime is created, not at the first load.
    mergeConstraints(settings, ...Object.values(settings.models ?? {}));
    refuseUnknownNames(settings, this.#backends);
    for (const [reference, model] of Object.entries(settings.models ?? {}))
      refuseUnknownNames(model, this.#backends, `the settings for ${reference}: `);
  }

  /** Facts about this machine: processor, memory and accelerators, each with its source. Read once; `again` reads them once more. */
  machine(options: { readonly again?: boolean } = {}): Promise<MachineFacts> {
    return this.#facts.machine(options);
  }

  /**
   * Loads a model and returns a handle on it. Joins a load in progress, or uses the loaded model, if one matches the options.
   * The caller must dispose the handle. Throws MODEL_NOT_FOUND, MODEL_INVALID, NO_BACKEND, MEMORY_BUDGET, ABORTED and others:
   * see docs/reference/errors.md.
   */
  load(reference: string, options: ModelOptions = {}): Promise<ModelHandle> {
    return this.#acquire(reference, options, "handle");
  }

  /**
   * Holds a model for one piece of work, and loads it if necessary. The returned lease is a handle like that of `load`, and keeps the model in memory
   * until it is disposed. Under a memory budget, a model whose leases are all of this kind can be drained and evicted, which a model held by `load`
   * cannot. `schedulingKey`: the client on whose behalf the work runs. `loadHooks`: called if the model is loaded for this call. Throws what `load` throws.
   */
  hold(
    reference: string,
    options: ModelOptions = {},
    schedulingKey?: SchedulingKey,
    loadHooks?: LoadHooks,
  ): Promise<ModelHandle> {
    return this.#acquire(reference, options, "work", schedulingKey, loadHooks);
  }

  /** Runs `work` with a lease on a model, as `hold` gives it, and disposes the lease afterwards. */
  async use<Result>(
    reference: string,
    options: ModelOptions,
    work: (model: ModelHandle) => Promise<Result>,
    schedulingKey?: SchedulingKey,
    loadHooks?: LoadHooks,
  ): Promise<Result> {
    return await whileHeld(await this.hold(reference, options, schedulingKey, loadHooks), work);
  }

  /**
   * Like `use` if a matching model is loaded. Returns undefined without calling `work` if there is none or it is being
   * unloaded. Never loads.
   */
  async useLoaded<Result>(
    reference: string,
    options: Omit<ModelOptions, "signal">,
    work: (model: ModelHandle) => Promise<Result>,
  ): Promise<Result | undefined> {
    const requested = await this.#checkOptions(reference, options);
    const lease = this.#models.acquireLoaded({ reference, options: requested, leaseKind: "work" });
    if (lease === undefined) return undefined;
    return await whileHeld(new ModelHandle(reference, lease), work);
  }

  /** Loads the models that the settings name for preloading. Throws the first failure. */
  async preload(): Promise<void> {
    const { models = {}, preload = [] } = this.#settings;
    const early = Object.entries(models).filter(([, { strategy = "lazy" }]) => strategy !== "lazy");
    const references = new Set([...early.map(([reference]) => reference), ...preload]);
    const loads = [...references].map(async (reference) => {
      const kind = usualKind(await this.manifest(reference));
      await this.use(reference, kind === "language" ? { kind } : {}, async () => {});
    });
    await Promise.all(loads);
  }

  /** The decision that a load would make. Loads and downloads nothing. */
  async explain(reference: string, options: ModelOptions = {}): Promise<Decision> {
    const requested = await this.#checkOptions(reference, options);
    return explainSelection(await this.#selector.explain(await resolveReference(reference), requested));
  }

  /** Reads a model's manifest without loading the model. Its files are downloaded if they are not on this machine. */
  async manifest(reference: string, options: ModelOptions = {}): Promise<Manifest> {
    this.#checkCall(reference, options);
    return this.#selector.manifest(await resolveReference(reference), options, options.signal);
  }

  /**
   * The availability of each backend. `run`: runs a tiny graph on each device instead of only looking for its presence. `full`, together with `run`: repeats
   * self-tests whose earlier success is remembered, and tries devices that this machine does not have.
   */
  async backends(
    options: { readonly run?: boolean; readonly full?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<BackendReport[]> {
    const { run = false, ...probing } = options;
    if (!run) {
      const facts = await this.#facts.read(this.#circuits, { again: true });
      return facts.backends.map(({ name, availability }) => ({ backend: name, availability }));
    }
    const reports = this.#backends.map(async (backend) => ({
      backend: backend.name,
      availability: await this.#facts.run(backend, omitUndefined(probing)),
    }));
    return Promise.all(reports);
  }

  /** Whether a load with these options would use a model that is already loaded. */
  async isLoaded(reference: string, options: ModelOptions = {}): Promise<boolean> {
    const { signal: _signal, ...requested } = await this.#checkOptions(reference, options);
    return this.#models.isLoaded({ reference, options: requested });
  }

  /** The decisions of all loaded models; waits for loads in progress. */
  async loaded(): Promise<Decision[]> {
    const residents = await this.#residency.items();
    return residents.map((resident) => resident.loaded.decision);
  }

  /**
   * Replaces the native library of the backend `library` by the one at `path` while models serve; without a path by the file in use, which was rebuilt. The new
   * library is validated in a child process; every model that runs on the old one is loaded with it as well, and must give the same answers. Then new requests
   * go to the new library, requests in progress finish on the old one, and the old one is freed. Throws RELOAD_FAILED, and the old library serves as before, if
   * any of that fails before the switch. Reloads run one after the other.
   */
  async reloadLibrary(path?: string, options: ReloadOptions = {}): Promise<ReloadReport> {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "this runtime was disposed");
    if (path !== undefined && (typeof path !== "string" || path === "")) {
      throw invalidInput("the path of a library must be a text that is not empty", "name a shared library");
    }
    this.#reloader ??= this.#createReloader();
    return (await this.#reloader).reload(path, options);
  }

  /** Unloads all models that are not leased or pinned. */
  unloadIdle(): Promise<void> {
    return this.#residency.clear();
  }

  /**
   * Unloads a model, pinned or not, as soon as it is not in use. Callers that request it meanwhile wait and load it again.
   * Returns whether it was loaded.
   */
  async unload(reference: string, options: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    return (await this.#residency.unload(await canonicalReference(reference), options.signal)) > 0;
  }

  /**
   * Sets the kernels for quantized weights that a model uses from the next request on, in place of the runtime's setting `kernels`. `ids`: kernel ids
   * in order of preference, or patterns of ids (`*_AVX2`); `[]` restores the setting. The first usable kernel is used. Running requests keep their
   * kernels. The next request loads the model again, and the old instance is unloaded like any unused model. A request with its own `kernels` ignores
   * this preference. Throws INPUT_INVALID for an unknown kernel, if this machine can run none of the kernels, and if the model has no weights that
   * they multiply; throws NOT_BUILT if no kernel is built. Each error names the usable kernels.
   */
  async setKernelPreference(ids: readonly string[], { model }: { readonly model: string }): Promise<void> {
    if (ids.length !== 0) {
      checkLoadSettings({ kernels: ids });
      await checkKernelNames(ids, await this.machine(), "INPUT_INVALID");
      await this.explain(model, { kernels: ids }).catch((error: unknown) => {
        // A model that cannot be read now may be available when it is loaded.
        if (error instanceof InferyardError && error.code !== "INPUT_INVALID") return;
        throw error;
      });
    }
    const canonical = await canonicalReference(model);
    if (ids.length === 0) this.#kernelPreferences.delete(canonical);
    else this.#kernelPreferences.set(canonical, [...ids]);
  }

  /** Memory that the loaded models hold, and the limits of the budget. */
  memory(): MemoryReport {
    const limits = this.#limits;
    return {
      limits:
        limits === undefined ? null : { bytes: limits.bytes, models: Number.isFinite(limits.models) ? limits.models : null },
      models: this.#residency.entries().map(({ reference, state, expiresAt, item }) => {
        const { model, manifest } = item.loaded;
        const { measure } = model.memory;
        const contextLength = model.kind === "language" ? model.limits.contextLength : manifest.text?.maxTokens;
        return {
          reference,
          target: formatTarget(item.loaded.target),
          decision: item.loaded.decision.id,
          state,
          expiresAt,
          bytes: item.heldMemory,
          measure: measure === "weights" ? "estimated" : measure,
          contextLength: contextLength ?? null,
          restarts: item.restarts,
          ...omitUndefined({ programs: item.programs }),
        };
      }),
    };
  }

  /**
   * Unloads all models and rejects further calls with DISPOSED; loads in progress are aborted. Idempotent. Completes within
   * `timeout` plus 4 seconds even if an engine does not respond.
   */
  dispose({ timeout = defaultDisposeTimeout }: RuntimeDisposeOptions = {}): Promise<void> {
    const waitMs = parseDuration(timeout);
    this.#disposal ??= waitAtMost(this.#free(waitMs), waitMs + maxFreeMs);
    return this.#disposal;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #createReloader(): Promise<LibraryReloader> {
    const { LibraryReloader } = await import("./reloading/library-reloader.ts");
    return new LibraryReloader(this.#reloaderParts);
  }

  async #free(waitMs: number): Promise<void> {
    await Promise.all([this.#residency.close(waitMs), this.#reloader?.then(async (reloader) => reloader.close())]);
    await Promise.all(Object.values(this.#platform.hosts).map((host) => host.dispose()));
    await Promise.all(this.#backends.map(async (backend) => backend.dispose?.()));
  }

  async #acquire(
    reference: string,
    options: ModelOptions,
    leaseKind: LeaseKind,
    schedulingKey?: SchedulingKey,
    loadHooks?: LoadHooks,
  ): Promise<ModelHandle> {
    const { signal, ...requested } = await this.#checkOptions(reference, options);
    const request = { reference, options: requested, leaseKind, admitLoad: schedulingKey?.admitLoad, loadHooks };
    return new ModelHandle(reference, await this.#models.acquire(request, signal), schedulingKey);
  }

  /** The options of a call, with the kernels that are preferred for the model. Throws INPUT_INVALID for options that are not possible. */
  async #checkOptions<Options extends ModelOptions>(reference: string, options: Options): Promise<Options> {
    this.#checkCall(reference, options);
    if (this.#kernelPreferences.size === 0 || options.kernels !== undefined) return options;
    const kernels = this.#kernelPreferences.get(await canonicalReference(reference));
    return kernels === undefined ? options : { ...options, kernels };
  }

  #checkCall(reference: string, options: ModelOptions): void {
    if (typeof reference !== "string") {
      throw invalidInput("a model reference must be a string", 'give "builtin" or a path');
    }
    refuseUnknown(options, modelOptionNames, "a load");
    checkLoadSettings(options);
    refuseUnlisted("kind", options.kind, ["tensor", "language"]);
    refuseUnknownNames(options, this.#backends);
  }
}

/** Runs work with a handle, and disposes the handle afterwards. */
async function whileHeld<Result>(handle: ModelHandle, work: (model: ModelHandle) => Promise<Result>): Promise<Result> {
  try {
    return await work(handle);
  } finally {
    await handle.dispose();
  }
}
