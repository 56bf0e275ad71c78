/** The runtime below the tasks: it holds the registry of backends, finds each model its place, and keeps it while it is used. */
import type { Availability, Backend, LoadSettings, MachineFacts } from "../backend.ts";
import { createMachineReader, threadsFor } from "../devices/index.ts";
import { InferyardError } from "../errors.ts";
import type { Host, HostName } from "../hosts/host.ts";
import { inlineHost } from "../hosts/inline.ts";
import { processHost } from "../hosts/process.ts";
import { workerHost } from "../hosts/worker.ts";
import { type DigestMemo, type Manifest, createDigestMemo, digestOf, placeOf, readManifest } from "../models/index.ts";
import { Circuits } from "./circuits.ts";
import { copiesFor } from "./copies.ts";
import { type Decision, makeDecision } from "./decision.ts";
import { parseDuration } from "./duration.ts";
import { FactsReader } from "./facts.ts";
import { type Loaded, type LoadingContext, explainCandidates, loadFirst } from "./loading.ts";
import { ModelHandle } from "./model-handle.ts";
import { checkLoadSettings, checkRuntimeSettings, mergeLoadSettings, modelOptionNames, refuseUnknown } from "./options.ts";
import { registryOf } from "./registry.ts";
import { Residency } from "./residency.ts";
import { ResidentModel } from "./resident-model.ts";
import { select } from "./selection.ts";
import { formatTarget } from "./target.ts";
import type { AnswerCheck } from "./verification.ts";
import { type WishInput, mergeWishes } from "./wish.ts";

/** How a runtime behaves; every setting holds for all its models unless a load says otherwise. */
export interface RuntimeSettings extends WishInput, LoadSettings {
  /** Wishes for single models, by the reference they are loaded with. */
  readonly models?: Readonly<Record<string, WishInput>>;
  /** Where models live. Default: a worker for backends that block their thread, else the calling thread. */
  readonly host?: HostName;
  /** Copies with one thread each that share bulk work: a number, or "auto" = one per core as memory allows. 1 = none. Default: "auto". */
  readonly replicas?: number | "auto";
  /** How long a model stays after its last use: milliseconds, or "30s", "5m", "1h"; 0 = for ever. Default: "5m". */
  readonly keepAlive?: number | string;
  /** After a failure that may pass (the host died, no memory), load on the next target and run the request once more. Default: false. */
  readonly failover?: boolean;
  /** Told of loads, unloads and failovers. */
  readonly onEvent?: (event: RuntimeEvent) => void;
}

export type RuntimeEvent =
  | { readonly type: "loaded"; readonly decision: Decision }
  | { readonly type: "unloaded"; readonly reference: string; readonly target: string }
  | { readonly type: "failover"; readonly reference: string; readonly from: string; readonly reason: string };

/** What one load may ask for. */
export interface ModelOptions extends WishInput, LoadSettings {
  /** Name or alias of a variant: "fp32", "int8", "quantized", ... Default: the first one the chosen backend can run. */
  readonly variant?: string;
  readonly signal?: AbortSignal;
}

/** One backend and what its probe said. */
export interface BackendReport {
  readonly backend: string;
  readonly availability: Availability;
}

/** A target that failed while running is left alone for this long. */
const circuitRestMs = 60_000;
const defaultKeepAlive = "5m";

export class ModelRuntime {
  readonly #backends: readonly Backend[];
  readonly #settings: RuntimeSettings;
  readonly #checkAnswers: AnswerCheck;
  readonly #hosts: Readonly<Record<HostName, Host>> = {
    inline: inlineHost(),
    worker: workerHost(),
    process: processHost(),
  };
  readonly #facts: FactsReader;
  readonly #circuits = new Circuits(circuitRestMs);
  readonly #residency: Residency<ResidentModel>;
  readonly #digests: DigestMemo = createDigestMemo();
  #disposal: Promise<void> | undefined;

  constructor(backends: readonly Backend[], settings: RuntimeSettings, checkAnswers: AnswerCheck) {
    checkRuntimeSettings(settings);
    this.#backends = registryOf(backends);
    this.#settings = settings;
    this.#checkAnswers = checkAnswers;
    this.#facts = new FactsReader(this.#backends, createMachineReader());
    this.#residency = new Residency(parseDuration(settings.keepAlive ?? defaultKeepAlive));
    mergeWishes(settings, ...Object.values(settings.models ?? {})); // a bad target is refused now, not at the first load
  }

  /** Facts about this machine, read once; `again` reads them anew. */
  machine(options: { readonly again?: boolean } = {}): Promise<MachineFacts> {
    return this.#facts.machine(options);
  }

  /** Loads a model, or joins the load under way, or takes the one in memory. Dispose the handle when done with it. */
  async load(reference: string, options: ModelOptions = {}): Promise<ModelHandle> {
    checkCall(reference, options);
    const { signal, ...asked } = options;
    const key = JSON.stringify([reference, Object.entries(asked).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const lease = await this.#residency.acquire(key, (loadSignal) => this.#loadResident(reference, asked, loadSignal), signal);
    return new ModelHandle(reference, lease);
  }

  /** The decision a load would make, with nothing loaded. */
  async explain(reference: string, options: ModelOptions = {}): Promise<Decision> {
    checkCall(reference, options);
    const manifest = await readManifest(reference);
    const wish = this.#wishFor(reference, options);
    const facts = await this.#facts.read(this.#circuits);
    const candidates = explainCandidates(select(facts, manifest, wish, this.#requestFor(options, manifest)));
    return makeDecision({ manifest, wish, candidates, selected: null });
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

  /** The decisions of the models in memory. */
  async loaded(): Promise<Decision[]> {
    const residents = await this.#residency.items();
    return residents.map((resident) => resident.loaded.decision);
  }

  /** Unloads every model that no handle holds, at once. */
  unloadIdle(): Promise<void> {
    return this.#residency.clear();
  }

  /** Unloads everything and refuses further use. A second call waits for the first. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#free();
    return this.#disposal;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #free(): Promise<void> {
    await this.#residency.close();
    await Promise.all(Object.values(this.#hosts).map((host) => host.dispose()));
    await Promise.all(this.#backends.map(async (backend) => backend.dispose?.()));
  }

  async #loadResident(reference: string, options: ModelOptions, signal: AbortSignal): Promise<ResidentModel> {
    const loaded = await this.#loadOnce(reference, options, signal);
    const backend = this.#backends.find(({ name }) => name === loaded.target.backend);
    const blocking = backend?.capabilities(loaded.target.device).blocking ?? false;
    const machine = await this.#facts.machine();
    const { replicas = "auto", failover = false } = this.#settings;
    const copies =
      replicas === "auto"
        ? copiesFor(loaded, machine, threadsFor(machine.cpu, options.threads ?? this.#settings.threads), blocking)
        : replicas;
    const move = async (failed: Loaded, failure: InferyardError): Promise<Loaded> => {
      const target = formatTarget(failed.target);
      this.#circuits.open(target, `it failed while running: ${failure.message}`);
      this.#settings.onEvent?.({ type: "failover", reference, from: target, reason: failure.message });
      return this.#loadOnce(reference, options);
    };
    return new ResidentModel(loaded, {
      copies,
      ...(failover ? { failover: move } : {}),
      onDispose: (target) => this.#settings.onEvent?.({ type: "unloaded", reference, target }),
    });
  }

  async #loadOnce(reference: string, options: ModelOptions, signal?: AbortSignal): Promise<Loaded> {
    const manifest = await readManifest(reference);
    const request = this.#requestFor(options, manifest);
    refuseUnknownVariant(manifest.variants, request.variant, reference);
    const facts = await this.#facts.read(this.#circuits);
    const loaded = await loadFirst(await this.#context(), facts, manifest, this.#wishFor(reference, options), request, signal);
    this.#settings.onEvent?.({ type: "loaded", decision: loaded.decision });
    return loaded;
  }

  async #context(): Promise<LoadingContext> {
    const machine = await this.#facts.machine();
    return {
      backends: this.#backends,
      hosts: this.#hosts,
      ...(this.#settings.host === undefined ? {} : { host: this.#settings.host }),
      threads: (wanted) => threadsFor(machine.cpu, wanted),
      checkAnswers: this.#checkAnswers,
      digestOf: (variant) => digestOf(variant, this.#digests),
    };
  }

  #wishFor(reference: string, options: WishInput): ReturnType<typeof mergeWishes> {
    const place = placeOf(reference);
    const named = Object.entries(this.#settings.models ?? {}).filter(([other]) => placeOf(other) === place);
    return mergeWishes(this.#settings, ...named.map(([, wish]) => wish), options);
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

function refuseUnknownVariant(
  variants: readonly { readonly name: string; readonly aliases: readonly string[] }[],
  wanted: string | undefined,
  reference: string,
): void {
  if (wanted === undefined || variants.some(({ name, aliases }) => name === wanted || aliases.includes(wanted))) return;
  throw new InferyardError("MODEL_NOT_FOUND", `${reference} has no variant "${wanted}"`, {
    remedy: `choose one of ${variants.map(({ name }) => name).join(", ")}`,
    data: { variants: variants.map(({ name }) => name) },
  });
}
