/** What a runtime says of itself when asked. */
import type { Availability } from "../backend.ts";
import type { MemoryAmounts } from "./residency/memory-budget.ts";

/** What the models in memory hold. */
export interface MemoryReport {
  /** Null where nothing is limited; `models` null where their number is not. */
  readonly limits: { readonly bytes: MemoryAmounts; readonly models: number | null } | null;
  readonly models: readonly ModelMemory[];
}

export interface ModelMemory {
  readonly reference: string;
  readonly target: string;
  /** "idle", "in use (2 users)", "pinned, idle", ... */
  readonly state: string;
  /** Bytes by place: "memory" is the machine's, devices are named as in a target. Copies are counted. */
  readonly bytes: MemoryAmounts;
  /** How the bytes are known: see `TensorModel.memory`; "estimated" where the engine does not tell. */
  readonly measure: "resident" | "allocated" | "estimated";
}

/** One backend and what its probe said. */
export interface BackendReport {
  readonly backend: string;
  readonly availability: Availability;
}
