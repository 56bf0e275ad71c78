/**
 * Replaces the native library of a backend while its models serve: validates the new library, loads every model with it beside the old one, compares their answers,
 * switches, and frees the old models when their last request has finished. Any failure before the switch leaves the old library serving.
 */
import type { Availability, Backend, Library } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { Mutex } from "../../concurrency/mutex.ts";
import { InferyardError, getMessage, invalidInput, throwIfAborted } from "../../contract/errors.ts";
import { asLanguageModel } from "../../hosts/host.ts";
import { type ReloadableBackend, isReloadable } from "../../contract/reloading.ts";
import type { ModelLoader, TrialModel } from "../residency/model-loader.ts";
import { refuseUnknown } from "../options/options.ts";
import type { RuntimeSettings } from "../options/runtime-settings.ts";
import type { Residency } from "../residency/residency.ts";
import type { ResidentModel } from "../residency/resident-model.ts";
import type { FactsReader } from "../selection/facts-reader.ts";
import { formatDevice, formatTarget } from "../targets/target.ts";
import { compareModels } from "./compare-models.ts";
import type { ModelComparison, ReloadOptions, ReloadReport, ReloadedModel } from "./reload-report.ts";

/** The parts of a runtime that a reload works on. */
export interface LibraryReloaderParts {
  /** The backends of the runtime. The reload replaces one in place. */
  readonly backends: Backend[];
  readonly facts: FactsReader;
  readonly loader: Pick<ModelLoader, "loadBeside" | "dropTrial">;
  readonly settings: RuntimeSettings;
  readonly residency: Pick<Residency<ResidentModel>, "entries" | "items">;
}

/** A model with its successor on the new library. */
interface Trial extends TrialModel {
  readonly resident: ResidentModel;
  readonly comparison: ModelComparison;
}

const defaultBackend = "library";
const defaultTolerance = 0.02;

/** Reloads libraries of one runtime, one after the other. */
export class LibraryReloader {
  readonly #parts: LibraryReloaderParts;
  readonly #mutex = new Mutex();
  readonly #closing = new AbortController();

  constructor(parts: LibraryReloaderParts) {
    this.#parts = parts;
  }

  /** See `ModelRuntime.reloadLibrary`. */
  reload(path: string | undefined, options: ReloadOptions = {}): Promise<ReloadReport> {
    refuseUnknown(options, ["backend", "tolerance", "signal"], "reloadLibrary");
    const { signal = this.#closing.signal } = options;
    const either = AbortSignal.any([signal, this.#closing.signal]);
    return this.#mutex.runExclusive(async () => this.#reload(path, { ...options, signal: either }));
  }

  /** Aborts reloads that have not switched yet, and waits for them. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#mutex.runExclusive(async () => {});
  }

  async #reload(
    given: string | undefined,
    { backend: name = defaultBackend, tolerance = defaultTolerance, signal }: ReloadOptions,
  ): Promise<ReloadReport> {
    if (!(tolerance >= 0)) throw invalidInput(`tolerance is ${String(tolerance)}, and must be 0 or more`);
    throwIfAborted(signal);
    const started = performance.now();
    const old = this.#backend(name);
    const path = given ?? (await old.libraryFile())?.path;
    if (path === undefined) {
      throw invalidInput(`${name} has no library that could be reloaded`, "name the file of one");
    }
    const fresh = old.withLibrary(path);
    const trials: Trial[] = [];
    try {
      const before = await old.libraryFile().catch(() => undefined); // what cannot be read any more is replaced
      const validation = await this.#validate(fresh, path, signal);
      const validated = performance.now();
      const after = await fresh.libraryFile();
      if (after === undefined) throw new InferyardError("BACKEND_UNAVAILABLE", `there is no library ${path}`);
      await this.#parts.residency.items();
      for (;;) {
        const missing = this.#residentsOn(name).filter((resident) => !trials.some((trial) => trial.resident === resident));
        if (missing.length === 0) break;
        for (const resident of missing) trials.push(await this.#try(resident, fresh, { tolerance, signal, before }));
      }
      throwIfAborted(signal);
      // No await between the check above and the end of the switch: no request sees one model on the old library and another on the new one.
      const loaded = performance.now();
      const { models, drained } = this.#switch(old, fresh, trials);
      for (const {
        loaded: { decision },
      } of trials)
        this.#parts.settings.onEvent?.({ type: "loaded", decision });
      await drained;
      const ended = performance.now();
      return {
        backend: name,
        before: before ?? null,
        after,
        validation,
        models,
        milliseconds: {
          validation: validated - started,
          models: loaded - validated,
          drain: ended - loaded,
          total: ended - started,
        },
      };
    } catch (error) {
      throw await this.#refuse(error, { path, old, fresh, trials });
    }
  }

  #backend(name: string): ReloadableBackend {
    const backend = this.#parts.backends.find((each) => each.name === name);
    if (backend !== undefined && isReloadable(backend)) return backend;
    const reloadable = this.#parts.backends.filter(isReloadable).map((each) => each.name);
    throw invalidInput(
      backend === undefined
        ? `no backend named "${name}" is registered in this runtime`
        : `the library of ${name} cannot be replaced`,
      reloadable.length === 0 ? 'register the backend of "inferyard/backends/library"' : `name one of ${reloadable.join(", ")}`,
    );
  }

  /** Runs the tiny model on each device with the new library. Returns what each device says. */
  async #validate(fresh: ReloadableBackend, path: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const availability = await this.#parts.facts.run(fresh, signal === undefined ? {} : { signal });
    throwIfAborted(signal);
    if (!availability.present) {
      const { reason, remedy } = availability;
      throw new InferyardError("BACKEND_UNAVAILABLE", `${path}: ${reason}`, remedy === undefined ? {} : { remedy });
    }
    const needed = new Set(this.#residentsOn(fresh.name).map(({ loaded }) => formatDevice(loaded.target.device)));
    const sentences = availability.devices.map(({ device, reason }) => `${formatDevice(device)}: ${reason}`);
    const failed = missingDevice(availability, needed);
    if (failed !== undefined)
      throw new InferyardError("BACKEND_UNAVAILABLE", `${path} cannot be used: ${failed}`, { data: { devices: sentences } });
    return sentences;
  }

  async #try(
    resident: ResidentModel,
    fresh: ReloadableBackend,
    { tolerance, signal, before }: { tolerance: number; signal: AbortSignal | undefined; before: Library | undefined },
  ): Promise<Trial> {
    if (resident.loaded.decision.selected?.host !== "process") {
      throw new InferyardError(
        "BACKEND_UNAVAILABLE",
        "models do not live in processes, and one process cannot hold two libraries of one name",
        {
          remedy: 'leave out host, or set it to "process"',
        },
      );
    }
    const held = resident.holdLanguage();
    try {
      const trial = await this.#parts.loader.loadBeside(resident, fresh, signal);
      try {
        const comparison = await compareModels(held.model, asLanguageModel(trial.loaded.model), { tolerance, signal });
        const evidence = comparisonSentence(comparison, before);
        return { ...trial, loaded: withEvidence(trial.loaded, evidence), resident, comparison };
      } catch (error) {
        await this.#parts.loader.dropTrial(resident, trial);
        throw error;
      }
    } finally {
      held.release();
    }
  }

  /** Uses the new backend and its models for all requests from now on. */
  #switch(
    old: Backend,
    fresh: ReloadableBackend,
    trials: readonly Trial[],
  ): { readonly models: readonly ReloadedModel[]; readonly drained: Promise<unknown> } {
    const { backends, facts, loader } = this.#parts;
    backends[backends.indexOf(old)] = fresh;
    facts.forget(fresh.name);
    const drains: Promise<unknown>[] = [];
    const models = trials.flatMap((trial): ReloadedModel[] => {
      const { resident, loaded, comparison } = trial;
      if (resident.isDisposed) {
        drains.push(loader.dropTrial(resident, trial)); // unloaded meanwhile
        return [];
      }
      const before = resident.loaded.decision.id;
      drains.push(resident.replaceInstance(loaded));
      trial.promote();
      const { reference } = loaded.manifest;
      return [{ reference, target: formatTarget(loaded.target), decisions: { before, after: loaded.decision.id }, comparison }];
    });
    return { models, drained: Promise.all(drains).then(() => old.dispose?.()) };
  }

  #residentsOn(name: string): readonly ResidentModel[] {
    const residents = this.#parts.residency.entries().map(({ item }) => item);
    return residents.filter(({ loaded }) => loaded.target.backend === name);
  }

  /** Frees what was loaded with the new library, and returns the error of the reload. */
  async #refuse(
    thrown: unknown,
    { path, old, fresh, trials }: { path: string; old: Backend; fresh: ReloadableBackend; trials: readonly Trial[] },
  ): Promise<unknown> {
    if (this.#parts.backends.includes(fresh)) return thrown; // after the switch: the old models could not be freed
    await Promise.allSettled(trials.map((trial) => this.#parts.loader.dropTrial(trial.resident, trial)));
    await fresh.dispose?.();
    if (!(thrown instanceof InferyardError)) return thrown;
    if (thrown.code === "ABORTED") return thrown;
    const { code, remedy, data } = thrown;
    return new InferyardError("RELOAD_FAILED", `${old.name} was not reloaded, and serves as before: ${getMessage(thrown)}`, {
      cause: thrown,
      data: { ...data, path, cause: code },
      ...omitUndefined({ remedy }),
    });
  }
}

/** Why a library cannot take over models on these devices; without models one device that works suffices. */
function missingDevice({ devices }: Extract<Availability, { present: true }>, needed: ReadonlySet<string>): string | undefined {
  const unavailable = devices.filter(({ state }) => state !== "available");
  const lost = [...needed].find(
    (name) => !devices.some(({ device, state }) => formatDevice(device) === name && state === "available"),
  );
  if (lost !== undefined) {
    const said = unavailable.find(({ device }) => formatDevice(device) === lost)?.reason ?? "it has no such device";
    return `models run on ${lost}, and there ${said}`;
  }
  if (unavailable.length < devices.length) return undefined;
  return devices.map(({ device, reason }) => `${formatDevice(device)}: ${reason}`).join("; ") || "it has no device";
}

function comparisonSentence({ positions, prompts, maxDifference, ties }: ModelComparison, before: Library | undefined): string {
  const old = before === undefined ? "the library before" : `${before.name} ${before.version}`;
  const tied = ties === 0 ? "" : `, ${ties} of them ties`;
  return `answers as ${old} at ${positions} positions of ${prompts} prompts${tied}; largest difference of a logit ${(100 * maxDifference).toPrecision(2)} % of their range`;
}

function withEvidence<Loaded extends TrialModel["loaded"]>(loaded: Loaded, sentence: string): Loaded {
  const { decision } = loaded;
  if (decision.selected === null) return loaded;
  const selected = { ...decision.selected, evidence: [...decision.selected.evidence, sentence] };
  return { ...loaded, decision: { ...decision, selected } };
}
