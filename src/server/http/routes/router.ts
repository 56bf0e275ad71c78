/** The router of the server: its routes, the OpenAPI document and the format of errors, all from the same tables. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { getPath } from "hono/utils/url";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { Env, Routes } from "../context.ts";
import { type ErrorFormat, documentedErrors, respondWithError } from "../error-format.ts";
import { pathParameters, routeName, routerPath } from "./paths.ts";
import type { Route } from "./route.ts";

/** Routes with one format of errors. */
export interface RouteTable {
  readonly errors: ErrorFormat;
  /** Paths below which errors have this format even where there is no route, such as "/v1". Default: none. */
  readonly prefixes?: readonly string[];
  /** Whether fields that a route does not know make a request invalid. Default: as the server is set. */
  readonly strictFields?: boolean;
  readonly routes: readonly Route[];
}

/**
 * The router of the tables, whose routes are in the OpenAPI document in this order. Slashes at the end of a path, and slashes that follow one another, as
 * base addresses and paths make them when they are joined, do not matter. `otherErrors`: format of the errors of paths that belong to no table.
 */
export function createRouter(
  tables: readonly RouteTable[],
  otherErrors: ErrorFormat,
  middleware: readonly MiddlewareHandler<Env>[],
): Routes {
  const router = new OpenAPIHono<Env>({
    getPath: (request) =>
      getPath(request)
        .replaceAll(/(?<!:)\/{2,}/g, "/")
        .replace(/(?<=.)\/$/, ""),
  });
  const getFormat = errorFormats(tables, otherErrors);
  router.onError((thrown, context) => respondWithError(getFormat(context), thrown, context));
  router.notFound((context) => {
    const remedy = "GET /openapi.json describes the routes there are";
    const error = new InferyardError("ROUTE_NOT_FOUND", `there is no route ${context.req.path}`, { remedy });
    return respondWithError(getFormat(context), error, context);
  });
  router.use(...middleware);
  for (const table of tables) for (const route of table.routes) addRoute(router, route, table);
  return router;
}

const getPatterns = ({ path, patterns = [routerPath(path)] }: Route): readonly string[] => patterns;

function addRoute(router: Routes, route: Route, { errors, strictFields }: RouteTable): void {
  const { method, answer } = route;
  const handler = (context: Context<Env>): Response | Promise<Response> => {
    if (strictFields !== undefined) context.set("strictFields", strictFields);
    return answer(context);
  };
  router.on(method.toUpperCase(), [...getPatterns(route)], handler);
  if (route.summary !== undefined) addToDocument(router, route, route.summary, errors);
}

function addToDocument(router: Routes, route: Route, summary: string, errors: ErrorFormat): void {
  const { method, path, parameters, description, response, media, request } = route;
  const content = { ...(response === undefined ? {} : { "application/json": response }), ...media };
  const types = Object.entries(content).map(([type, schema]) => [type, { schema }] as const);
  const ok = { description: description ?? summary, ...(types.length === 0 ? {} : { content: Object.fromEntries(types) }) };
  const isAnswered = description !== undefined || types.length > 0;
  router.openAPIRegistry.registerPath({
    method,
    path,
    summary,
    request: { ...omitUndefined({ params: pathParameters(path, parameters) }), ...request },
    responses: { ...(isAnswered ? { 200: ok } : {}), ...documentedErrors(errors, route.errors), ...route.responses },
    operationId: routeName(method, path),
  });
}

/** The pseudo-method under which formats of errors are found whatever the method of a request. */
const anyMethod = "any";

/** The format of the errors of a request: the format of its route, else of the longest prefix of its path. */
function errorFormats(tables: readonly RouteTable[], otherErrors: ErrorFormat): (context: Context<Env>) => ErrorFormat {
  const formats = new TrieRouter<ErrorFormat>();
  const routes = tables.flatMap(({ errors, routes }) =>
    routes.flatMap((route) => getPatterns(route).map((pattern) => ({ method: route.method.toUpperCase(), pattern, errors }))),
  );
  for (const { method, pattern, errors } of routes) formats.add(method, pattern, errors);
  // Paths before patterns of paths: "/models" before "/models/*", which matches it too. Where protocols share a path, the one that clients post to.
  const order = ({ method, pattern }: { readonly method: string; readonly pattern: string }): number =>
    Number(/[*{]/.test(pattern)) * 2 + Number(method !== "POST");
  for (const { pattern, errors } of routes.toSorted((one, other) => order(one) - order(other)))
    formats.add(anyMethod, pattern, errors);
  const prefixes = tables.flatMap(({ errors, prefixes = [] }) => prefixes.map((prefix) => ({ prefix, errors })));
  for (const { prefix, errors } of prefixes.toSorted((one, other) => other.prefix.length - one.prefix.length))
    formats.add(anyMethod, `${prefix}/*`, errors);
  const find = (method: string, path: string): ErrorFormat | undefined => formats.match(method, path)[0][0]?.[0];
  return ({ req: { method, path } }) => find(method, path) ?? find(anyMethod, path) ?? otherErrors;
}

/**
 * Adds the responses to other methods at the paths of the routes: OPTIONS gets 204, any other METHOD_NOT_ALLOWED, both with the header Allow. To be called when
 * all routes are there.
 */
export function addOtherMethods(routes: Routes): void {
  const methodsByPath = new Map<string, Set<string>>();
  for (const { path, method } of routes.routes) {
    if (method === "ALL") continue; // middleware
    methodsByPath.set(path, (methodsByPath.get(path) ?? new Set()).add(method));
  }
  for (const [path, methods] of methodsByPath) {
    const allow = [...methods, ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
    routes.all(path, (context) => {
      if (context.req.method === "OPTIONS") return context.body(null, 204, { allow });
      throw new InferyardError("METHOD_NOT_ALLOWED", `${context.req.path} does not take ${context.req.method}`, {
        remedy: `use one of: ${allow}`,
        data: { allow },
      });
    });
  }
}
