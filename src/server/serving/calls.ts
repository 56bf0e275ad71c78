/** Calls of models, as routes make them. */
import type { InferyardError } from "../../contract/errors.ts";
import type { Manifest } from "../../models/index.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { Priority } from "../../runtime/scheduling/scheduling-key.ts";
import type { Role } from "../server-settings.ts";
import type { CallKey } from "./call-cache.ts";
import type { CallRecord, Reuse } from "./call-record.ts";
import type { ServedModelName } from "./model-names.ts";
import type { ResponseReservation } from "./response-memory.ts";

/** Who makes a call. */
export interface Caller {
  /** Identifies the client for fairness and limits: the name of its key, else its address. */
  readonly client: string;
  readonly role: Role;
  /** Whether the call may name any reference, and not only the models that have a name on this server. Default: false. */
  readonly anyReference?: boolean;
  readonly priority: Priority;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Memory for the response. Default: unbounded. */
  readonly responseMemory?: ResponseReservation | undefined;
  /** Value of the header x-inferyard-target. */
  readonly target?: string | undefined;
  /** Called with the record when the call has ended. */
  readonly onCall?: (record: CallRecord) => void;
}

/** One call of a model. */
export interface ModelCall<Result = unknown> {
  /** The model's name as the client wrote it, or what that stands for; undefined: the default model. */
  readonly model: string | ServedModelName | undefined;
  /** Whether the model is loaded as a language model. Default: false. */
  readonly runsLanguageModel?: boolean;
  /** Number of texts, for the limit `maxTexts`. Default: 1. */
  readonly texts?: number;
  /** Whether the call waits for the model to load without regard to `loadingWait`, as requests to load it do. Default: false. */
  readonly waitsForLoad?: boolean;
  /**
   * Concurrent calls with the same key, model and constraints run once, and the result is cached if `resultCacheBytes` is set. Default: the call
   * is neither coalesced nor cached.
   */
  readonly key?: CallKey;
  /** Size of the response in bytes. Default: estimated size of the result as JSON. */
  responseBytes?(result: Result): number;
}

/** Result of a call, with how long it took. */
export interface CallResult<Result> {
  readonly result: Result;
  /** The model's name as the client wrote it. */
  readonly model: string;
  /** What the name stands for. */
  readonly resolved: ServedModelName;
  /** Time the call waited for its turn, in milliseconds. */
  readonly queueMs: number;
  /** Time from its turn to its result in milliseconds, loading included. */
  readonly inferenceMs: number;
  /** How the result was obtained, if this call did not compute it. */
  readonly reuse?: Reuse;
}

/** Result of a call that ran a model, with where it ran. */
export interface ModelCallResult<Result> extends CallResult<Result> {
  readonly target: string;
  /** Id of the decision that chose the target. */
  readonly decision: string;
}

/** How `CallRunner.describe` describes a model: by the loaded model, else by the manifest of its files. */
export interface ModelDescriber<Result> {
  /** Describes a model in memory. */
  readonly loaded: (model: ModelHandle) => Promise<Result>;
  /** Describes a model that is not in memory. */
  readonly files: (manifest: Manifest) => Promise<Result>;
  /** The error where the model's files are not on this machine. */
  readonly missing: () => InferyardError;
}
