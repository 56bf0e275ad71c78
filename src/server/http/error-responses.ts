/** What the error responses of all protocols have in common in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { loadProgressSchema } from "./load-progress-body.ts";
import { refusedConstraintSchema } from "./refused-constraint-body.ts";

/** A JSON response in the document. */
interface JsonContent {
  readonly description: string;
  readonly content: { readonly "application/json": { readonly schema: z.ZodType } };
}

/** A response of the document whose body is JSON of this schema. */
export function jsonContent(description: string, schema: z.ZodType): JsonContent {
  return { description, content: { "application/json": { schema } } };
}

/** Meaning of each status, unless a protocol gives it another one. */
export const statusMeanings = {
  400: "The request is invalid",
  401: "A valid API key is required",
  403: "The client may not do this",
  404: "There is no such model",
  413: "The request exceeds a limit",
  415: "The media type, encoding or charset of the body is not supported",
  422: "The model does not support this",
  429: "Too many requests",
  500: "Internal error",
  503: "Unavailable: the model is loading, memory is short, no backend can run it, or the server is shutting down",
  504: "The request timed out",
} as const;

/** Schemas of the fields that `retryFields` gives to the error body of every protocol. */
export const retryFieldSchemas: {
  readonly retryable: z.ZodBoolean;
  readonly retry_after_ms: z.ZodOptional<z.ZodNumber>;
  readonly loading: z.ZodOptional<typeof loadProgressSchema>;
  readonly constraint: z.ZodOptional<typeof refusedConstraintSchema>;
} = {
  retryable: z.boolean(),
  retry_after_ms: z.number().optional(),
  loading: loadProgressSchema.optional(),
  constraint: refusedConstraintSchema.optional(),
};
