/** The core of the server: runs the calls of all protocols on one runtime. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { LruMap } from "../../concurrency/lru-map.ts";
import { readManifest } from "../../models/index.ts";
import { usualKind } from "../../models/language-tasks.ts";
import { isRemote } from "../../models/reference/remote-reference.ts";
import type { Decision } from "../../runtime/decision/decision.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { Runtime } from "../../api/runtime.ts";
import { serverDefaults } from "../../settings/server-options.ts";
import { Admission } from "./admission.ts";
import { ResponseSizeEstimates, responseKind } from "./response-memory.ts";
import { type CallRecord, callTimes, decisionOfError, getPlacement, getTexts, getTokens, wasLoadedSince } from "./call-record.ts";
import { ClientTurns } from "./client-turns.ts";
import { CallDeadline } from "./call-deadline.ts";
import { CallStatistics } from "./call-statistics.ts";
import type { CallResult, Caller, ModelCall, ModelCallResult, ModelDescriber } from "./calls.ts";
import { LoadLimiter } from "./load-limiter.ts";
import { LoadProgressTracker } from "./load-progress.ts";
import { BackgroundLoads } from "./background-loads.ts";
import { type PerModelLimits, modelLimits } from "./model-limits.ts";
import { type ResolvedModel, type StoredNames, getDefaultModel, resolveModel } from "./model-names.ts";
import { estimateMemoryBytes, deepCopy, estimateJsonBytes } from "./plain-data.ts";
import { type CallKey, cacheEntryBytes, cacheKey, hashParts } from "./call-key.ts";
import type { ServerSettings } from "../server-settings.ts";
import { TiktokenDecoder } from "./tiktoken-decoder.ts";
import { type CoalescedResult, CallCoalescer } from "./call-coalescing.ts";

/** When a model was fetched into the store, by its reference; undefined if it is not in the store. */
export type StoredTime = (reference: string) => Promise<Date | undefined>;

/** Constructor options of a `Service` in addition to its runtime. */
export interface ServiceOptions {
  readonly settings: ServerSettings;
  /** Names of the models in the store. */
  readonly storedNames: StoredNames;
  /** When those were fetched. Default: unknown. */
  readonly storedTime?: StoredTime;
  /** Called with the record of every call that has ended. */
  readonly onCall?: (record: CallRecord) => void;
  /** Tracks loads by the events of the runtime. Default: a tracker that receives no events, so that the progress is unknown. */
  readonly loadProgress?: LoadProgressTracker;
}

/** Outcome of one execution, which one or several calls receive. */
interface WorkResult<Result> {
  readonly result: Result;
  readonly loadMs?: number;
  /** Target and decision, where a model ran. */
  readonly target?: string;
  readonly decision?: Decision;
}

/** Outcome of an execution of a model. */
type ModelWorkResult<Result> = WorkResult<Result> & Required<Pick<WorkResult<Result>, "target" | "decision">>;

/**
 * Runs the calls of all protocols: resolves the model, waits for admission, coalesces and caches, bounds time and memory, and records each call. Routes
 * translate between a protocol and this class, which is independent of HTTP and of protocols.
 */
export class Service {
  readonly runtime: Runtime;
  readonly settings: ServerSettings;
  readonly admission: Admission;
  /** Decodes the token ids that clients send; undefined unless the setting `tokenIds` names an encoding. */
  readonly tiktoken: TiktokenDecoder | undefined;
  /** Progress of the current loads. */
  readonly loadProgress: LoadProgressTracker;
  /** Shares the server's thread between clients. */
  readonly turns: ClientTurns = new ClientTurns();
  /** Counts and times of completed calls, by model. */
  readonly statistics: CallStatistics = new CallStatistics();
  readonly #backgroundLoads: BackgroundLoads;
  readonly #loadLimiter: LoadLimiter;
  readonly #loadingWaitMs: number | undefined;
  readonly #storedNames: StoredNames;
  readonly #storedTime: StoredTime;
  readonly #onCall: ((record: CallRecord) => void) | undefined;
  readonly #timeoutMs: number;
  readonly #modelLimits: ReadonlyMap<string, PerModelLimits>;
  readonly #coalescer = new CallCoalescer();
  readonly #responseSizes = new ResponseSizeEstimates();
  /** Undefined where `resultCacheBytes` is 0. */
  readonly #cache: LruMap<ModelWorkResult<unknown>> | undefined;
  readonly #shutdown = new AbortController();

  constructor(runtime: Runtime, options: ServiceOptions) {
    const {
      settings,
      storedNames,
      storedTime = async () => undefined,
      onCall,
      loadProgress = new LoadProgressTracker(),
    } = options;
    const { maxQueue = serverDefaults.maxQueue, resultCacheBytes = serverDefaults.resultCacheBytes, tokenIds } = settings;
    this.runtime = runtime;
    this.settings = settings;
    this.tiktoken = tokenIds === undefined || tokenIds === "own" ? undefined : new TiktokenDecoder(tokenIds);
    this.#storedNames = storedNames;
    this.#storedTime = storedTime;
    this.#onCall = onCall;
    this.loadProgress = loadProgress;
    this.#backgroundLoads = new BackgroundLoads(runtime, loadProgress, this.shutdown);
    this.#loadLimiter = new LoadLimiter(settings);
    this.#loadingWaitMs = settings.loadingWait === undefined ? undefined : parseDuration(settings.loadingWait);
    this.#timeoutMs = parseDuration(settings.requestTimeout ?? serverDefaults.requestTimeout);
    this.#modelLimits = modelLimits(settings);
    const admissions = Array.from(this.#modelLimits, ([reference, { admission }]) => [reference, admission] as const);
    this.admission = new Admission({ maxRunning: this.limits.maxRunning, maxWaiting: maxQueue }, new Map(admissions));
    this.#cache = resultCacheBytes === 0 ? undefined : new LruMap(resultCacheBytes);
  }

  /** Whether the server is shutting down and takes no new calls. */
  get draining(): boolean {
    return this.shutdown.aborted;
  }

  /** Aborted when the server starts to shut down; endless work, such as a stream of events, ends then. */
  get shutdown(): AbortSignal {
    return this.#shutdown.signal;
  }

  /** Maximum number of requests that run at once, and of texts of one request. */
  get limits(): { readonly maxRunning: number; readonly maxTexts: number } {
    const { maxConcurrentRequests, maxTexts } = this.settings;
    return {
      maxRunning: maxConcurrentRequests ?? serverDefaults.maxConcurrentRequests,
      maxTexts: maxTexts ?? serverDefaults.maxTexts,
    };
  }

  /** Maximum number of requests for one model that run at once. */
  maxRunning(reference: string): number {
    return Math.min(this.limits.maxRunning, this.#modelLimits.get(reference)?.admission.maxRunning ?? Number.POSITIVE_INFINITY);
  }

  /** Memory of the cached results in bytes. */
  get cachedBytes(): number {
    return this.#cache?.size ?? 0;
  }

  /** Refuses new calls; calls that run or wait continue. */
  drain(): void {
    this.#shutdown.abort();
  }

  /** Names that clients may use, the default model first. */
  async modelNames(): Promise<string[]> {
    const { models = {} } = this.settings;
    return [...new Set([getDefaultModel(this.settings).name, "builtin", ...Object.keys(models), ...(await this.#storedNames())])];
  }

  /** When a model was fetched; undefined if unknown. */
  async fetchTime(name: string): Promise<Date | undefined> {
    const { reference } = await this.resolve({}, name);
    return this.#storedTime(reference).catch(() => undefined); // a record that cannot be read has no time
  }

  /** Resolves the name a client wrote, without loading anything. Throws MODEL_NOT_FOUND unless the caller may use the name. */
  resolve(
    { target, anyReference = false }: Pick<Caller, "target" | "anyReference">,
    written: string | undefined,
  ): Promise<ResolvedModel> {
    return resolveModel(written, target, this.settings, anyReference, this.#storedNames);
  }

  /**
   * Runs `work` on the model that the call names, when it is its turn. Work that shows progress calls `extend`, which restarts the time limit. Throws
   * QUEUE_FULL, REQUEST_TIMEOUT, SHUTTING_DOWN, LIMIT_EXCEEDED, ABORTED, and errors of loading the model and of `work`.
   */
  async call<Result>(
    caller: Caller,
    call: ModelCall<Result>,
    work: (model: ModelHandle, signal: AbortSignal, extend: () => void) => Promise<Result>,
  ): Promise<ModelCallResult<Result>> {
    this.#checkCall(call);
    const model = withKind(await this.resolve(caller, call.model), call);
    const cached = call.key === undefined ? undefined : await this.#cached<Result>(caller, model, call, call.key);
    if (cached !== undefined) return cached;
    const { target, decision, ...result } = await this.#runCall(caller, model, call, async (signal, onPlaced, extend) => {
      const { client, priority, role } = caller;
      const admitLoad = this.#loadLimiter.admitterFor(client, role);
      const startTime = Date.now();
      const started = performance.now();
      const onModel = async (handle: ModelHandle): Promise<ModelWorkResult<Result>> => {
        const ready = performance.now();
        onPlaced(handle);
        const decision = handle.decision;
        const done = { result: await work(handle, signal, extend), target: handle.target, decision: handle.decision };
        const hasMoved = decision !== handle.decision; // failover during the run: the result belongs to no decision
        if (call.key !== undefined && !hasMoved) this.#cacheResult(done, call.key);
        return { ...done, ...(wasLoadedSince(startTime, decision) ? { loadMs: ready - started } : {}) };
      };
      const waitMs = this.#loadingWaitMs;
      if (call.waitsForLoad !== true && waitMs !== undefined)
        await this.#backgroundLoads.waitUntilLoaded(model, waitMs, signal, admitLoad);
      const running = this.runtime.use(model.reference, { ...model.constraints, signal }, onModel, {
        client,
        priority,
        admitLoad,
      });
      return call.runsLanguageModel === true ? running.catch((error: unknown) => this.#explainLoad(error, model)) : running;
    });
    return { ...result, target, decision: decision.id };
  }

  /** As `call`, for work that needs the files of a model at most and never loads it. */
  async callWithoutModel<Result>(
    caller: Caller,
    call: ModelCall<Result>,
    work: (model: ResolvedModel, signal: AbortSignal) => Promise<Result>,
  ): Promise<CallResult<Result>> {
    this.#checkCall(call);
    const model = await this.resolve(caller, call.model);
    return this.#runCall(caller, model, call, async (signal) => ({ result: await work(model, signal) }));
  }

  /**
   * Describes a model without loading or fetching it: by the loaded model if it is in memory, else by its files. Throws `describer.missing()` if
   * they are not on this machine.
   */
  describe<Result>(caller: Caller, written: string | undefined, describer: ModelDescriber<Result>): Promise<CallResult<Result>> {
    return this.callWithoutModel(caller, { model: written, texts: 0 }, async ({ reference, constraints }) => {
      const result = await this.runtime.useLoaded(reference, constraints, describer.loaded);
      if (result !== undefined) return result;
      return describer.files(
        await readManifest(reference).catch((error: unknown) => {
          const isAbsent = isRemote(reference) && error instanceof InferyardError && error.code === "MODEL_NOT_FOUND";
          throw isAbsent ? describer.missing() : error;
        }),
      );
    });
  }

  /**
   * Runs one call: reserves memory for the response, waits for admission, coalesces with equal calls, applies the timeout, and records the
   * outcome.
   */
  async #runCall<Result, Work extends WorkResult<Result>>(
    caller: Caller,
    { name, reference, constraints }: ResolvedModel,
    call: ModelCall<Result>,
    work: (
      signal: AbortSignal,
      onPlaced: (handle: ModelHandle) => void,
      extend: () => void,
    ) => Promise<Work & WorkResult<Result>>,
  ): Promise<CallResult<Result> & Omit<Work, "result" | "loadMs">> {
    const { client, priority, responseMemory } = caller;
    const { key } = call;
    const kind = responseKind(reference, call);
    const arrivedAt = performance.now();
    const timeoutMs = this.#modelLimits.get(reference)?.timeoutMs ?? this.#timeoutMs;
    const deadline = new CallDeadline({
      client: caller.signal,
      timeoutMs,
      expectedWaitMs: () => this.admission.expectedWaitMs(reference),
      turn: () => this.turns.wait(client),
    });
    let startedAt: number | undefined;
    let placed: Pick<ModelHandle, "target" | "decision"> | undefined;
    try {
      await this.#responseSizes.reserve(responseMemory, kind, deadline.signal);
      const outcome: CoalescedResult<Work & WorkResult<Result>> = await this.#coalescer.run({
        // The priority is part of the key, so that an urgent call never waits for the turn of another.
        key: key === undefined ? Symbol(name) : hashParts([reference, constraints, priority, key]),
        signal: deadline.signal,
        schedule: (waiting, run) =>
          this.admission.run({ client, priority, signal: waiting, model: reference }, async () => {
            await this.turns.wait(client); // many may be admitted at once, and leave at once
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
      this.#responseSizes.settle(
        responseMemory,
        kind,
        call.responseBytes?.(result) ?? estimateJsonBytes(result, location.decision),
      );
      const times = callTimes(arrivedAt, Math.max(arrivedAt, outcome.startedAt));
      const reuse = outcome.isOwn ? {} : { reuse: "shared" as const };
      const own = outcome.isOwn ? { ...(loadMs === undefined ? {} : { loadMs }), ...getTokens(result), ...getTexts(result) } : {};
      this.#recordCall(caller, key, { model: name, ...getPlacement(location), ...times, ...reuse, ...own });
      return { ...location, result, model: name, ...times, ...reuse };
    } catch (thrown) {
      const error = deadline.timeoutError ?? thrown;
      if (error instanceof InferyardError) {
        const placement = getPlacement(placed ?? { decision: decisionOfError(error) });
        this.#recordCall(caller, key, { model: name, ...placement, ...callTimes(arrivedAt, startedAt), error });
      }
      throw error;
    } finally {
      deadline.stop();
    }
  }

  /**
   * Starts to load a model in the background, or checks a load that was started: throws MODEL_LOADING with the progress until the model is in memory, and the
   * error of the load.
   */
  async loadInBackground(caller: Caller, written: string): Promise<void> {
    this.refuseDraining();
    const admitLoad = this.#loadLimiter.admitterFor(caller.client, caller.role);
    await this.#backgroundLoads.waitUntilLoaded(await this.resolve(caller, written), 0, caller.signal, admitLoad);
  }

  /** Throws the error of a load; if the model does not write text, MODEL_UNSUPPORTED instead, since no backend can change that. */
  async #explainLoad(error: unknown, { name, reference }: ResolvedModel): Promise<never> {
    const hasNoBackend = error instanceof InferyardError && error.code === "NO_BACKEND";
    if (!hasNoBackend || usualKind(await this.runtime.manifest(reference)) === "language") throw error;
    throw new InferyardError("MODEL_UNSUPPORTED", `${name} does not write text`, {
      cause: error,
      remedy: "name another model: GET /api/models lists what each can do",
    });
  }

  /**
   * The result the model in memory has given to an equal call before; undefined if there is none. A model that was reloaded or moved has a new
   * decision, so its old results are never returned.
   */
  async #cached<Result>(
    caller: Caller,
    { name, reference, constraints }: ResolvedModel,
    call: ModelCall<Result>,
    key: CallKey,
  ): Promise<ModelCallResult<Result> | undefined> {
    const cache = this.#cache;
    if (cache === undefined) return undefined;
    await this.#responseSizes.reserve(caller.responseMemory, responseKind(reference, call), caller.signal);
    const cached = await this.runtime.useLoaded(reference, constraints, async ({ decision }) =>
      cache.get(cacheKey(decision, key)),
    );
    if (cached === undefined) return undefined;
    const { target, decision } = cached;
    const result = { model: name, target, decision: decision.id, queueMs: 0, inferenceMs: 0, reuse: "cached" as const };
    this.#recordCall(caller, key, result);
    // Calls with equal keys have results of the same type.
    return { ...result, result: deepCopy(cached.result, decision) as Result };
  }

  #cacheResult({ result, target, decision }: ModelWorkResult<unknown>, key: CallKey): void {
    if (this.#cache === undefined) return;
    const copy = deepCopy(result, decision);
    const bytes = estimateMemoryBytes(copy, decision) + cacheEntryBytes;
    this.#cache.set(cacheKey(decision, key), { result: copy, target, decision }, bytes);
  }

  /** Reports a call that has ended to the service's and the caller's observers. */
  #recordCall({ onCall }: Caller, key: CallKey | undefined, ended: Omit<CallRecord, "operation" | "endedAt">): void {
    const record = { ...ended, ...(key === undefined ? {} : { operation: key[0] }), endedAt: performance.now() };
    this.statistics.add(record);
    this.#onCall?.(record);
    onCall?.(record);
  }

  /** Throws SHUTTING_DOWN, or LIMIT_EXCEEDED for a request with too many texts. */
  #checkCall({ texts = 1 }: ModelCall): void {
    this.refuseDraining();
    const { maxTexts: limit } = this.limits;
    if (texts <= limit) return;
    throw new InferyardError("LIMIT_EXCEEDED", `the request has ${texts} texts, and the limit is ${limit}`, {
      remedy: "send them in several requests",
      data: { texts, limit },
    });
  }

  /**
   * Sets how long the model of a call, if it is in memory, stays there unused, in milliseconds: see `ModelHandle.setKeepAlive`. Only administrators
   * load and unload models: the caller must be one.
   */
  async setKeepAlive(caller: Caller, call: Pick<ModelCall, "model" | "runsLanguageModel">, milliseconds: number): Promise<void> {
    const { reference, constraints } = withKind(await this.resolve(caller, call.model), call);
    await this.runtime.useLoaded(reference, constraints, async (handle) => handle.setKeepAlive(milliseconds));
  }

  /** Throws SHUTTING_DOWN if the server is shutting down. */
  refuseDraining(): void {
    if (!this.draining) return;
    throw new InferyardError("SHUTTING_DOWN", "this server is shutting down and takes no new requests", {
      remedy: "send the request to another replica, or again in a moment",
      retryAfterMs: 1000,
    });
  }
}

/** The model, loaded as a language model if the call needs that. */
function withKind(model: ResolvedModel, { runsLanguageModel = false }: Pick<ModelCall, "runsLanguageModel">): ResolvedModel {
  return runsLanguageModel ? { ...model, constraints: { ...model.constraints, kind: "language" } } : model;
}
