/** Settings of a runtime, options of one load, and the events that a runtime reports. */
import type { LoadSettings } from "../../contract/backend.ts";
import type { HostName, ModelKind } from "../../hosts/host-name.ts";
import type { ReplacementReason } from "../../hosts/supervision.ts";
import type { PullProgress } from "../../models/hub/progress.ts";
import type { MemoryBudgetSettings } from "./memory-settings.ts";
import type { SequenceSettings } from "./sequence-settings.ts";
import type { Decision } from "../decision/decision.ts";
import type { Fallback } from "../decision/fallbacks.ts";
import type { UnloadReason } from "./memory-settings.ts";
import type { ConstraintOptions } from "../targets/constraints.ts";

/** Settings of a runtime. Each holds for all its models unless a load overrides it. */
export interface RuntimeSettings extends ConstraintOptions, LoadSettings, LimitSettings, MemoryBudgetSettings, SequenceSettings {
  /** Settings of single models, by the reference that they are loaded with. Every spelling of a path means the same model. */
  readonly models?: Readonly<Record<string, ModelSettings>>;
  /** References of models that are loaded when the runtime is created, in addition to models whose strategy requires it. Default: none. */
  readonly preload?: readonly string[];
  /**
   * The host that models live in. Default: "inline" for backends that do not block their thread. For the others "worker"
   * without a memory budget, and "process" with one, since only a process returns all its memory to the system.
   */
  readonly host?: HostName;
  /**
   * Number of single-threaded replicas that share the work of a model. "auto": one per core, as memory permits, loaded for bulk
   * work. A number: that many, which also take overlapping runs. 1: none. Default: "auto".
   */
  readonly replicas?: number | "auto";
  /**
   * Whether texts of concurrent calls share batches, for servers. Many small calls take less time in total. A vector then
   * depends on the other texts of its batch by rounding error (1e-5; with int8 weights as much as the quantization error).
   * Default: false.
   */
  readonly shareBatches?: boolean;
  /** Maximum time that a load waits for memory when the budget is exhausted: milliseconds, or "30s", "5m". Default: "30s". */
  readonly memoryWait?: number | string;
  /**
   * Time that an unused model stays in memory: milliseconds, or "30s", "5m", "1h". 0: until it is unloaded or evicted. Default:
   * "5m".
   */
  readonly keepAlive?: number | string;
  /**
   * Whether a run that fails with a retryable error (the host died, out of memory) is repeated once on the next target, to
   * which the model is moved. Default: false.
   */
  readonly failover?: boolean;
  /**
   * How a request is served whose first target has to compile the model, as XLA does: "wait" until it is compiled, or be served by the "next" target that
   * compiles nothing, while the model is compiled in the background for later requests. A request that permits no other target waits. Default: "wait".
   */
  readonly whileCompiling?: WhileCompiling;
  /**
   * Whether texts by a JSON schema, and arguments of tools, may have members that the schema does not list, as the specification allows; a call may override
   * it. Default: false.
   */
  readonly unlistedMembers?: boolean;
  /**
   * Maximum resident memory of one model's process: bytes, or "2GB". A process that holds more is replaced between two calls,
   * so that memory leaked by an engine is returned. Models of blocking backends then live in processes. Default: no limit.
   */
  readonly maxProcessMemory?: number | string;
  /**
   * Number of deaths of a model's thread or process within `crashWindow` that make a crash loop. The model is then not started
   * for one window, and calls fail with CIRCUIT_OPEN. Default: 5.
   */
  readonly maxCrashes?: number;
  /** Window of `maxCrashes`: milliseconds, or "30s", "5m". Default: "1m". */
  readonly crashWindow?: number | string;
  /**
   * Maximum time of one load on one target, including verification, excluding download and waiting for memory: milliseconds, or
   * "30s", "5m". 0: no limit. A load that takes longer is ended by killing the model's process; the death counts for
   * `maxCrashes`, and the next target is tried. A thread inside a native engine cannot be killed and is waited for. Default:
   * "10m".
   */
  readonly loadTimeout?: number | string;
  /**
   * Maximum time of one run (one batch of texts, or one call with tensors): milliseconds, or "30s", "5m". 0: no limit. A run
   * that takes longer is a hang: the process is killed as with `loadTimeout`, its calls fail with HOST_DIED, and the next call
   * starts another process. Default: no limit.
   */
  readonly runTimeout?: number | string;
  /** Called for loads, unloads, failovers, deaths, restarts and downloads. Default: none. */
  readonly onEvent?: (event: RuntimeEvent) => void;
  /** Called after each batch of texts that a model has run. Default: none. */
  readonly onBatch?: (batch: BatchEvent) => void;
  /**
   * Threads that tokenize and chunk long texts, so that no text blocks the event loop; for servers. Default: none, and the
   * calling thread does it.
   */
  readonly textThreads?: TextThreadSettings;
  /**
   * Threads that compile constraints (JSON schemas, regular expressions, grammars, tools) and find the tokens that may follow, so that no constraint blocks the event
   * loop; for servers. Default: none, and the calling thread does it.
   */
  readonly constraintThreads?: ConstraintThreadSettings;
  /**
   * true: nothing is downloaded; a model that is not on this machine is MODEL_NOT_FOUND. Default: false, unless the environment
   * variable HF_HUB_OFFLINE is set.
   */
  readonly offline?: boolean;
}

/** Limits of one model file and of one run. */
export interface LimitSettings {
  /**
   * Maximum time that our own engine may take to compile a model into one executable: milliseconds, or "30s", plus one second
   * for every 8 million elements of its weights. A model that takes longer is refused, and the next target is tried. Default:
   * "30s".
   */
  readonly maxTraceTime?: number | string;
  /**
   * Maximum memory that our own engine may hold while it compiles a model: bytes, or "1GB", plus 16 bytes for each element of
   * its weights. A model that takes more is refused, and the next target is tried. Default: 512 MiB.
   */
  readonly maxTraceMemory?: number | string;
  /**
   * Maximum memory of one run besides the weights, as estimated from the shapes of its inputs: bytes, or "1GB". A batch with
   * independent rows is split to fit; other runs fail with LIMIT_EXCEEDED. Default: no limit.
   */
  readonly maxRunMemory?: number | string;
}

/** Limits of the threads that read long texts and render chat templates. A text that exceeds them is LIMIT_EXCEEDED. */
export interface TextThreadSettings {
  /** Maximum length of a text in UTF-16 code units, and maximum number of token ids to decode. */
  readonly maxCharacters: number;
  /** Maximum time for one text: milliseconds, or "30s". */
  readonly timeout: number | string;
  /** Maximum time to render a chat template: milliseconds, or "10s"; after it the model is MODEL_INVALID for a minute. Default: "10s". */
  readonly templateTimeout?: number | string;
}

/** How a request is served whose first target has to compile the model. */
export type WhileCompiling = "wait" | "next";

/** All values of `RuntimeSettings.whileCompiling`. */
export const whileCompilingModes: readonly WhileCompiling[] = ["wait", "next"];

/** Limits of the threads that compile constraints. A constraint that exceeds one is INPUT_INVALID. */
export interface ConstraintThreadSettings {
  /** Maximum time to compile one constraint, and to find the tokens that may follow once: milliseconds, or "5s". */
  readonly timeout: number | string;
  /** Maximum time in a minute for all constraints of one client: milliseconds, or "60s". Further ones are RATE_LIMITED. */
  readonly timePerMinute: number | string;
  /** Memory for the compiled constraints of one model, in bytes; the least recently used are dropped first. */
  readonly cacheBytes: number;
  /** Maximum amounts that compiling one constraint may take: states of automata and parts of grammars, estimated bytes, and units of work. */
  readonly limits?: { readonly states?: number; readonly bytes?: number; readonly steps?: number };
}

/** Settings of one model: its placement constraints, its load settings and its loading strategy. */
export interface ModelSettings extends ConstraintOptions, LoadSettings {
  /**
   * "lazy": loaded at its first use, unloaded after `keepAlive`. "eager": loaded when the runtime is created, unloaded only
   * when memory is needed. "pinned": loaded when the runtime is created, kept until it is unloaded by name. Default: "lazy".
   */
  readonly strategy?: Strategy;
}

/** When a model is loaded and unloaded; see `ModelSettings.strategy`. */
export type Strategy = "lazy" | "eager" | "pinned";

/** An event of a runtime's models. */
export type RuntimeEvent =
  /** A load of `bytes` of weights begins on a target. */
  | { readonly type: "loading"; readonly reference: string; readonly target: string; readonly bytes: number }
  | { readonly type: "loaded"; readonly decision: Decision }
  /**
   * A model was loaded on a fallback target. The preferred target `from` failed to load it, or was refused. Emitted after `loaded`, once for each
   * such target.
   */
  | ({ readonly type: "fallback"; readonly reference: string } & Fallback)
  /** A load failed, because no target could run the model or because no caller waited for it any more. */
  | { readonly type: "load-failed"; readonly reference: string; readonly code: string; readonly reason: string }
  | ({ readonly type: "unloaded"; readonly reference: string; readonly target: string } & UnloadReason)
  | { readonly type: "failover"; readonly reference: string; readonly from: string; readonly reason: string }
  | {
      /** A model's thread or process died, or was killed because it hung. */
      readonly type: "died";
      readonly reference: string;
      readonly target: string;
      readonly reason: string;
      /** Deaths within `crashWindow`, this one included. */
      readonly deaths: number;
      /** true: `maxCrashes` deaths within `crashWindow`. Calls then fail with CIRCUIT_OPEN for `backoffMs`. */
      readonly crashLoop: boolean;
      /** Milliseconds before a new thread or process may be started. */
      readonly backoffMs: number;
      /**
       * true: it did not answer in time (`loadTimeout`, `runTimeout`, or an aborted run that blocked other calls) and was
       * killed. Default: false.
       */
      readonly hung?: boolean;
    }
  | {
      /**
       * A new thread or process has loaded the model. `why`: "died": the old one died; "memory": it held more than
       * `maxProcessMemory`. `milliseconds`: time of the start and the load.
       */
      readonly type: "restarted";
      readonly reference: string;
      readonly target: string;
      readonly why: ReplacementReason;
      readonly milliseconds: number;
    }
  | { readonly type: "download"; readonly reference: string; readonly progress: PullProgress };

/** A batch of texts, or of parts of texts, that a model has run. */
export interface BatchEvent {
  readonly reference: string;
  readonly target: string;
  /** Number of rows of the batch. */
  readonly rows: number;
  /** Tokens of all rows, without and with padding; the padded number is rows times the longest row. */
  readonly tokens: number;
  readonly paddedTokens: number;
}

/** Options of `dispose`. */
export interface RuntimeDisposeOptions {
  /** Maximum time to wait for calls in progress before they are aborted: milliseconds, or "30s", "5m". Default: "30s". */
  readonly timeout?: number | string;
}

/** Options of one load. */
export interface ModelOptions extends ConstraintOptions, LoadSettings {
  /** Name or alias of a variant: "fp32", "int8", "quantized", ... Default: the first variant that the selected backend can run. */
  readonly variant?: string;
  /** Interface of the model: "tensor" for named tensors in and out, "language" for decoding tokens with a cache (`ModelHandle.language`). Default: "tensor". */
  readonly kind?: ModelKind;
  readonly signal?: AbortSignal;
}
