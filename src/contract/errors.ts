/** The error class and the table of its codes. `docs/reference/errors.md` describes each code; a test compares the two. */

/** Properties of an error code for callers. */
import { omitUndefined } from "./checked.ts";

export interface ErrorKind {
  /** Status of the HTTP response that reports it. */
  readonly httpStatus: number;
  /** Exit code of the command line. 1: the operation failed. 2: it was invoked incorrectly. */
  readonly exitCode: 1 | 2;
  /** true: the same request may succeed later. */
  readonly retryable: boolean;
  /** true: during loading, this error makes selection try the next candidate. Other errors end the load. */
  readonly tryNext: boolean;
}

const kind = (httpStatus: number, exitCode: 1 | 2, flags: { retryable?: boolean; tryNext?: boolean } = {}): ErrorKind => ({
  httpStatus,
  exitCode,
  retryable: flags.retryable ?? false,
  tryNext: flags.tryNext ?? false,
});

/** Every error code. `docs/reference/errors.md` explains each. */
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
  | "JOB_RUNNING"
  | "LIBRARY_INCOMPATIBLE"
  | "LIMIT_EXCEEDED"
  | "LOAD_FAILED"
  | "MEDIA_TYPE_UNSUPPORTED"
  | "MEMORY_BUDGET"
  | "METHOD_NOT_ALLOWED"
  | "MODEL_INVALID"
  | "MODEL_LOADING"
  | "MODEL_NOT_FOUND"
  | "MODEL_UNSUPPORTED"
  | "NO_BACKEND"
  | "NOT_BUILT"
  | "NOT_FOUND"
  | "OUT_OF_MEMORY"
  | "OUTPUT_FAILED"
  | "OVERLOADED"
  | "PLACEMENT_UNPROVEN"
  | "POOLING_UNKNOWN"
  | "QUEUE_FULL"
  | "QUEUE_UNAVAILABLE"
  | "RATE_LIMITED"
  | "RELOAD_FAILED"
  | "REQUEST_TIMEOUT"
  | "ROUTE_NOT_FOUND"
  | "RUN_FAILED"
  | "SERVER_UNAVAILABLE"
  | "SHUTTING_DOWN"
  | "TEMPLATE_REFUSED"
  | "TOKENIZER_INVALID"
  | "UNAUTHORIZED"
  | "VERIFICATION_FAILED";

/** Properties of every error code. */
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
  JOB_RUNNING: kind(409, 1, { retryable: true }),
  LIBRARY_INCOMPATIBLE: kind(422, 1, { tryNext: true }),
  LIMIT_EXCEEDED: kind(413, 1),
  LOAD_FAILED: kind(500, 1, { tryNext: true }),
  MEDIA_TYPE_UNSUPPORTED: kind(415, 2),
  MEMORY_BUDGET: kind(503, 1, { retryable: true }),
  METHOD_NOT_ALLOWED: kind(405, 2),
  MODEL_INVALID: kind(422, 1, { tryNext: true }),
  MODEL_LOADING: kind(503, 1, { retryable: true }),
  MODEL_NOT_FOUND: kind(404, 1),
  MODEL_UNSUPPORTED: kind(422, 1, { tryNext: true }),
  NO_BACKEND: kind(503, 1),
  NOT_BUILT: kind(501, 1),
  NOT_FOUND: kind(404, 1),
  OUT_OF_MEMORY: kind(503, 1, { retryable: true, tryNext: true }),
  OUTPUT_FAILED: kind(500, 1),
  OVERLOADED: kind(503, 1, { retryable: true }),
  PLACEMENT_UNPROVEN: kind(500, 1, { tryNext: true }),
  POOLING_UNKNOWN: kind(422, 1),
  QUEUE_FULL: kind(429, 1, { retryable: true }),
  QUEUE_UNAVAILABLE: kind(503, 1, { retryable: true }),
  RATE_LIMITED: kind(429, 1, { retryable: true }),
  RELOAD_FAILED: kind(422, 1),
  REQUEST_TIMEOUT: kind(504, 1, { retryable: true }),
  ROUTE_NOT_FOUND: kind(404, 2),
  RUN_FAILED: kind(500, 1),
  SERVER_UNAVAILABLE: kind(503, 1, { retryable: true }),
  SHUTTING_DOWN: kind(503, 1, { retryable: true }),
  TEMPLATE_REFUSED: kind(400, 1),
  TOKENIZER_INVALID: kind(422, 1),
  UNAUTHORIZED: kind(401, 1),
  VERIFICATION_FAILED: kind(500, 1, { tryNext: true }),
};

/** Optional parts of an error. */
export interface ErrorOptions {
  /** Details for programs: plain data that survives JSON and structured clone. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** What the user can do about it: a command or a setting. */
  readonly remedy?: string | undefined;
  /** Milliseconds after which a retry may succeed. */
  readonly retryAfterMs?: number;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/** Marks the errors of every copy of this package in a process: a backend of others may have its own. */
const mark = Symbol.for("inferyard.error");

/** Whether a thrown value is an `InferyardError` of this or another copy of the package, with a code that this copy knows. `instanceof` asks the same. */
export function isInferyardError(thrown: unknown): thrown is InferyardError {
  if (typeof thrown !== "object" || thrown === null || !(mark in thrown) || !("code" in thrown)) return false;
  return Object.hasOwn(errorKinds, String(thrown.code));
}

/**
 * The error of every failure that Inferyard reports. `message` says what failed on which input, `code` is for programs,
 * `remedy` says what to do.
 */
export class InferyardError extends Error {
  static override [Symbol.hasInstance](thrown: unknown): thrown is InferyardError {
    return this === InferyardError ? isInferyardError(thrown) : super[Symbol.hasInstance](thrown);
  }

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

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return errorKinds[this.code].retryable;
  }

  /** Page and anchor of the documentation of the code. */
  get documentation(): string {
    return `docs/reference/errors.md#${this.code.toLowerCase()}`;
  }

  /** The error as plain data, for other threads and processes, JSON output and HTTP. The stack and the cause are not included. */
  toJSON(): SerializedError {
    return {
      code: this.code,
      message: this.message,
      data: this.data,
      retryable: this.retryable,
      ...omitUndefined({ remedy: this.remedy, retryAfterMs: this.retryAfterMs }),
    };
  }

  /** The error that `toJSON` was called on, with a new stack. */
  static fromJSON(json: SerializedError): InferyardError {
    return new InferyardError(json.code, json.message, json);
  }
}

// On the prototype, so that it is no part of what a log shows of an error.
Object.defineProperty(InferyardError.prototype, mark, { value: true });

/** An error as plain data; see `InferyardError.toJSON`. */
export interface SerializedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;
  readonly remedy?: string;
  readonly retryAfterMs?: number;
}

/** The message of any thrown value. */
export function getMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * Converts a thrown value of another library into an InferyardError with this code and the value as its cause. An
 * InferyardError is returned unchanged. `context` begins the message.
 */
export function wrapError(thrown: unknown, code: ErrorCode, context?: string): InferyardError {
  if (isInferyardError(thrown)) return thrown;
  const message = getMessage(thrown);
  return new InferyardError(code, context === undefined ? message : `${context}: ${message}`, { cause: thrown });
}

/** INPUT_INVALID: what the caller gave is refused. */
export function invalidInput(message: string, remedy?: string, data?: ErrorOptions["data"]): InferyardError {
  return new InferyardError("INPUT_INVALID", message, { remedy, ...omitUndefined({ data }) });
}

/** MODEL_UNSUPPORTED: a model, or a property that it lacks, stands in the way of what the caller asked for. */
export function unsupportedModel(message: string, remedy?: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", message, { remedy });
}

/** OUTPUT_FAILED for a file or folder that cannot be written. An InferyardError is returned unchanged. The error is returned, not thrown. */
export function outputFailed(path: string, cause: unknown, remedy?: string): InferyardError {
  if (cause instanceof InferyardError) return cause;
  return new InferyardError("OUTPUT_FAILED", `${path} cannot be written: ${getMessage(cause)}`, { cause, remedy });
}

/** Throws ABORTED if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** The ABORTED error of an aborted signal, with the signal's reason as its cause. */
export function abortError(signal: AbortSignal): InferyardError {
  return new InferyardError("ABORTED", "the caller cancelled this call", { cause: signal.reason });
}

/** A list of names for a message: all names if there are at most 3; otherwise the first 3 and the number of the others. */
export function abbreviatedList(names: readonly string[]): string {
  const maxNames = 3;
  if (names.length <= maxNames) return names.join(", ");
  return `${names.slice(0, maxNames).join(", ")} and ${names.length - maxNames} more`;
}

/**
 * A value of a quoted option. The library does not know who calls it, so a remedy quotes an option as a program sets it, and the command line and the server replace
 * the quotes by their own spelling.
 */
export type QuotedValue = string | boolean | readonly string[];

/** An option in backticks, with its value if one is given: `` `truncate: "cut"` ``. */
export function quoteOption(name: string, value?: QuotedValue): string {
  return value === undefined ? `\`${name}\`` : `\`${name}: ${JSON.stringify(value)}\``;
}

/** The text with each quoted option replaced by what `spell` returns. Where `spell` returns undefined, the quote stays. */
export function spellOptions(text: string, spell: (name: string, value: QuotedValue | undefined) => string | undefined): string {
  return text.replaceAll(/`([a-z][A-Za-z]*)(?:: ("[^"`]*"|true|false|\["[^`]*"\]))?`/g, (quote, name: string, value?: string) => {
    return spell(name, value === undefined ? undefined : (JSON.parse(value) as QuotedValue)) ?? quote;
  });
}
