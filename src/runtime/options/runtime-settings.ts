/** Settings of a runtime, options of one load, and the events that a runtime reports. */
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import type { ModelKind } from "../../hosts/host-name.ts";
import type { ReplacementReason } from "../../hosts/supervision.ts";
import type { PullProgress } from "../../models/hub/progress.ts";
import type { RuntimeOptions } from "./generated-runtime-options.ts";
import type { Decision } from "../decision/decision.ts";
import type { Fallback } from "../decision/fallbacks.ts";
import type { ConstraintOptions } from "../targets/constraints.ts";

/** Settings of a runtime. Each holds for all its models unless a load overrides it. */
export interface RuntimeSettings extends ConstraintOptions, UserLoadSettings, RuntimeOptions, ProgramSettings {}

/** Settings of a runtime that inferyard.yaml does not have. */
export interface ProgramSettings {
  /** Settings of single models, by the reference that they are loaded with. Every spelling of a path means the same model. */
  readonly models?: Readonly<Record<string, ModelSettings>>;
  /** References of models that are loaded when the runtime is created, in addition to models whose strategy requires it. Default: none. */
  readonly preload?: readonly string[];
  /**
   * Whether texts of concurrent calls share batches, for servers. Many small calls take less time in total. A vector then
   * depends on the other texts of its batch by rounding error (1e-5; with int8 weights as much as the quantization error).
   * Default: false.
   */
  readonly shareBatches?: boolean;
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
}

/** Settings of the memory budget of a runtime. */
export type MemoryBudgetSettings = Pick<RuntimeOptions, "maxMemory" | "maxDeviceMemory" | "maxLoadedModels">;

/** Limits of one model file and of one run. */
export type LimitSettings = Pick<RuntimeOptions, "maxRunMemory" | "maxTraceTime" | "maxTraceMemory">;

/** Limits of the threads that read long texts and render chat templates. A text that exceeds them is LIMIT_EXCEEDED. */
export interface TextThreadSettings {
  /** Maximum length of a text in UTF-16 code units, and maximum number of token ids to decode. */
  readonly maxCharacters: number;
  /** Maximum time for one text: milliseconds, or "30s". */
  readonly timeout: number | string;
  /** Maximum time to render a chat template: milliseconds, or "10s"; after it the model is MODEL_INVALID for a minute. Default: "10s". */
  readonly templateTimeout?: number | string;
}

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
export interface ModelSettings extends ConstraintOptions, UserLoadSettings {
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
       * `maxProcessMemory`; "growth": it had grown by more than `maxProcessGrowth`, and the model was idle;
       * "suspended": it was ended while replicas did the work. `milliseconds`: time of the start and the load.
       */
      readonly type: "restarted";
      readonly reference: string;
      readonly target: string;
      readonly why: ReplacementReason;
      readonly milliseconds: number;
    }
  | { readonly type: "download"; readonly reference: string; readonly progress: PullProgress };

/** Why a model was unloaded. */
export type UnloadReason =
  | { readonly why: "idle" | "unloaded" | "disposed" }
  | { readonly why: "evicted"; /** Reference of the model that needs the memory. */ readonly evictedFor: string };

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
export interface ModelOptions extends ConstraintOptions, UserLoadSettings {
  /** Name or alias of a variant: "fp32", "int8", "quantized", ... Default: the first variant that the selected backend can run. */
  readonly variant?: string;
  /** Interface of the model: "tensor" for named tensors in and out, "language" for decoding tokens with a cache (`ModelHandle.language`). Default: "tensor". */
  readonly kind?: ModelKind;
  readonly signal?: AbortSignal;
}
