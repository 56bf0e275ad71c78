/**
 * The shape of most routes: POST with a JSON body and a JSON response. These are types and not interfaces, because the framework requires index
 * signatures.
 */
import type { z } from "@hono/zod-openapi";
import type { JsonContent } from "./error-responses.ts";

type JsonBody<Schema> = { readonly "application/json": { readonly schema: Schema } };

/** A route for `createRoute`, with the types of its request and response. */
export type JsonRoute<
  Path extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Errors extends Readonly<Record<number, JsonContent>>,
> = {
  method: "post";
  path: Path;
  summary: string;
  request: { body: { required: true; content: JsonBody<Request> } };
  responses: { 200: { description: string; content: JsonBody<Response> } } & Errors;
};

/** A POST route that reads and writes JSON. `summary` also describes the response. `errors`: the error responses of its protocol. */
export function jsonRoute<
  Path extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Errors extends Readonly<Record<number, JsonContent>>,
>(path: Path, summary: string, request: Request, response: Response, errors: Errors): JsonRoute<Path, Request, Response, Errors> {
  return {
    method: "post",
    path,
    summary,
    request: { body: { required: true, content: { "application/json": { schema: request } } } },
    responses: { 200: { description: summary, content: { "application/json": { schema: response } } }, ...errors },
  };
}
