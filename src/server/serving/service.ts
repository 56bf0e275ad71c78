/**
 * What every protocol runs on: a model is found by its name, the request waits its turn, runs within its time, and what came of it is told
 * together with where it ran. Routes know HTTP and their protocol's words; this knows neither.
 */
import { InferyardError } from "../../errors.ts";
import { type Manifest, readManifest } from "../../models/index.ts";
import { isRemote } from "../../models/reference/remote-reference.ts";
import type { Decision } from "../../runtime/decision/decision.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { Runtime } from "../../api/runtime.ts";
import type { Priority } from "../../runtime/scheduling/scheduling-key.ts";
import { serverDefaults } from "../../settings/server-section.ts";
import { Admission } from "./admission.ts";
import { type ResponseReservation, ResponseSizeEstimates, responseKind } from "./response-memory.ts";
import { targetOf, callTimes, tokensOf, wasLoadedSince } from "./call-record.ts";
import { LoadLimiter } from "./load-limiter.ts";
import { LoadProgressTracker } from "./load-progress.ts";
import { BackgroundLoads } from "./background-loads.ts";
import { type PerModelLimits, modelLimits } from "./model-limits.ts";
import { type ResolvedModel, type StoredNames, defaultModelOf, resolveModel } from "./model-names.ts";
import { estimateMemoryBytes, deepCopy, estimateJsonBytes } from "./plain-data.ts";
import { type CallKey, hashParts } from "./call-key.ts";
import { ResultCache } from "./result-cache.ts";
import type { Role, ServerSettings } from "../server-settings.ts";
import { type CoalescedResult, CallCoalescer } from "./call-coalescing.ts";

/** Who asks, for how long, and how urgently. */
export interface Caller {
  /** Tells clients apart, for fairness: the name of the key, else the address. */
  readonly client: string;
  readonly role: Role;
  /** Whether the call may name any reference, and not only models that have a name here. Default: false. */
  readonly anyReference?: boolean;
  readonly priority: Priority;
  /** Aborted when the client hangs up. */
  readonly signal: AbortSignal;
  /** Memory for the answer. Default: it is not bounded. */
  readonly responseMemory?: ResponseReservation | undefined;
  /** Header x-inferyard-target. */
  readonly target?: string | undefined;
  /** Told when the call has ended. Default: nobody is. */
  readonly onCall?: (record: CallRecord) => void;
}

/** One request for a model. */
export interface ModelCall<Result = unknown> {
  /** As the client wrote it; undefined: the default model. */
  readonly model: string | undefined;
  /** Texts it brings, for the limit. Default: 1. */
  readonly texts?: number;
  /** Whether the request is there to load it, and waits however long that takes. Default: false. */
  readonly loads?: boolean;
  /**
   * What is asked. Calls that overlap and ask the same of the same model in the same place are answered once, and the answer is kept where
   * answers are. It must be plain data. Default: every call is answered by itself.
   */
  readonly question?: CallKey;
  /** Bytes of the answer to this result. Default: those of the result as JSON. */
  answerBytes?(result: Result): number;
}

/** Whose work an answer is, where it is not the call's own: that of another call at the same time, or of one before. */
export type Reuse = "shared" | "cached";

/** What came of it. */
export interface CallResult<Result> {
  readonly result: Result;
  /** The model's name as the client wrote it. */
  readonly model: string;
  readonly queueMs: number;
  readonly inferenceMs: number;
  readonly reuse?: Reuse;
}

/** The same of work that a model did. */
export interface ModelCallResult<Result> extends CallResult<Result> {
  readonly target: string;
  /** Id of the decision. */
  readonly decision: string;
}

/** Told of every call that ends, for metrics, logs and traces. */
export interface CallRecord {
  readonly model: string;
  readonly target?: string;
  readonly queueMs: number;
  /** From its turn to its result, loading included. */
  readonly inferenceMs: number;
  /** Time of `inferenceMs` in which the model was loaded for it; left out where it was in memory. */
  readonly loadMs?: number;
  /** Tokens the model saw, where its task counts them; left out where it saw them for another call. */
  readonly tokens?: number;
  readonly reuse?: Reuse;
  readonly error?: InferyardError;
  /** The name of the work, where the call says what it asks. */
  readonly work?: string;
  /** When it ended, by `performance.now()`. */
  readonly endedAt: number;
}

/** What is said of a model, see `Service.describe`. */
export interface ModelDescriber<Result> {
  readonly loaded: (model: ModelHandle) => Promise<Result>;
  readonly files: (manifest: Manifest) => Promise<Result>;
  readonly missing: () => InferyardError;
}

/** When a model of the store was fetched, by its reference; undefined where the store has none such. */
export type StoredTime = (reference: string) => Promise<Date | undefined>;

export interface ServiceOptions {
  readonly settings: ServerSettings;
  readonly storedNames: StoredNames;
  /** Default: no time is known. */
  readonly storedTime?: StoredTime;
  readonly onCall?: (record: CallRecord) => void;
  /** How far loads are. Default: nothing is known of that. */
  readonly loadProgress?: LoadProgressTracker;
}

/** One piece of work that was done, for one call or for several. */
interface WorkResult<Result> {
  readonly result: Result;
  readonly loadMs?: number;
  /** Where a model did it. */
  readonly target?: string;
  readonly decision?: Decision;
}

type ModelWorkResult<Result> = WorkResult<Result> & Required<Pick<WorkResult<Result>, "target" | "decision">>;

export class Service {
  readonly runtime: Runtime;
  readonly settings: ServerSettings;
  readonly admission: Admission;
  /** How far loads are. */
  readonly loadProgress: LoadProgressTracker;
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
  readonly #cache: ResultCache<ModelWorkResult<unknown>> | undefined;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, options: ServiceOptions) {
    const {
      settings,
      storedNames,
      storedTime = async () => undefined,
      onCall,
      loadProgress = new LoadProgressTracker(),
    } = options;
    const { maxQueue = serverDefaults.maxQueue, resultCacheBytes = serverDefaults.resultCacheBytes } = settings;
    this.runtime = runtime;
    this.settings = settings;
    this.#storedNames = storedNames;
    this.#storedTime = storedTime;
    this.#onCall = onCall;
    this.loadProgress = loadProgress;
    this.#backgroundLoads = new BackgroundLoads(runtime, loadProgress, this.ending);
    this.#loadLimiter = new LoadLimiter(settings);
    this.#loadingWaitMs = settings.loadingWait === undefined ? undefined : parseDuration(settings.loadingWait);
    this.#timeoutMs = parseDuration(settings.requestTimeout ?? serverDefaults.requestTimeout);
    this.#modelLimits = modelLimits(settings);
    const admissions = Array.from(this.#modelLimits, ([reference, { admission }]) => [reference, admission] as const);
    this.admission = new Admission({ running: this.limits.running, waiting: maxQueue }, new Map(admissions));
    this.#cache = resultCacheBytes === 0 ? undefined : new ResultCache(resultCacheBytes);
  }

  get draining(): boolean {
    return this.ending.aborted;
  }

  /** Aborted when no new request is taken any more: what would go on for ever, such as a stream of events, ends then. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Requests that run at once, and texts of one request. */
  get limits(): { readonly running: number; readonly texts: number } {
    const { maxConcurrentRequests, maxTexts } = this.settings;
    const running = maxConcurrentRequests ?? serverDefaults.maxConcurrentRequests;
    return { running, texts: maxTexts ?? serverDefaults.maxTexts };
  }

  /** Requests for one model that run at once. */
  runningLimit(reference: string): number {
    return Math.min(this.limits.running, this.#modelLimits.get(reference)?.admission.running ?? Number.POSITIVE_INFINITY);
  }

  /** What the answers that are kept take, in bytes. */
  get cachedBytes(): number {
    return this.#cache?.bytes ?? 0;
  }

  /** No new request is taken from now on; those that run and wait go on. */
  drain(): void {
    this.#ending.abort();
  }

  /** Names clients may use, the default first. */
  async modelNames(): Promise<string[]> {
    const { models = {} } = this.settings;
    return [...new Set([defaultModelOf(this.settings).name, "builtin", ...Object.keys(models), ...(await this.#storedNames())])];
  }

  /** When a model was fetched, where that is known. */
  async timeOf(name: string): Promise<Date | undefined> {
    const { reference } = await this.resolve({}, name);
    return this.#storedTime(reference).catch(() => undefined); // a record that cannot be read has no time
  }

  /** The model a client names, which it must be allowed to name. Nothing is loaded. */
  resolve(
    { target, anyReference = false }: Pick<Caller, "target" | "anyReference">,
    written: string | undefined,
  ): Promise<ResolvedModel> {
    return resolveModel(written, target, this.settings, anyReference, this.#storedNames);
  }

  /** Runs work on the model a client names, when it is its turn. */
  async call<Result>(
    caller: Caller,
    call: ModelCall<Result>,
    work: (model: ModelHandle, signal: AbortSignal) => Promise<Result>,
  ): Promise<ModelCallResult<Result>> {
    this.#checkCall(call);
    const named = await this.resolve(caller, call.model);
    const kept = call.question === undefined ? undefined : await this.#cached<Result>(caller, named, call, call.question);
    if (kept !== undefined) return kept;
    const { target, decision, ...answered } = await this.#runCall(caller, named, call, async (signal, onTarget) => {
      const { client, priority, role } = caller;
      const admitLoad = this.#loadLimiter.admitterFor(client, role);
      const begun = Date.now();
      const asked = performance.now();
      const onModel = async (handle: ModelHandle): Promise<ModelWorkResult<Result>> => {
        const ready = performance.now();
        onTarget(handle.target);
        const before = handle.decision;
        const result = await work(handle, signal);
        const done = { result, target: handle.target, decision: handle.decision };
        if (call.question !== undefined && before === handle.decision) this.#cacheResult(done, call.question);
        return { ...done, ...(wasLoadedSince(begun, before) ? { loadMs: ready - asked } : {}) };
      };
      const longest = this.#loadingWaitMs;
      if (call.loads !== true && longest !== undefined)
        await this.#backgroundLoads.waitUntilLoaded(named, longest, signal, admitLoad);
      return this.runtime.use(named.reference, { ...named.constraints, signal }, onModel, { client, priority, admitLoad });
    });
    return { ...answered, target, decision: decision.id };
  }

  /** Runs work that needs no model in memory, but its files at most, when it is its turn. */
  async callWithoutModel<Result>(
    caller: Caller,
    call: ModelCall<Result>,
    work: (model: ResolvedModel, signal: AbortSignal) => Promise<Result>,
  ): Promise<CallResult<Result>> {
    this.#checkCall(call);
    const named = await this.resolve(caller, call.model);
    return this.#runCall(caller, named, call, async (signal) => ({ result: await work(named, signal) }));
  }

  /**
   * Says something of a model without loading or fetching it: of the one in memory, else what its files say; `missing` makes the error where
   * these are not on this machine.
   */
  describe<Result>(caller: Caller, written: string | undefined, say: ModelDescriber<Result>): Promise<CallResult<Result>> {
    return this.callWithoutModel(caller, { model: written, texts: 0 }, async ({ reference, constraints }) => {
      const result = await this.runtime.useLoaded(reference, constraints, say.loaded);
      if (result !== undefined) return result;
      return say.files(
        await readManifest(reference).catch((error: unknown) => {
          const isAbsent = isRemote(reference) && error instanceof InferyardError && error.code === "MODEL_NOT_FOUND";
          throw isAbsent ? say.missing() : error;
        }),
      );
    });
  }

  /** One call from its place in the queue to its answer, within its time, and told of when it ends. */
  async #runCall<Result, Work extends WorkResult<Result>>(
    caller: Caller,
    { name, reference, constraints }: ResolvedModel,
    call: ModelCall<Result>,
    work: (signal: AbortSignal, onTarget: (target: string) => void) => Promise<Work & WorkResult<Result>>,
  ): Promise<CallResult<Result> & Omit<Work, "result" | "loadMs">> {
    const { client, priority, responseMemory } = caller;
    const { question } = call;
    const kind = responseKind(reference, call);
    const started = performance.now();
    const timeoutMs = this.#modelLimits.get(reference)?.timeoutMs ?? this.#timeoutMs;
    // Not AbortSignal.timeout: its timer would keep a request that has long been answered until its time is over.
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const signal = AbortSignal.any([caller.signal, limit.signal]);
    let begun: number | undefined;
    let target: string | undefined;
    try {
      await this.#responseSizes.reserve(responseMemory, kind, signal);
      const answer: CoalescedResult<Work & WorkResult<Result>> = await this.#coalescer.run({
        // What is urgent does not wait for what is not.
        key: question === undefined ? Symbol(name) : hashParts([reference, constraints, priority, question]),
        signal,
        schedule: (waiting, run) =>
          this.admission.run({ client, priority, signal: waiting, model: reference }, () => {
            begun = performance.now();
            return run();
          }),
        work: (together) => work(together, (where) => (target = where)),
        copy: (done) => ({ ...done, result: deepCopy(done.result, done.decision) }),
      });
      const { result, loadMs, ...place } = answer.result;
      this.#responseSizes.settle(responseMemory, kind, call.answerBytes?.(result) ?? estimateJsonBytes(result, place.decision));
      const times = callTimes(started, Math.max(started, answer.startedAt));
      const how = answer.isOwn ? {} : { reuse: "shared" as const };
      const own = answer.isOwn ? { ...(loadMs === undefined ? {} : { loadMs }), ...tokensOf(result) } : {};
      this.#recordCall(caller, question, { model: name, ...targetOf(place.target), ...times, ...how, ...own });
      return { ...place, result, model: name, ...times, ...how };
    } catch (thrown) {
      const error = limit.signal.aborted && !caller.signal.aborted ? this.#timeoutError(timeoutMs, reference) : thrown;
      if (error instanceof InferyardError) {
        this.#recordCall(caller, question, { model: name, ...targetOf(target), ...callTimes(started, begun), error });
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Begins to load a model, or looks how far that is: throws MODEL_LOADING until it is there, and what the load threw. */
  async loadInBackground(caller: Caller, written: string): Promise<void> {
    this.refuseDraining();
    const admitLoad = this.#loadLimiter.admitterFor(caller.client, caller.role);
    await this.#backgroundLoads.waitUntilLoaded(await this.resolve(caller, written), 0, caller.signal, admitLoad);
  }

  /**
   * The answer that the model which is in memory now has given before; undefined where there is none. A model that was loaded anew, or moved,
   * has another decision, so that it never answers for the one before.
   */
  async #cached<Result>(
    caller: Caller,
    { name, reference, constraints }: ResolvedModel,
    call: ModelCall<Result>,
    question: CallKey,
  ): Promise<ModelCallResult<Result> | undefined> {
    const cache = this.#cache;
    if (cache === undefined) return undefined;
    await this.#responseSizes.reserve(caller.responseMemory, responseKind(reference, call), caller.signal);
    const key = hashParts(question);
    const done = await this.runtime.useLoaded(reference, constraints, async ({ decision }) => cache.get(`${decision.id} ${key}`));
    if (done === undefined) return undefined;
    const { target, decision } = done;
    const answered = { model: name, target, queueMs: 0, inferenceMs: 0, reuse: "cached" as const };
    this.#recordCall(caller, question, answered);
    // What has the same key is the answer to the same question, and so of the same kind.
    return { ...answered, decision: decision.id, result: deepCopy(done.result, decision) as Result };
  }

  #cacheResult({ result, target, decision }: ModelWorkResult<unknown>, question: CallKey): void {
    if (this.#cache === undefined) return;
    const kept = deepCopy(result, decision);
    this.#cache.put(
      `${decision.id} ${hashParts(question)}`,
      { result: kept, target, decision },
      estimateMemoryBytes(kept, decision),
    );
  }

  #recordCall({ onCall }: Caller, question: CallKey | undefined, ended: Omit<CallRecord, "work" | "endedAt">): void {
    const record = { ...ended, ...(question === undefined ? {} : { work: question[0] }), endedAt: performance.now() };
    this.#onCall?.(record);
    onCall?.(record);
  }

  #checkCall({ texts = 1 }: ModelCall): void {
    this.refuseDraining();
    const { texts: limit } = this.limits;
    if (texts <= limit) return;
    throw new InferyardError("LIMIT_EXCEEDED", `the request has ${texts} texts, and the limit is ${limit}`, {
      remedy: "send them in several requests",
      data: { texts, limit },
    });
  }

  /** SHUTTING_DOWN when no new request is taken any more. */
  refuseDraining(): void {
    if (!this.draining) return;
    throw new InferyardError("SHUTTING_DOWN", "this server is ending and takes no new requests", {
      remedy: "send the request to another replica, or again in a moment",
      retryAfterMs: 1000,
    });
  }

  #timeoutError(timeoutMs: number, reference: string): InferyardError {
    return new InferyardError("REQUEST_TIMEOUT", `the request was not done within ${timeoutMs} ms`, {
      remedy: "send less at once, or raise requestTimeout",
      retryAfterMs: Math.ceil(this.admission.expectedWaitMs(reference)),
    });
  }
}
