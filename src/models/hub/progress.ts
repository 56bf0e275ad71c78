/** How far a pull is, for those who watch. */

export interface PullProgress {
  /** As it was asked for. */
  readonly reference: string;
  /**
   * "listing": asking what there is; "fetching": files arrive; "waiting": another process fetches the same; "retrying": after a failure
   * that may pass; "done": the model is in the store, and nothing more follows.
   */
  readonly stage: "listing" | "fetching" | "waiting" | "retrying" | "done";
  /** The file that arrived last, relative. */
  readonly file?: string;
  /** Bytes of the model that are there, those from earlier pulls included. */
  readonly bytes: number;
  /** Left out until it is known which files are wanted. */
  readonly totalBytes?: number;
  /** Over the last seconds. */
  readonly bytesPerSecond: number;
  readonly secondsLeft?: number;
  /** "waiting" and "retrying": for whom or why, as a sentence without a full stop. */
  readonly note?: string;
}

/** Shortest time between two reports of bytes. */
const minReportIntervalMs = 100;
/** The time the rate is taken over. */
const rateWindowMs = 3000;

export class PullMeter {
  readonly #reference: string;
  readonly #onProgress: ((progress: PullProgress) => void) | undefined;
  #bytes = 0;
  #fetched = 0;
  #total: number | undefined;
  #samples: { readonly at: number; readonly fetched: number }[] = [];
  #reportedAt = -Infinity;
  /** Tells of the bytes that came too soon after the last report, should none come after them. */
  #pendingReport: ReturnType<typeof setTimeout> | undefined;

  constructor(reference: string, report: ((progress: PullProgress) => void) | undefined) {
    this.#reference = reference;
    this.#onProgress = report;
  }

  /** Bytes that came over the network. */
  get fetched(): number {
    return this.#fetched;
  }

  /** All files that are wanted. */
  set totalBytes(total: number) {
    this.#total = total;
  }

  /** Bytes that were there already, in the store or in a file under way. */
  addExisting(bytes: number): void {
    this.#bytes += bytes;
  }

  addReceived(bytes: number, file: string): void {
    this.#bytes += bytes;
    this.#fetched += bytes;
    const wait = this.#reportedAt + minReportIntervalMs - performance.now();
    if (wait > 0) this.#pendingReport ??= setTimeout(() => this.#reportReceived(file), wait);
    else this.#reportReceived(file);
  }

  #reportReceived(file: string): void {
    const now = performance.now();
    this.#samples = [...this.#samples.filter(({ at }) => now - at < rateWindowMs), { at: now, fetched: this.#fetched }];
    this.#reportedAt = now;
    this.report("fetching", { file });
  }

  /** Bytes that proved wrong and are fetched again. */
  subtractDiscarded(bytes: number): void {
    this.#bytes -= bytes;
  }

  report(stage: PullProgress["stage"], details: { readonly file?: string; readonly note?: string } = {}): void {
    this.cancelPendingReport();
    const bytesPerSecond = this.#rate();
    const left = this.#total === undefined ? undefined : Math.max(0, this.#total - this.#bytes);
    this.#onProgress?.({
      reference: this.#reference,
      stage,
      bytes: this.#bytes,
      bytesPerSecond,
      ...(this.#total === undefined ? {} : { totalBytes: this.#total }),
      ...(left === undefined || bytesPerSecond === 0 ? {} : { secondsLeft: left / bytesPerSecond }),
      ...details,
    });
  }

  /** Nothing is told any more of what came before, as after a failure. */
  cancelPendingReport(): void {
    clearTimeout(this.#pendingReport);
    this.#pendingReport = undefined;
  }

  #rate(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.at === first.at) return 0;
    return ((last.fetched - first.fetched) / (last.at - first.at)) * 1000;
  }
}
