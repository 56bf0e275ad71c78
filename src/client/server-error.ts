/** Error responses of any protocol. */
import type { components } from "./generated-openapi.ts";

/** Bodies of error responses of all protocols. */
export type ErrorBody = components["schemas"]["Error" | "OpenAIError" | "CohereError" | "TeiError" | "InferenceError" | "Ready"];

/** The server responded with an error. If it could not be reached, the error comes from `fetch`. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly status: number;
  /** Error code (docs/reference/errors.md), in lower case on OpenAI's routes. Undefined if the response is not the server's own. */
  readonly code: string | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Milliseconds until a retry makes sense, where the server knows. */
  readonly retryAfterMs: number | undefined;
  /** What to do; protocols other than Inferyard's have it in the message. */
  readonly remedy: string | undefined;
  /** Id of the request, which the server's log contains. */
  readonly requestId: string | undefined;
  /** The body; undefined if it is not JSON. */
  readonly body: ErrorBody | undefined;

  constructor({ status, headers }: Pick<Response, "status" | "headers">, body: ErrorBody | undefined) {
    const { message, code, retryable, retry_after_ms: retryAfterMs, remedy } = errorFields(body);
    super(message ?? `the server answered ${status}`);
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    this.status = status;
    this.code = code;
    this.retryable = retryable ?? (status === 429 || status === 503);
    this.retryAfterMs = retryAfterMs ?? (Number.isNaN(seconds) ? undefined : seconds * 1000);
    this.remedy = remedy;
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.body = body;
  }
}

interface ErrorFields {
  readonly message?: string;
  readonly code?: string;
  readonly retryable?: boolean;
  readonly retry_after_ms?: number;
  readonly remedy?: string;
}

/**
 * The common fields: Inferyard's and OpenAI's are in `error`; the other protocols have the message in `error` or `message`, and the rest beside
 * it.
 */
function errorFields(body: ErrorBody | undefined): ErrorFields {
  if (body === undefined) return {};
  if ("ready" in body) return { message: "the server is not ready" };
  if (!("error" in body)) return body;
  const { error }: { readonly error: ErrorFields | string | null } = body; // null: not of this server, but of an intermediary
  return typeof error === "string" ? { ...body, message: error } : (error ?? {});
}
