/** Errors as text-embeddings-inference reports them: its statuses, and one of its six types. */
import { z } from "@hono/zod-openapi";
import { type ErrorCode, InferyardError } from "../../../contract/errors.ts";
import { type DocumentedErrors, documentErrors, retryFieldSchemas, statusMeanings } from "../../http/error-responses.ts";
import { errorResponse, messageWithRemedy, publicError, retryFields } from "../../http/public-error.ts";
import type { ErrorHandler } from "../../http/routes.ts";

const errorTypes = ["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"] as const;
type ErrorType = (typeof errorTypes)[number];

const errorBody: z.ZodType = z
  .object({
    error: z.string(),
    error_type: z.enum(errorTypes),
    code: z.string().openapi({ example: "INPUT_TOO_LONG" }),
    ...retryFieldSchemas,
  })
  .openapi("TeiError");

type Status = keyof typeof statusMeanings | 424;

const meanings: Readonly<Record<Status, string>> = {
  ...statusMeanings,
  400: "The input is empty",
  413: "The request exceeds a limit, or a text is longer than the model reads",
  422: "The request is invalid",
  424: "The model does not support this, or failed",
};

/** The error responses of every route. */
export const documentedErrors: DocumentedErrors<Status> = documentErrors(errorBody, meanings);

/** The error for an empty list, which has its own type and status. */
export function emptyError(what: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `${what} is empty`, { remedy: "give at least one", data: { empty: true } });
}

/** Status and type of the codes that have others here than elsewhere. */
const teiStatuses: Readonly<Partial<Record<ErrorCode, readonly [status: number, type: ErrorType]>>> = {
  INPUT_INVALID: [422, "Validation"],
  TOKENIZER_INVALID: [422, "Tokenizer"],
  MODEL_UNSUPPORTED: [424, "Backend"],
  MODEL_INVALID: [424, "Backend"],
  POOLING_UNKNOWN: [424, "Backend"],
  RUN_FAILED: [424, "Backend"],
  LOAD_FAILED: [424, "Backend"],
  VERIFICATION_FAILED: [424, "Backend"],
  PLACEMENT_UNPROVEN: [424, "Backend"],
  QUEUE_FULL: [429, "Overloaded"],
};

/** The error with the status and type that text-embeddings-inference has for it. */
export const handleTeiError: ErrorHandler = (thrown, context) => {
  const error = publicError(thrown);
  const { code } = error;
  const isEmpty = thrown instanceof InferyardError && thrown.data["empty"] === true;
  const [status, type] = isEmpty ? ([400, "Empty"] as const) : (teiStatuses[code] ?? [error.status, getType(error.status)]);
  const body = { error: messageWithRemedy(error), error_type: type, code, ...retryFields(error) };
  return errorResponse(context, body, { status, headers: error.headers });
};

function getType(status: number): ErrorType {
  if (status === 503) return "Unhealthy";
  return status >= 500 ? "Backend" : "Validation";
}
