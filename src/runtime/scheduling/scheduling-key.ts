/** The key by which calls of different clients are scheduled. */

/** Priority of a client: "high" is served four times as often as "normal" when both wait (see `fair-queue.ts`). */
export type Priority = "high" | "normal";

/** The client and priority of a call. */
export interface SchedulingKey {
  /** Identifies the client, so that each is served fairly. */
  readonly client: string;
  readonly priority: Priority;
  /** Called before a load begins for this call. Default: loads begin at once. */
  readonly admitLoad?: AdmitLoad;
}

/**
 * Resolves when the load may begin, with a function that must be called when the load has ended. Rejects if it may not begin,
 * and with ABORTED.
 */
export type AdmitLoad = (signal: AbortSignal) => Promise<() => void>;

/** Key of a call that names no client. */
export const defaultSchedulingKey: SchedulingKey = { client: "", priority: "normal" };
