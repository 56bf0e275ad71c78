/** What callers ask of residency. */

/** "handle": the lease lasts until the caller releases it, perhaps never. "work": it lasts for one piece of work that ends by itself. */
export type LeaseKind = "handle" | "work";

/** Request of a caller to residency: which model, and how long it stays. */
export interface Reservation {
  /** The reference as the user wrote it. */
  readonly reference: string;
  /** The resolved location, which is equal for all spellings of one model. */
  readonly location: string;
  /** Kind of the lease. Default: "handle". */
  readonly leaseKind?: LeaseKind;
  /** true: the model is unloaded by name only, not by a timeout nor for memory. Default: false. */
  readonly pinned?: boolean;
  /** true: the keep-alive timeout does not unload the model; a lack of memory does. Default: false. */
  readonly keepAliveExempt?: boolean;
}
