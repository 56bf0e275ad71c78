/** What the OpenAPI document says of failures, which have one shape in each protocol. */
import type { z } from "@hono/zod-openapi";

export interface DocumentedError {
  readonly description: string;
  readonly content: { readonly "application/json": { readonly schema: z.ZodType } };
}

const meanings = {
  400: "The request is not right",
  401: "A key is needed",
  403: "This key may not do that",
  404: "There is no such model",
  413: "Too much at once",
  415: "The body has a form that is not read",
  422: "The model cannot do this",
  429: "Too many requests wait already",
  500: "It failed",
  503: "Not now: loading, no memory, no engine, or ending",
  504: "It took too long",
} as const;

/** By status; what each means is said in docs/reference/errors.md. */
export type DocumentedErrors = Readonly<Record<keyof typeof meanings, DocumentedError>>;

export function documentErrors(schema: z.ZodType): DocumentedErrors {
  const answers = Object.entries(meanings).map(([status, description]) => [status, documentError(schema, description)]);
  return Object.fromEntries(answers) as DocumentedErrors;
}

export function documentError(schema: z.ZodType, description: string): DocumentedError {
  return { description, content: { "application/json": { schema } } };
}
