/** Routes as data. The router, the OpenAPI document and the format of errors are made from the same table of routes. */
import type { RouteConfig, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { describeIssue } from "../../../models/validation/issue-message.ts";
import type { Env } from "../context.ts";
import { takeFields } from "../fields/take-fields.ts";
import { jsonBody, refuseOtherTypes } from "../json-body.ts";
import { invalidRequest } from "../validation.ts";

/** Where a route is, and what the OpenAPI document says of it. */
export interface RouteDescription {
  /** Path as the document has it: "/v2/models/{model}". */
  readonly path: string;
  /** Paths as the router has them, since names of models contain slashes. Default: `path`. */
  readonly patterns?: readonly string[];
  /** Default: the route is not in the document. */
  readonly summary?: string;
  /** Descriptions of parameters of the path. Default: none. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Description of the response. Default: the summary, for a response that has a body. */
  readonly description?: string;
  /** Schema of the response as JSON. Default: it has no body in JSON. */
  readonly response?: z.ZodType;
  /** Schemas of the response in other media types. Default: none. */
  readonly media?: Readonly<Record<string, z.ZodType>>;
  /** Responses with other statuses than 200, besides errors in the format of the protocol. Default: none. */
  readonly responses?: RouteConfig["responses"];
  /** Statuses of the errors in the document. Default: all of the protocol. */
  readonly errors?: readonly number[];
}

/** What a route answers. */
export type Answer = Response | Promise<Response>;

/** One route. */
export interface Route extends RouteDescription {
  readonly method: "get" | "post" | "delete";
  /** What the document says of the request besides its path. Default: it has neither query nor body. */
  readonly request?: RouteConfig["request"];
  readonly answer: (context: Context<Env>) => Answer;
}

/** The part of the document for a request with a JSON body. */
export function jsonRequest(schema: z.ZodType): NonNullable<RouteConfig["request"]> {
  return { body: { required: true, content: { "application/json": { schema } } } };
}

/** A POST route that reads JSON by a schema. */
export function post<Body extends z.ZodType>({
  schema,
  answer,
  ...description
}: RouteDescription & {
  readonly schema: Body;
  readonly answer: (request: z.infer<Body>, context: Context<Env>) => Answer;
}): Route {
  return {
    ...description,
    method: "post",
    request: jsonRequest(schema),
    answer: async (context) => {
      refuseOtherTypes(context);
      return answer(takeFields(context, await jsonBody(context), schema), context);
    },
  };
}

/** A GET route with parameters in its query. */
export function get<Query extends z.ZodObject>({
  query,
  answer,
  ...description
}: RouteDescription & {
  readonly query: Query;
  readonly answer: (query: z.infer<Query>, context: Context<Env>) => Answer;
}): Route {
  return { ...description, method: "get", request: { query }, answer: (context) => answer(readQuery(context, query), context) };
}

/** The parameters of the query. Throws INPUT_INVALID for those that do not match the schema; one that is given twice is a list. */
function readQuery<Query extends z.ZodObject>(context: Context<Env>, schema: Query): z.infer<Query> {
  const entries = Object.entries(context.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  const given: Readonly<Record<string, unknown>> = Object.fromEntries(entries);
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  // The value as the client wrote it: "0", not the number that it is read as.
  throw invalidRequest(
    read.error.issues.map((issue) => ({
      ...issue,
      message: describeIssue(issue, given[String(issue.path[0])]) ?? issue.message,
    })),
  );
}
