/** Errors as text-embeddings-inference reports them: its statuses, and one of its six types. */
import { z } from "@hono/zod-openapi";
import { type ErrorCode, InferyardError, invalidInput } from "../../../contract/errors.ts";
import type { ErrorFormat } from "../../http/error-format.ts";
import { retryFieldSchemas } from "../../http/error-responses.ts";
import { type PublicError, messageWithRemedy, retryFields } from "../../http/public-error.ts";

const errorTypes = ["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"] as const;
type ErrorType = (typeof errorTypes)[number];

/** The error for an empty list, which has its own type and status. */
export function emptyError(what: string): InferyardError {
  return invalidInput(`${what} is empty`, "give at least one", { empty: true });
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

/** Errors with the statuses and types of text-embeddings-inference. */
export const teiErrors: ErrorFormat = {
  schema: z
    .object({
      error: z.string(),
      error_type: z.enum(errorTypes),
      code: z.string().openapi({ example: "INPUT_TOO_LONG" }),
      ...retryFieldSchemas,
    })
    .openapi("TeiError"),
  meanings: {
    400: "The input is empty",
    413: "The request exceeds a limit, or a text is longer than the model reads",
    422: "The request is invalid",
    424: "The model does not support this, or failed",
  },
  body: (error, thrown) => ({
    error: messageWithRemedy(error),
    error_type: getKind(error, thrown)[1],
    code: error.code,
    ...retryFields(error),
  }),
  status: (error, thrown) => getKind(error, thrown)[0],
};

function getKind({ code, status }: PublicError, thrown: unknown): readonly [status: number, type: ErrorType] {
  const isEmpty = thrown instanceof InferyardError && thrown.data["empty"] === true;
  return isEmpty ? [400, "Empty"] : (teiStatuses[code] ?? [status, getType(status)]);
}

function getType(status: number): ErrorType {
  if (status === 503) return "Unhealthy";
  return status >= 500 ? "Backend" : "Validation";
}
