/** Runs the calls of all protocols: admission, coalescing, deadlines, memory for responses, and records. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Runtime } from "../../api/runtime.ts";
import { readManifest } from "../../models/index.ts";
import { usualKind } from "../../models/language-tasks.ts";
import { isRemote } from "../../models/reference/remote-reference.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import { serverDefaults } from "../../settings/server-options.ts";
import type { ServerSettings } from "../server-settings.ts";
import type { Admission } from "./admission.ts";
import { BackgroundLoads } from "./background-loads.ts";
import { type CallCache, type CallKey, type ComputedResult, flightKey } from "./call-cache.ts";
import { type CoalescedResult, CallCoalescer } from "./call-coalescing.ts";
import { CallDeadline } from "./call-deadline.ts";
import { type CallRecord, callTimes, decisionOfError, getPlacement, getTexts, getTokens, wasLoadedSince } from "./call-record.ts";
import type { CallResult, Caller, ModelCall, ModelCallResult, ModelDescriber } from "./calls.ts";
import type { ClientTurns } from "./client-turns.ts";
import { LoadLimiter } from "./load-limiter.ts";
import type { LoadProgressTracker } from "./load-progress.ts";
import type { PerModelLimits } from "./model-limits.ts";
import { type ModelNames, type ServedModelName, requireLanguageModel } from "./model-names.ts";
import { deepCopy, estimateJsonBytes } from "./plain-data.ts";
import { ResponseSizeEstimates, responseKind } from "./response-memory.ts";

/** What a `CallRunner` works with. */
export interface CallRunnerParts {
  readonly runtime: Runtime;
  readonly settings: ServerSettings;
  readonly names: ModelNames;
  readonly admission: Admission;
  readonly cache: CallCache;
  readonly turns: ClientTurns;
  /** Limits of models that have their own, by reference. */
  readonly modelLimits: ReadonlyMap<string, PerModelLimits>;
  readonly loadProgress: LoadProgressTracker;
  /** Aborted when the server shuts down. */
  readonly shutdown: AbortSignal;
  /** Called with the record of every call that has ended. */
  readonly onCall: (record: CallRecord) => void;
}

/** Outcome of one execution, which one or several calls receive. */
type WorkResult<Result> = Partial<ComputedResult<Result>> & Pick<ComputedResult<Result>, "result"> & { readonly loadMs?: number };

/**
 * Runs calls: resolves the model, waits for admission, coalesces and caches, bounds time and memory, and records what each call did. Routes translate
 * between a protocol and this class, which knows neither HTTP nor protocols.
 */
export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #backgroundLoads: BackgroundLoads;
  readonly #loadLimiter: LoadLimiter;
  readonly #loadingWaitMs: number | undefined;
  readonly #timeoutMs: number;
  readonly #coalescer = new CallCoalescer();
  readonly #responseSizes = new ResponseSizeEstimates();

  constructor(parts: CallRunnerParts) {
    const { runtime, settings, loadProgress, shutdown } = parts;
    this.#parts = parts;
    this.#backgroundLoads = new BackgroundLoads(runtime, loadProgress, shutdown);
    this.#loadLimiter = new LoadLimiter(settings);
    this.#loadingWaitMs = settings.loadingWait === undefined ? undefined : parseDuration(settings.loadingWait);
    this.#timeoutMs = parseDuration(settings.requestTimeout ?? serverDefaults.requestTimeout);
  }

  /**
   * Runs `work` on the model that the call names, when it is its turn. Work that shows progress calls `extend`, which begins the time limit anew. Throws
   * QUEUE_FULL, REQUEST_TIMEOUT, SHUTTING_DOWN, LIMIT_EXCEEDED, ABORTED, and what loading the model or `work` throws.
   */
  async run<Result>(
    caller: Caller,
    call: ModelCall<Result>,
    work: (model: ModelHandle, signal: AbortSignal, extend: () => void) => Promise<Result>,
  ): Promise<ModelCallResult<Result>> {
    this.#checkCall(call);
    const named = await this.#resolve(caller, call);
    const model = call.runsLanguageModel === true ? requireLanguageModel(named) : named;
    const cached = call.key === undefined ? undefined : await this.#cached<Result>(caller, model, call, call.key);
    if (cached !== undefined) return cached;
    const { runtime, cache } = this.#parts;
    const { target, decision, ...result } = await this.#runCall(caller, model, call, async (signal, onPlaced, extend) => {
      const { client, priority } = caller;
      const admitLoad = this.#getAdmitter(caller);
      const startTime = Date.now();
      const started = performance.now();
      const onModel = async (handle: ModelHandle): Promise<ComputedResult<Result> & { readonly loadMs?: number }> => {
        const ready = performance.now();
        onPlaced(handle);
        const decision = handle.decision;
        const done = { result: await work(handle, signal, extend), target: handle.target, decision: handle.decision };
        const hasMoved = decision !== handle.decision; // failover during the run: the result belongs to no decision
        if (call.key !== undefined && !hasMoved) cache.put(done, call.key);
        return { ...done, ...(wasLoadedSince(startTime, decision) ? { loadMs: ready - started } : {}) };
      };
      const waitMs = this.#loadingWaitMs;
      if (call.waitsForLoad !== true && waitMs !== undefined)
        await this.#backgroundLoads.waitUntilLoaded(model, waitMs, signal, admitLoad);
      const turn = { client, priority, admitLoad };
      const running = runtime.use(model.reference, { ...model.constraints, signal }, onModel, turn);
      if (call.runsLanguageModel !== true) return running;
      return running.catch(async (error: unknown) => {
        throw await this.#explainLoad(error, model);
      });
    });
    return { ...result, target, decision: decision.id };
  }

  /** As `run`, for work that needs the files of a model at most and never loads it. */
  async runWithoutModel<Result>(
    caller: Caller,
    call: ModelCall<Result>,
    work: (model: ServedModelName, signal: AbortSignal) => Promise<Result>,
  ): Promise<CallResult<Result>> {
    this.#checkCall(call);
    const model = await this.#resolve(caller, call);
    return this.#runCall(caller, model, call, async (signal) => ({ result: await work(model, signal) }));
  }

  /**
   * Describes a model without loading or fetching it: by the loaded model if it is in memory, else by its files. Throws `describer.missing()` if
   * they are not on this machine.
   */
  describe<Result>(caller: Caller, written: string | undefined, describer: ModelDescriber<Result>): Promise<CallResult<Result>> {
    return this.runWithoutModel(caller, { model: written, texts: 0 }, async ({ reference, constraints }) => {
      const result = await this.#parts.runtime.useLoaded(reference, constraints, describer.loaded);
      if (result !== undefined) return result;
      return describer.files(
        await readManifest(reference).catch((error: unknown) => {
          const isAbsent = isRemote(reference) && error instanceof InferyardError && error.code === "MODEL_NOT_FOUND";
          throw isAbsent ? describer.missing() : error;
        }),
      );
    });
  }

  /** Starts to load a model in the background, or asks for its progress: throws MODEL_LOADING until it is in memory, and what the load threw. */
  async loadInBackground(caller: Caller, model: ServedModelName): Promise<void> {
    this.refuseDraining();
    await this.#backgroundLoads.waitUntilLoaded(model, 0, caller.signal, this.#getAdmitter(caller));
  }

  /** Throws SHUTTING_DOWN if the server is shutting down. */
  refuseDraining(): void {
    if (!this.#parts.shutdown.aborted) return;
    throw new InferyardError("SHUTTING_DOWN", "this server is shutting down and takes no new requests", {
      remedy: "send the request to another replica, or again in a moment",
      retryAfterMs: 1000,
    });
  }

  /**
   * Sets how long a model, if it is in memory, stays there unused, in milliseconds: see `ModelHandle.setKeepAlive`. Only administrators load and
   * unload models: the caller must be one.
   */
  async setKeepAlive({ reference, constraints }: ServedModelName, milliseconds: number): Promise<void> {
    await this.#parts.runtime.useLoaded(reference, constraints, async (handle) => handle.setKeepAlive(milliseconds));
  }

  /**
   * Runs one call: reserves memory for the response, waits for admission, coalesces with equal calls, applies the timeout, and records the
   * outcome.
   */
  async #runCall<Result, Work extends WorkResult<Result>>(
    caller: Caller,
    model: ServedModelName,
    call: ModelCall<Result>,
    work: (
      signal: AbortSignal,
      onPlaced: (handle: ModelHandle) => void,
      extend: () => void,
    ) => Promise<Work & WorkResult<Result>>,
  ): Promise<CallResult<Result> & Omit<Work, "result" | "loadMs">> {
    const { client, priority, responseMemory } = caller;
    const { name, reference, constraints } = model;
    const { admission, turns, modelLimits } = this.#parts;
    const { key } = call;
    const kind = responseKind(reference, call);
    const arrivedAt = performance.now();
    const deadline = new CallDeadline({
      client: caller.signal,
      timeoutMs: modelLimits.get(reference)?.timeoutMs ?? this.#timeoutMs,
      expectedWaitMs: () => admission.expectedWaitMs(reference),
      turn: () => turns.wait(client),
    });
    let startedAt: number | undefined;
    let placed: Pick<ModelHandle, "target" | "decision"> | undefined;
    try {
      await this.#responseSizes.reserve(responseMemory, kind, deadline.signal);
      const outcome: CoalescedResult<Work & WorkResult<Result>> = await this.#coalescer.run({
        // The priority is part of the key, so that an urgent call never waits for the turn of another.
        key: key === undefined ? Symbol(name) : flightKey([reference, constraints, priority, key]),
        signal: deadline.signal,
        schedule: (waiting, run) =>
          admission.run({ client, priority, signal: waiting, model: reference }, async () => {
            await turns.wait(client); // many may be admitted at once, and leave at once
            throwIfAborted(waiting);
            startedAt = performance.now();
            return run();
          }),
        work: (shared) =>
          work(
            shared,
            ({ target, decision }) => (placed = { target, decision }),
            () => deadline.extend(),
          ),
        copy: (done) => ({ ...done, result: deepCopy(done.result, done.decision) }),
      });
      const { result, loadMs, ...location } = outcome.result;
      const bytes = call.responseBytes?.(result) ?? estimateJsonBytes(result, location.decision);
      this.#responseSizes.settle(responseMemory, kind, bytes);
      const times = callTimes(arrivedAt, Math.max(arrivedAt, outcome.startedAt));
      const reuse = outcome.isOwn ? {} : { reuse: "shared" as const };
      const own = outcome.isOwn ? { ...omitUndefined({ loadMs }), ...getTokens(result), ...getTexts(result) } : {};
      this.#record(caller, key, { model: name, ...getPlacement(location), ...times, ...reuse, ...own });
      return { ...location, result, model: name, resolved: model, ...times, ...reuse };
    } catch (thrown) {
      const error = deadline.timeoutError ?? thrown;
      if (error instanceof InferyardError) {
        const placement = getPlacement(placed ?? { decision: decisionOfError(error) });
        this.#record(caller, key, { model: name, ...placement, ...callTimes(arrivedAt, startedAt), error });
      }
      throw error;
    } finally {
      deadline.stop();
    }
  }

  #resolve(caller: Caller, { model }: ModelCall): ServedModelName | Promise<ServedModelName> {
    return typeof model === "object" ? model : this.#parts.names.resolve(caller, model);
  }

  #getAdmitter({ client, role }: Caller): ReturnType<LoadLimiter["admitterFor"]> {
    return this.#loadLimiter.admitterFor(client, role);
  }

  /** The error of a load; MODEL_UNSUPPORTED in its place if the model is none that writes text, which no backend can change. */
  async #explainLoad(error: unknown, { name, reference }: ServedModelName): Promise<unknown> {
    const hasNoBackend = error instanceof InferyardError && error.code === "NO_BACKEND";
    if (!hasNoBackend || usualKind(await this.#parts.runtime.manifest(reference)) === "language") return error;
    return new InferyardError("MODEL_UNSUPPORTED", `${name} does not write text`, {
      cause: error,
      remedy: "name another model: GET /api/models lists what each can do",
    });
  }

  /** The result of an equal call before, with memory for its response; undefined if there is none. */
  async #cached<Result>(
    caller: Caller,
    model: ServedModelName,
    call: ModelCall<Result>,
    key: CallKey,
  ): Promise<ModelCallResult<Result> | undefined> {
    const { cache } = this.#parts;
    if (!cache.isOn) return undefined;
    await this.#responseSizes.reserve(caller.responseMemory, responseKind(model.reference, call), caller.signal);
    const cached = await cache.find<Result>(model, key);
    if (cached === undefined) return undefined;
    const { result, target, decision } = cached;
    const done = { model: model.name, target, decision: decision.id, queueMs: 0, inferenceMs: 0, reuse: "cached" as const };
    this.#record(caller, key, done);
    return { ...done, result, resolved: model };
  }

  /** Reports a call that has ended to the service's and the caller's observers. */
  #record({ onCall }: Caller, key: CallKey | undefined, ended: Omit<CallRecord, "operation" | "endedAt">): void {
    const record = { ...ended, ...omitUndefined({ operation: key?.[0] }), endedAt: performance.now() };
    this.#parts.onCall(record);
    onCall?.(record);
  }

  /** Throws SHUTTING_DOWN, or LIMIT_EXCEEDED for a request with too many texts. */
  #checkCall({ texts = 1 }: ModelCall): void {
    this.refuseDraining();
    const limit = this.#parts.settings.maxTexts ?? serverDefaults.maxTexts;
    if (texts <= limit) return;
    throw new InferyardError("LIMIT_EXCEEDED", `the request has ${texts} texts, and the limit is ${limit}`, {
      remedy: "send them in several requests",
      data: { texts, limit },
    });
  }
}
