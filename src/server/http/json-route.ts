/** The frame most routes share: POST, JSON in, JSON out, and their protocol's failures. Types and not interfaces: the framework wants records. */
import type { z } from "@hono/zod-openapi";
import type { DocumentedError } from "./error-responses.ts";

type JsonBody<Schema> = { readonly "application/json": { readonly schema: Schema } };

/** A route as `createRoute` takes it. */
export type JsonRoute<
  Path extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Failures extends Readonly<Record<number, DocumentedError>>,
> = {
  method: "post";
  path: Path;
  summary: string;
  request: { body: { required: true; content: JsonBody<Request> } };
  responses: { 200: { description: string; content: JsonBody<Response> } } & Failures;
};

export function jsonRoute<
  Path extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Failures extends Readonly<Record<number, DocumentedError>>,
>(
  path: Path,
  summary: string,
  request: Request,
  response: Response,
  failures: Failures,
): JsonRoute<Path, Request, Response, Failures> {
  return {
    method: "post",
    path,
    summary,
    request: { body: { required: true, content: { "application/json": { schema: request } } } },
    responses: { 200: { description: summary, content: { "application/json": { schema: response } } }, ...failures },
  };
}
