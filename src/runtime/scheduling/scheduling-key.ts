/** Whose work a call is, where calls take turns. */

/** Where both wait, a client of "high" has four turns for each turn of a client of "normal" (`fair-queue.ts`). */
export type Priority = "high" | "normal";

export interface SchedulingKey {
  /** Tells clients apart, so that each gets its turn. */
  readonly client: string;
  readonly priority: Priority;
  /** Asked before a load begins for this call. Default: loads begin at once. */
  readonly admitLoad?: AdmitLoad;
}

/** Resolves when the load may begin, with a function to be called when it has ended. Rejects where it may not, and with ABORTED. */
export type AdmitLoad = (signal: AbortSignal) => Promise<() => void>;

/** Of a call that says nothing. */
export const defaultSchedulingKey: SchedulingKey = { client: "", priority: "normal" };
