/** Retries with exponential backoff. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { delay } from "../../storage/lock.ts";

/** Number of attempts and times, in milliseconds, of retried requests. */
export interface RetryTiming {
  /** Largest number of consecutive attempts without progress. */
  readonly attempts: number;
  /** Delay after the first failure; it doubles with each further one. */
  readonly initialDelayMs: number;
  /** Largest delay. */
  readonly maxDelayMs: number;
  /** Largest Retry-After of a server that is obeyed; a longer one ends the retries. */
  readonly maxRetryAfterMs: number;
  /** A connection on which nothing arrives for this long is closed. */
  readonly stallMs: number;
}

/** Default attempts and delays of requests to the hub. */
export const defaultTiming: RetryTiming = {
  attempts: 5,
  initialDelayMs: 500,
  maxDelayMs: 20_000,
  maxRetryAfterMs: 120_000,
  stallMs: 30_000,
};

/** A failure that a retry may solve: a closed or stalled connection, or a busy server. */
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

/** Describes a retry that is about to happen, for progress reports. */
export interface Retry {
  /** Message of the failure. */
  readonly reason: string;
  readonly waitMs: number;
}

/** Options of `withRetries`: the times, the name and URL for messages, and callbacks. */
export interface RetryOptions {
  readonly timing: RetryTiming;
  /** Name of the fetched file in messages: "config.json of hf:owner/name". */
  readonly what: string;
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
  /** Bytes received until now. An attempt that received at least 256 KiB resets the number of failures. */
  readonly arrived?: () => number;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** Smallest number of bytes that counts as progress, so that a server that closes the connection after every few bytes exhausts the retries. */
const minProgressBytes = 256 * 1024;

/**
 * Runs `work`, and again after each TransientError with exponential backoff, until it returns. Throws DOWNLOAD_FAILED when the attempts are used up, ABORTED,
 * and any other error of `work`.
 */
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
      if (failures >= timing.attempts || waitMs > timing.maxRetryAfterMs) throw retriesExhausted(options, error, failures);
      options.onRetry?.({ reason: error.message, waitMs });
      await delay(waitMs, options.signal);
    }
  }
}

/** Exponential backoff with random jitter, which keeps many clients from retrying at the same time. */
function backoff(failures: number, { initialDelayMs, maxDelayMs }: RetryTiming): number {
  return Math.min(maxDelayMs, initialDelayMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

function retriesExhausted({ what, url }: RetryOptions, error: TransientError, attempts: number): InferyardError {
  const { status, retryAfterMs } = error;
  return new InferyardError("DOWNLOAD_FAILED", `${what} could not be fetched: ${error.message}`, {
    remedy: "check the network, HF_ENDPOINT and the proxy (HTTPS_PROXY), and pull again: what was fetched stays",
    data: { url, attempts, ...omitUndefined({ status }) },
    cause: error,
    ...omitUndefined({ retryAfterMs }),
  });
}

/** Milliseconds of a Retry-After header (RFC 9110): seconds or a date. Undefined if there is none or it is malformed. */
export function retryAfterMs(text: string | null, now: number = Date.now()): number | undefined {
  if (text === null) return undefined;
  const milliseconds = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}
