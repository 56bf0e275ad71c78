/** Doing again what failed for a reason that may pass. */
import { InferyardError } from "../../errors.ts";
import { delay } from "../store/lock.ts";

export interface RetryTiming {
  /** Attempts in a row that bring nothing. */
  readonly attempts: number;
  /** The wait after the first failure; it doubles with each. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** A server that asks for a longer pause is not waited for. */
  readonly longestRetryAfterMs: number;
  /** A connection without a byte for this long is given up. */
  readonly stallMs: number;
}

export const defaultTiming: RetryTiming = {
  attempts: 5,
  firstWaitMs: 500,
  longestWaitMs: 20_000,
  longestRetryAfterMs: 120_000,
  stallMs: 30_000,
};

/** A failure that may pass: a cut, a stall, a server that is busy. */
export class TransientError extends Error {
  override readonly name = "Interruption";
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: { readonly status?: number; readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

export interface Retry {
  readonly reason: string;
  readonly waitMs: number;
}

export interface RetryOptions {
  readonly timing: RetryTiming;
  /** What is fetched, for the message: "config.json of hf:owner/name". */
  readonly what: string;
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
  /** Bytes that arrived so far: an attempt that brought some starts the count anew. */
  readonly arrived?: () => number;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** Least bytes that count as having brought something: a server that cuts after every few bytes is given up as well. */
const minProgressBytes = 256 * 1024;

/** DOWNLOAD_FAILED when the last attempt is interrupted too. Whatever else `work` throws is thrown on. */
export async function withRetries<Result>(options: RetryOptions, work: () => Promise<Result>): Promise<Result> {
  const { timing, arrived = () => 0 } = options;
  let failures = 0;
  for (;;) {
    const before = arrived();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      failures = arrived() - before >= minProgressBytes ? 1 : failures + 1;
      const waitMs = error.retryAfterMs ?? backoff(failures, timing);
      if (failures >= timing.attempts || waitMs > timing.longestRetryAfterMs) throw retriesExhausted(options, error, failures);
      options.onRetry?.({ reason: error.message, waitMs });
      await delay(waitMs, options.signal);
    }
  }
}

/** Doubles each time; a random part keeps many clients from coming back at once. */
function backoff(failures: number, { firstWaitMs, longestWaitMs }: RetryTiming): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

function retriesExhausted({ what, url }: RetryOptions, error: TransientError, attempts: number): InferyardError {
  const { status, retryAfterMs } = error;
  return new InferyardError("DOWNLOAD_FAILED", `${what} could not be fetched: ${error.message}`, {
    remedy: "check the network, HF_ENDPOINT and the proxy (HTTPS_PROXY), and pull again: what was fetched stays",
    data: { url, attempts, ...(status === undefined ? {} : { status }) },
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** RFC 9110, Retry-After: seconds or a date. Undefined where there is none that can be read. */
export function retryAfterMs(text: string | null, now: number = Date.now()): number | undefined {
  if (text === null) return undefined;
  const milliseconds = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}
