/** Requests of the last minutes, for people who look: how many, how quick, how many failed. Metrics for machines are elsewhere. */

import type { RequestRecord } from "../request-records.ts";

interface CompletedRequest {
  readonly at: number;
  readonly milliseconds: number;
  readonly status: number;
}

export interface RequestSummary {
  /** Seconds the figures are of. */
  readonly seconds: number;
  readonly requests: number;
  /** Answers with a status from 400 on. */
  readonly failed: number;
  /** Milliseconds from request to answer; null where there was none. */
  readonly p50: number | null;
  readonly p99: number | null;
}

const windowMs = 60_000;
/** Under more requests than these in a minute, the figures are of the newest. */
const maxKept = 10_000;

export class RecentRequests {
  readonly #now: () => number;
  #ended: CompletedRequest[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts requests that asked a model: not those that only look. */
  request({ call, milliseconds, status }: Pick<RequestRecord, "call" | "milliseconds" | "status">): void {
    if (call === undefined) return;
    this.#ended.push({ at: this.#now(), milliseconds, status });
    if (this.#ended.length > 2 * maxKept) this.#ended = this.#ended.slice(-maxKept);
  }

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
