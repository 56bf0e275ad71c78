/** What the server did in the last minutes, for the plots of the dashboard. */
import type { RequestRecord } from "../request-records.ts";

/** Sums of periods of equal length, the oldest first; the last period has not ended. */
export interface LoadHistory {
  /** Length of a period in seconds. */
  readonly seconds: number;
  /** Requests that ended. */
  readonly requests: number[];
  /** Tokens that models read and wrote. The tokens of a request are spread evenly over the time that it ran. */
  readonly tokens: number[];
  /** The most requests that waited at once, as far as requests that ended saw it. */
  readonly waiting: number[];
}

const periodMs = 5000;
const periods = 60;

/** Keeps sums of the last five minutes. */
export class LoadRecorder {
  readonly #now: () => number;
  readonly #waiting: () => number;
  readonly #sums = { requests: new Float64Array(periods), tokens: new Float64Array(periods), waiting: new Float64Array(periods) };
  /** Number of the newest period. */
  #period = 0;

  /** `waiting`: requests that wait now. `now`: milliseconds of a monotonic clock. */
  constructor(waiting: () => number, now: () => number = () => performance.now()) {
    this.#waiting = waiting;
    this.#now = now;
    this.#period = Math.floor(now() / periodMs);
  }

  /** Counts a request that called a model; others are ignored. */
  request({ call }: Pick<RequestRecord, "call">): void {
    if (call === undefined) return;
    const now = this.#advance();
    const place = this.#period % periods;
    this.#sums.requests[place] = (this.#sums.requests[place] ?? 0) + 1;
    const written = (call.texts ?? []).reduce((sum, { tokens, promptTokens }) => sum + tokens.length + promptTokens, 0);
    this.#spread(call.texts === undefined ? (call.tokens ?? 0) : written, now - call.inferenceMs, now);
  }

  /** The sums until now. */
  history(): LoadHistory {
    this.#advance();
    const ordered = (sums: Float64Array): number[] =>
      Array.from({ length: periods }, (_, index) => Math.round(sums[(this.#period + 1 + index) % periods] ?? 0));
    const { requests, tokens, waiting } = this.#sums;
    return { seconds: periodMs / 1000, requests: ordered(requests), tokens: ordered(tokens), waiting: ordered(waiting) };
  }

  /** Begins the periods that have begun since, and notes how many requests wait. Returns the time. */
  #advance(): number {
    const now = this.#now();
    const period = Math.floor(now / periodMs);
    for (let next = Math.max(this.#period + 1, period - periods + 1); next <= period; next += 1)
      for (const sums of Object.values(this.#sums)) sums[next % periods] = 0;
    this.#period = period;
    const { waiting } = this.#sums;
    waiting[period % periods] = Math.max(waiting[period % periods] ?? 0, this.#waiting());
    return now;
  }

  /** Adds an amount to the periods between two times, in proportion to their parts of it. */
  #spread(amount: number, from: number, to: number): void {
    const oldest = (this.#period - periods + 1) * periodMs;
    const duration = Math.max(to - from, 1);
    for (let start = Math.max(from, oldest); start < to;) {
      const period = Math.floor(start / periodMs);
      const end = Math.min((period + 1) * periodMs, to);
      this.#sums.tokens[period % periods] = (this.#sums.tokens[period % periods] ?? 0) + (amount * (end - start)) / duration;
      start = end;
    }
    if (from >= to) this.#sums.tokens[this.#period % periods] = (this.#sums.tokens[this.#period % periods] ?? 0) + amount;
  }
}
