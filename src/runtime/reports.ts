/** Reports of a runtime about its memory and its backends. */
import type { Availability, ProgramCounts } from "../contract/backend.ts";
import type { MemoryAmounts } from "./selection/memory-budget.ts";

/** Memory that the loaded models hold, and the limits. */
export interface MemoryReport {
  /** Limits of the memory budget; null if there is none; `models` is null if the number of models is not limited. */
  readonly limits: { readonly bytes: MemoryAmounts; readonly models: number | null } | null;
  readonly models: readonly ModelMemory[];
}

/** Memory of one loaded model. */
export interface ModelMemory {
  readonly reference: string;
  readonly target: string;
  /** Id of the decision that placed it. */
  readonly decision: string;
  /** State of the model: "idle", "in use (2 users)", "pinned, idle", ... */
  readonly state: string;
  /**
   * When its keep-alive ends and it is unloaded, in milliseconds since 1970; counted from now while it is in use. null: it has no keep-alive, and
   * stays until it is unloaded by name or evicted.
   */
  readonly expiresAt: number | null;
  /** Bytes by memory pool: "memory" is the machine's, devices are named as in a target. Replicas are included. */
  readonly bytes: MemoryAmounts;
  /** How the bytes were obtained: see `TensorModel.memory`; "estimated" if the engine does not report them. */
  readonly measure: "resident" | "allocated" | "estimated";
  /**
   * Maximum context length of the loaded model in tokens: prompt and generated text together for a language model, one input for other models. null:
   * the model's files state none.
   */
  readonly contextLength: number | null;
  /** How often its thread or process was replaced by another one, because it died or held too much memory; replicas are included. */
  readonly restarts: number;
  /** Programs that a compiler made for it since it was loaded; see `ModelBase.programs`. Absent: its engine has no such compiler. */
  readonly programs?: ProgramCounts;
}

/** A backend and the result of its probe. */
export interface BackendReport {
  readonly backend: string;
  readonly availability: Availability;
}
