/** Statistics of the last minute, for the dashboard. */

import type { RequestRecord } from "../request-records.ts";

interface CompletedRequest {
  readonly at: number;
  readonly milliseconds: number;
  readonly status: number;
}

/** Figures of the requests of the last minute. */
export interface RequestSummary {
  /** Length of the window in seconds. */
  readonly seconds: number;
  readonly requests: number;
  /** Number of responses with a status of 400 or above. */
  readonly failed: number;
  /** Percentiles of the time from request to response in milliseconds; null without requests. */
  readonly p50: number | null;
  readonly p99: number | null;
}

const windowMs = 60_000;
/** Maximum number of requests kept; beyond it, the figures cover the newest. */
const maxKept = 10_000;

/** Keeps the requests of the last minute. */
export class RecentRequests {
  readonly #now: () => number;
  #ended: CompletedRequest[] = [];

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request that called a model; others are ignored. */
  request({ call, milliseconds, status }: Pick<RequestRecord, "call" | "milliseconds" | "status">): void {
    if (call === undefined) return;
    this.#ended.push({ at: this.#now(), milliseconds, status });
    if (this.#ended.length > 2 * maxKept) this.#ended = this.#ended.slice(-maxKept);
  }

  /** The current figures. */
  summary(): RequestSummary {
    const since = this.#now() - windowMs;
    this.#ended = this.#ended.filter(({ at }) => at >= since);
    const times = this.#ended.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
    const at = (share: number): number | null => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? null;
    return {
      seconds: windowMs / 1000,
      requests: times.length,
      failed: this.#ended.filter(({ status }) => status >= 400).length,
      p50: at(0.5),
      p99: at(0.99),
    };
  }
}
