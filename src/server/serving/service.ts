/** The core of the server: the names of its models, the admission of calls, cached results, and the calls, on one runtime. */
import type { Runtime } from "../../api/runtime.ts";
import { serverDefaults } from "../../settings/server-options.ts";
import type { ServerSettings } from "../server-settings.ts";
import type { Batches } from "../batches/batches.ts";
import { Admission } from "./admission.ts";
import { CallCache } from "./call-cache.ts";
import type { CallRecord } from "./call-record.ts";
import { CallRunner } from "./call-runner.ts";
import { CallStatistics } from "./call-statistics.ts";
import { ClientTurns } from "./client-turns.ts";
import { LoadProgressTracker } from "./load-progress.ts";
import { modelLimits } from "./model-limits.ts";
import { ModelNames, type StoredNames, type StoredTime } from "./model-names.ts";
import { TiktokenDecoder } from "./tiktoken-decoder.ts";

export type { StoredTime } from "./model-names.ts";

/** Constructor options of a `Service` in addition to its runtime. */
export interface ServiceOptions {
  readonly settings: ServerSettings;
  /** Names of the models in the store. */
  readonly storedNames: StoredNames;
  /** When those were fetched. Default: unknown. */
  readonly storedTime?: StoredTime;
  /** Files and batches of clients. Default: there are none. */
  readonly batches?: Batches;
  /** Called with the record of every call that has ended. */
  readonly onCall?: (record: CallRecord) => void;
  /** Tracks loads by the events of the runtime. Default: a tracker that receives no events, so that the progress is unknown. */
  readonly loadProgress?: LoadProgressTracker;
}

/** What all routes share. */
export class Service {
  readonly runtime: Runtime;
  readonly settings: ServerSettings;
  /** Resolves the names that clients write. */
  readonly names: ModelNames;
  /** Limits how many calls run and wait. */
  readonly admission: Admission;
  /** Results that are kept for equal calls. */
  readonly cache: CallCache;
  /** Runs the calls of models. */
  readonly calls: CallRunner;
  /** Decodes the token ids that clients send; undefined unless the setting `tokenIds` names an encoding. */
  readonly tiktoken: TiktokenDecoder | undefined;
  /** Progress of the current loads. */
  readonly loadProgress: LoadProgressTracker;
  /** Shares the server's thread between clients. */
  readonly turns: ClientTurns = new ClientTurns();
  /** Counts and times of completed calls, by model. */
  readonly statistics: CallStatistics = new CallStatistics();
  /** Files and batches of clients; undefined if the server has no folder for them. */
  readonly batches: Batches | undefined;
  /** Maximum number of requests that run at once, and of texts of one request. */
  readonly limits: { readonly maxRunning: number; readonly maxTexts: number };
  readonly #shutdown = new AbortController();

  constructor(runtime: Runtime, options: ServiceOptions) {
    const {
      settings,
      storedNames,
      storedTime = async () => undefined,
      onCall,
      batches,
      loadProgress = new LoadProgressTracker(),
    } = options;
    const {
      maxConcurrentRequests: maxRunning,
      maxTexts,
      maxQueue: maxWaiting,
      resultCacheBytes,
    } = { ...serverDefaults, ...settings };
    const { tokenIds } = settings;
    this.runtime = runtime;
    this.batches = batches;
    this.settings = settings;
    this.limits = { maxRunning, maxTexts };
    this.tiktoken = tokenIds === undefined || tokenIds === "own" ? undefined : new TiktokenDecoder(tokenIds);
    this.loadProgress = loadProgress;
    this.names = new ModelNames(settings, storedNames, storedTime);
    const limits = modelLimits(settings);
    const admissions = Array.from(limits, ([reference, { admission }]) => [reference, admission] as const);
    this.admission = new Admission({ maxRunning, maxWaiting }, new Map(admissions));
    this.cache = new CallCache(runtime, resultCacheBytes);
    this.calls = new CallRunner({
      runtime,
      settings,
      loadProgress,
      modelLimits: limits,
      names: this.names,
      admission: this.admission,
      cache: this.cache,
      turns: this.turns,
      shutdown: this.shutdown,
      onCall: (record) => {
        this.statistics.add(record);
        onCall?.(record);
      },
    });
  }

  /** Whether the server is shutting down and takes no new calls. */
  get draining(): boolean {
    return this.shutdown.aborted;
  }

  /** Aborted when the server starts to shut down; endless work, such as a stream of events, ends then. */
  get shutdown(): AbortSignal {
    return this.#shutdown.signal;
  }

  /** Refuses new calls; calls that run or wait continue. */
  drain(): void {
    this.#shutdown.abort();
  }
}
