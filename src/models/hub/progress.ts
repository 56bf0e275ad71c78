/** Progress reports of a pull. */

/** A progress report of a pull, which fetches a model into the store. */
import { omitUndefined } from "../../contract/checked.ts";

export interface PullProgress {
  /** The reference that is pulled. */
  readonly reference: string;
  /**
   * "listing": the hub's list of files is requested; "fetching": files are transferred; "waiting": another process fetches the same file; "retrying": after a
   * transient failure; "done": the model is in the store. "done" is the last report.
   */
  readonly stage: "listing" | "fetching" | "waiting" | "retrying" | "done";
  /** The file that is transferred, relative to the repository. */
  readonly file?: string;
  /** Bytes of the model that are on this machine, including earlier pulls. */
  readonly bytes: number;
  /** Bytes of the model. Absent until the files are selected. */
  readonly totalBytes?: number;
  /** Average rate over the last 3 seconds. */
  readonly bytesPerSecond: number;
  /** Estimated remaining time. Absent while it is unknown. */
  readonly secondsLeft?: number;
  /** For "waiting" and "retrying": the reason, as a sentence without a full stop. */
  readonly note?: string;
}

/** Smallest time between two reports of transferred bytes. */
const minReportIntervalMs = 100;
/** Time over which the rate is averaged. */
const rateWindowMs = 3000;

/** Counts the bytes of a pull and reports its progress, at most ten times a second. Byte counts include bytes that were on this machine before. */
export class PullMeter {
  readonly #reference: string;
  readonly #onProgress: ((progress: PullProgress) => void) | undefined;
  #bytes = 0;
  #fetched = 0;
  #total: number | undefined;
  #samples: { readonly at: number; readonly fetched: number }[] = [];
  #reportedAt = -Infinity;
  /** Timer of a report that was postponed because it came too soon after the last one. */
  #pendingReport: ReturnType<typeof setTimeout> | undefined;

  constructor(reference: string, report: ((progress: PullProgress) => void) | undefined) {
    this.#reference = reference;
    this.#onProgress = report;
  }

  /** Bytes transferred over the network. */
  get fetched(): number {
    return this.#fetched;
  }

  /** Bytes of all selected files. */
  set totalBytes(total: number) {
    this.#total = total;
  }

  /** Adds bytes that were on this machine already, in the store or in an incomplete download. */
  addExisting(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Adds bytes of a file that were transferred, and reports. */
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

  /** Subtracts bytes that were discarded and are fetched again. */
  subtractDiscarded(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** Reports the progress now. */
  report(stage: PullProgress["stage"], details: { readonly file?: string; readonly note?: string } = {}): void {
    this.cancelPendingReport();
    const bytesPerSecond = this.#rate();
    const left = this.#total === undefined ? undefined : Math.max(0, this.#total - this.#bytes);
    this.#onProgress?.({
      reference: this.#reference,
      stage,
      bytes: this.#bytes,
      bytesPerSecond,
      ...omitUndefined({ totalBytes: this.#total }),
      ...(left === undefined || bytesPerSecond === 0 ? {} : { secondsLeft: left / bytesPerSecond }),
      ...details,
    });
  }

  /** Cancels a postponed report, when the pull ends. */
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
