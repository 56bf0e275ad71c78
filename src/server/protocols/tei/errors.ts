/** Errors as text-embeddings-inference tells them: its statuses, and one of its six kinds. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type ErrorCode, InferyardError } from "../../../errors.ts";
import { type Env, errorResponse, publicError } from "../../http/context.ts";
import { type DocumentedError, documentError } from "../../http/error-responses.ts";
import { loadProgressSchema } from "../load-progress-body.ts";

const kinds = ["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"] as const;
type Kind = (typeof kinds)[number];

const errorBody: z.ZodType = z
  .object({
    error: z.string(),
    error_type: z.enum(kinds),
    code: z.string().openapi({ example: "INPUT_TOO_LONG" }),
    retryable: z.boolean(),
    retry_after_ms: z.number().optional(),
    loading: loadProgressSchema.optional(),
  })
  .openapi("TeiError");

const meanings = {
  400: "Nothing was given",
  401: "A key is needed",
  403: "This key may not do that",
  404: "There is no such model",
  413: "Too much at once, or a text that is longer than the model reads",
  415: "The body has a form that is not read",
  422: "The request is not right",
  424: "The model cannot do this, or failed",
  429: "Too many requests wait already",
  500: "It failed",
  503: "Not now: loading, no memory, no engine, or ending",
  504: "It took too long",
} as const;

export const documentedErrors: Readonly<Record<keyof typeof meanings, DocumentedError>> = Object.fromEntries(
  Object.entries(meanings).map(([status, description]) => [status, documentError(errorBody, description)]),
) as Record<keyof typeof meanings, DocumentedError>;

/** A list with nothing in it, which TEI has a kind of its own for. */
export function emptyError(what: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `${what} is empty`, { remedy: "give at least one", data: { empty: true } });
}

/** Codes whose status is another in TEI. */
const teiStatuses: Readonly<Partial<Record<ErrorCode, readonly [status: number, kind: Kind]>>> = {
  INPUT_INVALID: [422, "Validation"],
  TOKENIZER_INVALID: [422, "Tokenizer"],
  MODEL_UNSUPPORTED: [424, "Backend"],
  MODEL_INVALID: [424, "Backend"],
  POOLING_UNKNOWN: [424, "Backend"],
  RUN_FAILED: [424, "Backend"],
  LOAD_FAILED: [424, "Backend"],
  VERIFICATION_FAILED: [424, "Backend"],
  QUEUE_FULL: [429, "Overloaded"],
};

export function handleTeiError(thrown: unknown, context: Context<Env>): Response {
  const { code, message, remedy, retryable, retryAfterMs, loading, headers, ...said } = publicError(thrown);
  const isEmpty = thrown instanceof InferyardError && thrown.data["empty"] === true;
  const [status, kind] = isEmpty ? ([400, "Empty"] as const) : (teiStatuses[code] ?? [said.status, kindOf(said.status)]);
  const body = {
    error: remedy === undefined ? message : `${message} (${remedy})`,
    error_type: kind,
    code,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...(loading === undefined ? {} : { loading }),
  };
  return errorResponse(context, body, { status, headers });
}

function kindOf(status: number): Kind {
  if (status === 503) return "Unhealthy";
  return status >= 500 ? "Backend" : "Validation";
}
