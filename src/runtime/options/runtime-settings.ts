/** What a runtime is told: settings, what one load may ask for, and the events it reports in turn. */
import type { LoadSettings } from "../../backend.ts";
import type { HostName } from "../../hosts/host.ts";
import type { ReplacementReason } from "../../hosts/supervision.ts";
import type { PullProgress } from "../../models/hub/progress.ts";
import type { MemoryBudgetSettings } from "../residency/memory-budget.ts";
import type { Decision } from "../decision/decision.ts";
import type { UnloadReason } from "../residency/residency.ts";
import type { ConstraintOptions } from "../selection/constraints.ts";

/** How a runtime behaves; every setting holds for all its models unless a load says otherwise. */
export interface RuntimeSettings extends ConstraintOptions, LoadSettings, LimitSettings, MemoryBudgetSettings {
  /** Settings for single models, by the reference they are loaded with. */
  readonly models?: Readonly<Record<string, ModelSettings>>;
  /** Models to load when the runtime is made, beside those whose strategy says so. Default: none. */
  readonly preload?: readonly string[];
  /**
   * Where models live. Default: for backends that block their thread a process where a budget is set, since only a process gives all its
   * memory back, and a worker otherwise; for the others the calling thread.
   */
  readonly host?: HostName;
  /**
   * Copies with one thread each that share the work: "auto" = for bulk work, one per core as memory allows; a number = so many, for runs
   * that overlap as well. 1 = none. Default: "auto".
   */
  readonly replicas?: number | "auto";
  /**
   * Texts of calls that overlap share batches, for servers: many small calls together take less time, and a vector then depends on what ran
   * beside it by rounding (1e-5; with int8 as much as int8 itself loses). Default: false, and each call gives what it gives alone.
   */
  readonly shareBatches?: boolean;
  /** How long a load waits for models in use to leave when the budget is full: milliseconds, or "30s", "5m". Default: "30s". */
  readonly memoryWait?: number | string;
  /** How long a model stays after its last use: milliseconds, or "30s", "5m", "1h"; 0 = for ever. Default: "5m". */
  readonly keepAlive?: number | string;
  /** After a failure that may pass (the host died, no memory), load on the next target and run the request once more. Default: false. */
  readonly failover?: boolean;
  /**
   * Most memory of one model's process: bytes, or "2GB". One that holds more is replaced between two calls, so that what an engine leaks
   * is given back. Models of backends that block their thread live in processes then. Default: no limit.
   */
  readonly maxProcessMemory?: number | string;
  /**
   * So many deaths of a model's thread or process within `crashWindow` are a crash loop: the model is left alone for as long (CIRCUIT_OPEN).
   * Default: 5.
   */
  readonly maxCrashes?: number;
  /** See `maxCrashes`: milliseconds, or "30s", "5m". Default: "1m". */
  readonly crashWindow?: number | string;
  /**
   * Longest load of a model on one target, its verification included, download and waiting for memory excluded: milliseconds, or "30s", "5m"; 0 = no
   * limit. After it the model's process is killed, the death counts as in `maxCrashes`, and the next target is tried. A thread inside a native
   * engine cannot be ended and is waited for. Default: "10m".
   */
  readonly loadTimeout?: number | string;
  /**
   * Longest run of a model, one batch of texts or one call with tensors: milliseconds, or "30s", "5m"; 0 = no limit. A longer one is a hang: as in
   * `loadTimeout` the process is killed, calls end with HOST_DIED, and the next call starts another. Default: no limit.
   */
  readonly runTimeout?: number | string;
  /** Told of loads, unloads, failovers, deaths, restarts and downloads. */
  readonly onEvent?: (event: RuntimeEvent) => void;
  /** Told of every batch of texts that a model has run. Default: nobody is. */
  readonly onBatch?: (batch: BatchEvent) => void;
  /** Threads that read long texts, for servers: no text holds the event loop then. Default: none, and the calling thread reads them. */
  readonly textThreads?: TextThreadSettings;
  /** Fetch nothing: a model that is not on this machine is MODEL_NOT_FOUND. Default: false, unless HF_HUB_OFFLINE is set. */
  readonly offline?: boolean;
}

/** What one model file and one run may take. */
export interface LimitSettings {
  /**
   * How long our own engine may turn a model into one program: milliseconds, or "30s"; a second more for each 8 million elements of its weights.
   * A model that takes longer is refused, and the next target is tried. Default: "30s".
   */
  readonly maxTraceTime?: number | string;
  /**
   * Most memory our own engine may hold while it turns a model into one program: bytes, or "1GB"; 16 bytes more for each element of its weights. A
   * model that takes more is refused, and the next target is tried. Default: 512 MiB.
   */
  readonly maxTraceMemory?: number | string;
  /**
   * Most memory one run may take beside the weights, by an estimate from the shapes of its inputs: bytes, or "1GB". A batch whose rows do not
   * depend on each other is split; what cannot be split is LIMIT_EXCEEDED. Default: no limit.
   */
  readonly maxRunMemory?: number | string;
}

/** How much threads that read long texts may do. Beyond it a call is LIMIT_EXCEEDED. */
export interface TextThreadSettings {
  /** Longest text in UTF-16 units; as many token ids may be decoded. */
  readonly maxCharacters: number;
  /** Longest time for one text: milliseconds, or "30s". */
  readonly timeout: number | string;
}

/** How a model comes and goes. */
export interface ModelSettings extends ConstraintOptions {
  /**
   * lazy: loaded at its first use, unloaded after `keepAlive`. eager: loaded when the runtime is made, and leaves only when room is needed.
   * pinned: loaded when the runtime is made, and stays until it is unloaded by name. Default: "lazy".
   */
  readonly strategy?: Strategy;
}

export type Strategy = "lazy" | "eager" | "pinned";

export type RuntimeEvent =
  /** Weights of so many bytes are about to be loaded on a target. */
  | { readonly type: "loading"; readonly reference: string; readonly target: string; readonly bytes: number }
  | { readonly type: "loaded"; readonly decision: Decision }
  /** A load was given up, because no target could run the model or because nobody waited for it any more. */
  | { readonly type: "load-failed"; readonly reference: string; readonly code: string; readonly reason: string }
  | ({ readonly type: "unloaded"; readonly reference: string; readonly target: string } & UnloadReason)
  | { readonly type: "failover"; readonly reference: string; readonly from: string; readonly reason: string }
  | {
      /** A model's thread or process died by itself. */
      readonly type: "died";
      readonly reference: string;
      readonly target: string;
      readonly reason: string;
      /** Within `crashWindow`. */
      readonly deaths: number;
      /** Whether they are too many, so that nothing is started for `restMs`; else the next call starts another, after `restMs`. */
      readonly resting: boolean;
      readonly restMs: number;
      /** It did not answer in time (`loadTimeout`, `runTimeout`, a cancelled run that held up others) and was ended. Default: false. */
      readonly hung?: boolean;
    }
  | {
      /** Another has taken its place; "memory": it held more than `maxProcessMemory`. */
      readonly type: "restarted";
      readonly reference: string;
      readonly target: string;
      readonly why: ReplacementReason;
      readonly milliseconds: number;
    }
  | { readonly type: "download"; readonly reference: string; readonly progress: PullProgress };

/** Texts, or parts of texts, that a model has run together. */
export interface BatchEvent {
  readonly reference: string;
  readonly target: string;
  /** How many there were. */
  readonly rows: number;
  /** Tokens of all of them, and what they were padded to: rows times the longest. */
  readonly tokens: number;
  readonly paddedTokens: number;
}

export interface RuntimeDisposeOptions {
  /** How long calls under way are waited for before they are cut off: milliseconds, or "30s", "5m". Default: "30s". */
  readonly timeout?: number | string;
}

/** What one load may ask for. */
export interface ModelOptions extends ConstraintOptions, LoadSettings {
  /** Name or alias of a variant: "fp32", "int8", "quantized", ... Default: the first one the chosen backend can run. */
  readonly variant?: string;
  readonly signal?: AbortSignal;
}
