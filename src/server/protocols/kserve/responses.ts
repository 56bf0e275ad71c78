/** The answers every route of the protocol shares, for the document. */
import type { z } from "@hono/zod-openapi";
import { kserveErrorBody } from "./schemas.ts";

interface JsonAnswer<Schema extends z.ZodType> {
  readonly description: string;
  readonly content: { readonly "application/json": { readonly schema: Schema } };
}

export function jsonContent<Schema extends z.ZodType>(description: string, schema: Schema): JsonAnswer<Schema> {
  return { description, content: { "application/json": { schema } } };
}

type Failure = JsonAnswer<typeof kserveErrorBody>;
type FailureStatus = 400 | 401 | 403 | 404 | 413 | 415 | 422 | 429 | 500 | 503 | 504;

export const documentedErrors: Readonly<Record<FailureStatus, Failure>> = {
  400: jsonContent("The request is not right", kserveErrorBody),
  401: jsonContent("A key is needed", kserveErrorBody),
  403: jsonContent("This key may not do that", kserveErrorBody),
  404: jsonContent("There is no such model or version", kserveErrorBody),
  413: jsonContent("Too much at once", kserveErrorBody),
  415: jsonContent("The body has a form that is not read", kserveErrorBody),
  422: jsonContent("The model cannot do this", kserveErrorBody),
  429: jsonContent("Too many requests wait already", kserveErrorBody),
  500: jsonContent("It failed", kserveErrorBody),
  503: jsonContent("Not now: loading, no memory, no engine, or ending", kserveErrorBody),
  504: jsonContent("It took too long", kserveErrorBody),
};
