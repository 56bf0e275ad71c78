/** Supervision of the peers of a model: permits starts, limits memory and time, and is notified of deaths and replacements. */

/** Why a peer was started in place of another: the old one died, held more memory than permitted, had grown and was idle, or was suspended. */
export type ReplacementReason = "died" | "memory" | "growth" | "suspended";

/**
 * How far peers may grow beyond what they held when the model had been loaded and verified. Memory of WebAssembly and arenas of engines never shrink, so a
 * peer that has grown further is replaced when nobody has called it for a while.
 */
export interface GrowthLimit {
  readonly bytes: number;
  /** Time without a call after which a peer is replaced, in milliseconds. */
  readonly idleMs: number;
  /** Whether the model was verified. Until then what a peer holds is no growth. */
  isVerified: boolean;
}

/** Limits and notifications for the peers of one model. */
export interface Supervision {
  /** Maximum bytes that a peer may hold before it is replaced. Only processes report their memory. Default: no limit. */
  readonly maxMemory?: number | undefined;
  /** How far a peer may grow. Only processes report their memory. Default: no limit. */
  readonly growth?: GrowthLimit | undefined;
  /** Maximum time of a load including verification, in milliseconds. Default: no limit. */
  readonly maxLoadMs?: number | undefined;
  /** Maximum time of a run in milliseconds, even if no caller waits for it. A longer run is a hang. Default: no limit. */
  readonly maxRunMs?: number | undefined;
  /** Waits until a peer may be started. Throws CIRCUIT_OPEN after too many deaths, and ABORTED. */
  admit(signal?: AbortSignal): Promise<void>;
  /**
   * A peer died by itself or was killed because it hung. `hungMs`: milliseconds without an answer, if it hung. Returns the
   * delay of the next start in milliseconds.
   */
  died(reason: string, hungMs?: number): number;
  /** A new peer has loaded the model. `milliseconds`: time of its start and load. */
  replaced(why: ReplacementReason, milliseconds: number): void;
}

/** No supervision: every start is permitted at once, and notifications are ignored. */
export const unsupervised: Supervision = {
  admit: async () => {},
  died: () => 0,
  replaced: () => {},
};
