/**
 * What every protocol runs on: a model is found by its name, the request waits its turn, runs within its time, and what came of it is told
 * together with where it ran. Routes know HTTP and their protocol's words; this knows neither.
 */
import { InferyardError } from "../errors.ts";
import { parseDuration } from "../runtime/duration.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { Runtime } from "../task-runtime.ts";
import type { Priority } from "../runtime/turn.ts";
import { serverDefaults } from "../settings/server-section.ts";
import { Admission } from "./admission.ts";
import { LoadWatch } from "./load-watch.ts";
import { LoadingModels } from "./loading-models.ts";
import { type NamedModel, type StoredNames, namedModel } from "./model-names.ts";
import type { Role, ServerSettings } from "./server-settings.ts";

/** Who asks, for how long, and how urgently. */
export interface Caller {
  /** Tells clients apart, for fairness: the name of the key, else the address. */
  readonly client: string;
  readonly role: Role;
  readonly priority: Priority;
  /** Aborted when the client hangs up. */
  readonly signal: AbortSignal;
  /** Header x-inferyard-target. */
  readonly target?: string | undefined;
  /** Told when the call has ended. Default: nobody is. */
  readonly onCall?: (record: CallRecord) => void;
}

/** One request for a model. */
export interface ModelCall {
  /** As the client wrote it; undefined: the default model. */
  readonly model: string | undefined;
  /** Texts it brings, for the limit. Default: 1. */
  readonly texts?: number;
  /** Whether the request is there to load it, and waits however long that takes. Default: false. */
  readonly loads?: boolean;
}

/** What came of it. */
export interface Served<Result> {
  readonly result: Result;
  /** The model's name as the client wrote it. */
  readonly model: string;
  readonly target: string;
  /** Id of the decision. */
  readonly decision: string;
  readonly queueMs: number;
  readonly inferenceMs: number;
}

/** Told of every call that ends, for metrics and logs. */
export interface CallRecord {
  readonly model: string;
  readonly target?: string;
  readonly queueMs: number;
  readonly inferenceMs: number;
  /** Tokens the model saw, where its task counts them. */
  readonly tokens?: number;
  readonly error?: InferyardError;
}

export interface ServiceOptions {
  readonly settings: ServerSettings;
  readonly storedNames: StoredNames;
  readonly onCall?: (record: CallRecord) => void;
  /** How far loads are. Default: nothing is known of that. */
  readonly loadWatch?: LoadWatch;
}

export class Service {
  readonly runtime: Runtime;
  readonly settings: ServerSettings;
  readonly admission: Admission;
  /** How far loads are. */
  readonly loadWatch: LoadWatch;
  readonly #loading: LoadingModels;
  readonly #loadingWaitMs: number | undefined;
  readonly #storedNames: StoredNames;
  readonly #onCall: ((record: CallRecord) => void) | undefined;
  readonly #timeoutMs: number;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, { settings, storedNames, onCall, loadWatch = new LoadWatch() }: ServiceOptions) {
    this.runtime = runtime;
    this.settings = settings;
    this.#storedNames = storedNames;
    this.#onCall = onCall;
    this.loadWatch = loadWatch;
    this.#loading = new LoadingModels(runtime, loadWatch, this.ending);
    this.#loadingWaitMs = settings.loadingWait === undefined ? undefined : parseDuration(settings.loadingWait);
    this.#timeoutMs = parseDuration(settings.requestTimeout ?? serverDefaults.requestTimeout);
    this.admission = new Admission({ running: this.limits.running, waiting: settings.maxQueue ?? serverDefaults.maxQueue });
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

  /** No new request is taken from now on; those that run and wait go on. */
  drain(): void {
    this.#ending.abort();
  }

  /** Names clients may use, the default first. */
  async modelNames(): Promise<string[]> {
    const { models = {}, defaultModel = "builtin" } = this.settings;
    return [...new Set([defaultModel, "builtin", ...Object.keys(models), ...(await this.#storedNames())])];
  }

  /** The model a client names, which it must be allowed to name. Nothing is loaded. */
  named({ target, role }: Pick<Caller, "target" | "role">, written: string | undefined): Promise<NamedModel> {
    return namedModel(written, target, this.settings, role, this.#storedNames);
  }

  /** Runs work on the model a client names, when it is its turn. */
  async call<Result>(
    caller: Caller,
    { model: written, texts = 1, loads = false }: ModelCall,
    work: (model: ModelHandle, signal: AbortSignal) => Promise<Result>,
  ): Promise<Served<Result>> {
    this.refuseDraining();
    this.#refuseTooMany(texts);
    const started = performance.now();
    const named = await this.named(caller, written);
    // Not AbortSignal.timeout: its timer would keep a request that has long been answered until its time is over.
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#timeoutMs);
    const signal = AbortSignal.any([caller.signal, limit.signal]);
    let begun = started;
    let target: string | undefined;
    try {
      const turn = { client: caller.client, priority: caller.priority };
      return await this.admission.run({ ...turn, signal }, async () => {
        begun = performance.now();
        const onModel = async (handle: ModelHandle): Promise<Served<Result>> => {
          target = handle.target;
          const result = await work(handle, signal);
          const ended = performance.now();
          const times = { queueMs: begun - started, inferenceMs: ended - begun };
          this.#tell(caller, { model: named.name, target: handle.target, ...times, ...tokensOf(result) });
          return { result, model: named.name, target: handle.target, decision: handle.decision.id, ...times };
        };
        if (!loads && this.#loadingWaitMs !== undefined) await this.#loading.wait(named, this.#loadingWaitMs, signal);
        return await this.runtime.use(named.reference, { ...named.wish, signal }, onModel, turn);
      });
    } catch (thrown) {
      const error = limit.signal.aborted && !caller.signal.aborted ? this.#tooLate() : thrown;
      if (error instanceof InferyardError) {
        const times = { queueMs: begun - started, inferenceMs: performance.now() - begun };
        this.#tell(caller, { model: named.name, ...(target === undefined ? {} : { target }), ...times, error });
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Begins to load a model, or looks how far that is: throws MODEL_LOADING until it is there, and what the load threw. */
  async loadInBackground(caller: Caller, written: string): Promise<void> {
    this.refuseDraining();
    await this.#loading.wait(await this.named(caller, written), 0, caller.signal);
  }

  #tell({ onCall }: Caller, record: CallRecord): void {
    this.#onCall?.(record);
    onCall?.(record);
  }

  /** SHUTTING_DOWN when no new request is taken any more. */
  refuseDraining(): void {
    if (!this.draining) return;
    throw new InferyardError("SHUTTING_DOWN", "this server is ending and takes no new requests", {
      remedy: "send the request to another replica, or again in a moment",
      retryAfterMs: 1000,
    });
  }

  #refuseTooMany(texts: number): void {
    const { texts: limit } = this.limits;
    if (texts <= limit) return;
    throw new InferyardError("LIMIT_EXCEEDED", `the request has ${texts} texts, and the limit is ${limit}`, {
      remedy: "send them in several requests",
      data: { texts, limit },
    });
  }

  #tooLate(): InferyardError {
    return new InferyardError("REQUEST_TIMEOUT", `the request was not done within ${this.#timeoutMs} ms`, {
      remedy: "send less at once, or raise requestTimeout",
      retryAfterMs: Math.ceil(this.admission.expectedWaitMs),
    });
  }
}

/** Tasks that count tokens do so for each text. */
function tokensOf(result: unknown): { readonly tokens?: number } {
  if (typeof result !== "object" || result === null || !("tokens" in result) || !Array.isArray(result.tokens)) return {};
  const counts = result.tokens.filter((count) => typeof count === "number");
  return { tokens: counts.reduce((sum, count) => sum + count, 0) };
}
