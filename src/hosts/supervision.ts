/** Whoever watches over the peers of a model: says when one may be started, how much memory it may take, and hears what becomes of it. */

/** Why a peer took the place of another: that one had died, or it held more memory than it may. */
export type ReplacementReason = "died" | "memory";

export interface Supervision {
  /** Most bytes a peer may hold before it is replaced; only a process knows what it holds. Default: no limit. */
  readonly maxMemory?: number | undefined;
  /** Longest load of a peer, verification included, in milliseconds. Default: no limit. */
  readonly maxLoadMs?: number | undefined;
  /** Longest run in milliseconds, whoever waits for it; a longer one is a hang. Default: no limit. */
  readonly maxRunMs?: number | undefined;
  /** Waits until a peer may be started. Throws CIRCUIT_OPEN where too many have died, and ABORTED. */
  admit(signal?: AbortSignal): Promise<void>;
  /**
   * A peer died that nobody had ended, or was ended because it hung. `hungMs`: how long it had not answered. Default: it did not hang. Says
   * how long the next start will wait, in milliseconds.
   */
  died(reason: string, hungMs?: number): number;
  /** A new peer has loaded the model in that time. */
  replaced(why: ReplacementReason, milliseconds: number): void;
}

/** Every start is granted, and nobody hears of anything. */
export const unsupervised: Supervision = {
  admit: async () => {},
  died: () => 0,
  replaced: () => {},
};
