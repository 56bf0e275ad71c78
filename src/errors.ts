/**
 * The one error class and the one table of codes. `docs/reference/errors.md` describes each code; a test compares the two.
 */

/** What a code means to the outside: an HTTP status, a CLI exit code, whether asking again can help, whether another backend can. */
export interface ErrorKind {
  readonly httpStatus: number;
  /** 1: it failed; 2: it was asked wrongly. */
  readonly exitCode: 1 | 2;
  /** The same request may succeed later without any change. */
  readonly retryable: boolean;
  /** During loading: a refusal that moves selection on to the next candidate. Anything else is thrown on. */
  readonly tryNext: boolean;
}

const kind = (httpStatus: number, exitCode: 1 | 2, flags: { retryable?: boolean; tryNext?: boolean } = {}): ErrorKind => ({
  httpStatus,
  exitCode,
  retryable: flags.retryable ?? false,
  tryNext: flags.tryNext ?? false,
});

export type ErrorCode =
  | "ABORTED"
  | "ACCESS_DENIED"
  | "BACKEND_UNAVAILABLE"
  | "CIRCUIT_OPEN"
  | "CONFIG_INVALID"
  | "CONTRACT_VIOLATION"
  | "DISK_FULL"
  | "DISPOSED"
  | "DOWNLOAD_FAILED"
  | "FORBIDDEN"
  | "HOST_DIED"
  | "INPUT_INVALID"
  | "INPUT_TOO_LONG"
  | "LIMIT_EXCEEDED"
  | "LOAD_FAILED"
  | "MEDIA_TYPE_UNSUPPORTED"
  | "MEMORY_BUDGET"
  | "MODEL_INVALID"
  | "MODEL_LOADING"
  | "MODEL_NOT_FOUND"
  | "MODEL_UNSUPPORTED"
  | "NO_BACKEND"
  | "NOT_BUILT"
  | "OUT_OF_MEMORY"
  | "OUTPUT_FAILED"
  | "POOLING_UNKNOWN"
  | "QUEUE_FULL"
  | "RATE_LIMITED"
  | "REQUEST_TIMEOUT"
  | "RUN_FAILED"
  | "SHUTTING_DOWN"
  | "TOKENIZER_INVALID"
  | "UNAUTHORIZED"
  | "VERIFICATION_FAILED";

/** Every code Inferyard raises. */
export const errorKinds: Readonly<Record<ErrorCode, ErrorKind>> = {
  ABORTED: kind(499, 1),
  ACCESS_DENIED: kind(403, 1),
  BACKEND_UNAVAILABLE: kind(503, 1, { tryNext: true }),
  CIRCUIT_OPEN: kind(503, 1, { retryable: true, tryNext: true }),
  CONFIG_INVALID: kind(500, 2),
  CONTRACT_VIOLATION: kind(500, 1),
  DISK_FULL: kind(507, 1),
  DISPOSED: kind(409, 1),
  DOWNLOAD_FAILED: kind(502, 1, { retryable: true }),
  FORBIDDEN: kind(403, 1),
  HOST_DIED: kind(503, 1, { retryable: true, tryNext: true }),
  INPUT_INVALID: kind(400, 2),
  INPUT_TOO_LONG: kind(413, 1),
  LIMIT_EXCEEDED: kind(413, 1),
  LOAD_FAILED: kind(500, 1, { tryNext: true }),
  MEDIA_TYPE_UNSUPPORTED: kind(415, 2),
  MEMORY_BUDGET: kind(503, 1, { retryable: true }),
  MODEL_INVALID: kind(422, 1, { tryNext: true }),
  MODEL_LOADING: kind(503, 1, { retryable: true }),
  MODEL_NOT_FOUND: kind(404, 1),
  MODEL_UNSUPPORTED: kind(422, 1, { tryNext: true }),
  NO_BACKEND: kind(503, 1),
  NOT_BUILT: kind(501, 1),
  OUT_OF_MEMORY: kind(503, 1, { retryable: true, tryNext: true }),
  OUTPUT_FAILED: kind(500, 1),
  POOLING_UNKNOWN: kind(422, 1),
  QUEUE_FULL: kind(429, 1, { retryable: true }),
  RATE_LIMITED: kind(429, 1, { retryable: true }),
  REQUEST_TIMEOUT: kind(504, 1, { retryable: true }),
  RUN_FAILED: kind(500, 1),
  SHUTTING_DOWN: kind(503, 1, { retryable: true }),
  TOKENIZER_INVALID: kind(422, 1),
  UNAUTHORIZED: kind(401, 1),
  VERIFICATION_FAILED: kind(500, 1, { tryNext: true }),
};

export interface ErrorOptions {
  /** Facts for programs: plain data that survives JSON and structured clone. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** What the user can do: a command or a setting. */
  readonly remedy?: string;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Every failure Inferyard reports. The message says what failed and on which input; `remedy` says what to do next. */
export class InferyardError extends Error {
  override readonly name = "InferyardError";
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;
  readonly remedy: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
    this.remedy = options.remedy;
    this.retryAfterMs = options.retryAfterMs;
  }

  get retryable(): boolean {
    return errorKinds[this.code].retryable;
  }

  /** The page and anchor that explains the code. */
  get documentation(): string {
    return `docs/reference/errors.md#${this.code.toLowerCase()}`;
  }

  /** The plain-data form: crosses threads, JSON output and HTTP. */
  toJSON(): SerializedError {
    return {
      code: this.code,
      message: this.message,
      data: this.data,
      retryable: this.retryable,
      ...(this.remedy === undefined ? {} : { remedy: this.remedy }),
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs }),
    };
  }

  static fromJSON(json: SerializedError): InferyardError {
    return new InferyardError(json.code, json.message, json);
  }
}

export interface SerializedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;
  readonly remedy?: string;
  readonly retryAfterMs?: number;
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Turns what a foreign library threw into `code`, keeping it as the cause; one of ours passes unchanged. */
export function wrapError(thrown: unknown, code: ErrorCode, context: string): InferyardError {
  if (thrown instanceof InferyardError) return thrown;
  return new InferyardError(code, `${context}: ${messageOf(thrown)}`, { cause: thrown });
}

/** Throws ABORTED when the caller has given up. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

export function abortError(signal: AbortSignal): InferyardError {
  return new InferyardError("ABORTED", "the caller cancelled this call", { cause: signal.reason });
}
