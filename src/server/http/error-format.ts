/** The format in which a protocol reports errors: in responses, and in the OpenAPI document. */
import type { RouteConfig, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type Env, placementHeaders } from "./context.ts";
import { jsonContent, statusMeanings } from "./error-responses.ts";
import { type PublicError, publicError } from "./public-error.ts";

/** How one protocol reports errors. */
export interface ErrorFormat {
  /** Schema of the body of an error response. */
  readonly schema: z.ZodType;
  /** Statuses that mean something else here than in `statusMeanings`, or that only this protocol has. */
  readonly meanings?: Readonly<Record<number, string>>;
  /** The body of a response. `thrown`: what the error is made from. */
  readonly body: (error: PublicError, thrown: unknown, context: Context<Env>) => object;
  /** The HTTP status. Default: the status of the error. */
  readonly status?: (error: PublicError, thrown: unknown) => number;
}

/**
 * The response for a thrown value. It is made by the framework, so that it gets the headers that the middleware has set. Where a decision was made for the
 * request, x-inferyard-decision has its id.
 */
export function respondWithError({ body, status }: ErrorFormat, thrown: unknown, context: Context<Env>): Response {
  const error = publicError(thrown);
  const code = (status?.(error, thrown) ?? error.status) as ContentfulStatusCode;
  const placement = placementHeaders({ decision: context.get("call")?.decision });
  return context.json(body(error, thrown, context), code, { ...error.headers, ...placement });
}

/** The error responses of a route in the OpenAPI document. `statuses`: default all. */
export function documentedErrors({ schema, meanings }: ErrorFormat, statuses?: readonly number[]): RouteConfig["responses"] {
  const all = Object.entries<string>({ ...statusMeanings, ...meanings });
  const documented = all.filter(([status]) => statuses?.includes(Number(status)) ?? true);
  return Object.fromEntries(documented.map(([status, meaning]) => [status, jsonContent(meaning, schema)]));
}
