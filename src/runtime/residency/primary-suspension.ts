/** Suspends the primary instance of a model while its replicas do the work, and resumes it when they no longer run at the same time. */
import type { HostedModel } from "../../hosts/host.ts";

/** What a `PrimarySuspension` needs of its model. */
export interface SuspendedParts {
  /** The current primary instance. */
  readonly primary: () => HostedModel;
  /** Runs in progress on the primary instance. */
  readonly running: () => number;
  /** Books the memory of the primary instance again. Returns false if it does not suffice. */
  readonly book: () => boolean;
  /** Called after the primary instance was suspended or resumed. */
  readonly onChange: () => void;
}

/** Milliseconds without a run after which the primary instance is suspended. A shorter burst of work is not worth another load. */
const suspendAfterMs = 2_000;
/** Milliseconds without two runs at the same time after which it is resumed: before idle replicas are unloaded (`Replicas`). */
const resumeAfterMs = 4_000;
/** Interval of the checks while replicas are loaded, in milliseconds. */
const checkMs = 500;

/**
 * The primary instance and replicas that share no memory with it hold the weights several times. Under load the primary instance has no work, and its process ends;
 * it loads the model again, beside the replicas, when the load is over.
 */
export class PrimarySuspension {
  readonly #parts: SuspendedParts;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isSuspended = false;
  /** When the primary instance ran last, and when two runs overlapped last, by `performance.now()`. */
  #ranAt = 0;
  #overlappedAt = 0;
  #resuming: Promise<void> | undefined;

  constructor(parts: SuspendedParts) {
    this.#parts = parts;
  }

  /** Whether runs must not go to the primary instance, which would have to be loaded for them. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Begins to watch. To be called when replicas were loaded. */
  watch(): void {
    const { suspend, replicaBytes } = this.#parts.primary();
    if (this.#timer !== undefined || suspend === undefined || replicaBytes !== undefined) return;
    this.#ranAt = performance.now();
    this.#timer = setInterval(() => this.#check(), checkMs);
    this.#timer.unref?.(); // a page's timer is a number
  }

  /** Records a run: on the primary instance, or on a replica, beside another run or not. */
  record(on: "primary" | "replica", overlaps: boolean): void {
    if (this.#timer === undefined) return;
    if (on === "primary") {
      this.#isSuspended = false; // the run itself starts it
      this.#ranAt = performance.now();
    } else if (overlaps) this.#overlappedAt = performance.now();
  }

  /** Resumes the primary instance if it is suspended. Never throws: a load that fails is repeated by the next run. */
  async resume(): Promise<void> {
    this.#resuming ??= this.#resume().finally(() => (this.#resuming = undefined));
    await this.#resuming;
  }

  /** Ends watching. To be called when replicas or the model were unloaded, or the model has another primary instance. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#isSuspended = false;
  }

  #check(): void {
    const now = performance.now();
    const isBusy = now - this.#overlappedAt < suspendAfterMs;
    const isUnused = this.#parts.running() === 0 && now - this.#ranAt >= suspendAfterMs;
    if (!this.#isSuspended && isBusy && isUnused) this.#suspend();
    else if (this.#isSuspended && now - this.#overlappedAt >= resumeAfterMs) void this.resume();
  }

  #suspend(): void {
    this.#isSuspended = true;
    const { primary, onChange } = this.#parts;
    primary()
      .suspend?.()
      .then(onChange, () => {}); // its next call starts another one
  }

  async #resume(): Promise<void> {
    const { primary, book, onChange } = this.#parts;
    if (!this.#isSuspended) return;
    if (book())
      await primary()
        .resume?.()
        .catch(() => {});
    this.#ranAt = performance.now();
    this.#isSuspended = false;
    onChange();
  }
}
