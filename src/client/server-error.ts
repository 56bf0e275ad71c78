/** A server's refusal, whatever protocol's shape it has. */
import type { components } from "./generated-openapi.ts";

/** What a failure's body may be, by protocol. */
export type ErrorBody = components["schemas"]["Error" | "OpenAIError" | "CohereError" | "TeiError" | "InferenceError" | "Ready"];

/** The server answered, and not with what was asked for. That it could not be reached is the error of `fetch` itself. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly status: number;
  /** One of docs/reference/errors.md; on OpenAI's routes in small letters. Undefined where something else than the server answered. */
  readonly code: string | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** After so many milliseconds, where the server knows. */
  readonly retryAfterMs: number | undefined;
  /** What to do next; other protocols than ours have it in the message. */
  readonly remedy: string | undefined;
  /** Stands in the server's log. */
  readonly requestId: string | undefined;
  /** As it came; undefined where it is no JSON. */
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

/** Ours and OpenAI's stand under `error`; the others have their sentence there, or under `message`, and the rest beside it. */
function errorFields(body: ErrorBody | undefined): ErrorFields {
  if (body === undefined) return {};
  if ("ready" in body) return { message: "the server is not ready" };
  if (!("error" in body)) return body;
  const { error }: { readonly error: ErrorFields | string | null } = body; // null: not of our server, which may stand behind another
  return typeof error === "string" ? { ...body, message: error } : (error ?? {});
}
