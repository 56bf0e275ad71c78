/** Routers and paths of the HTTP framework. */
import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import type { Context, Handler, MiddlewareHandler } from "hono";
import { getPath } from "hono/utils/url";
import { InferyardError } from "../../contract/errors.ts";
import type { Env, Routes } from "./context.ts";
import { type FieldOptions, takeFields } from "./fields/take-fields.ts";
import { jsonBody, refuseOtherTypes } from "./json-body.ts";
import { refuseInvalid } from "./validation.ts";

/** Converts any thrown value to a response, in the error format of its protocol. */
export type ErrorHandler = (thrown: unknown, context: Context<Env>) => Response;

/** Whether requests may have fields that their routes do not know: "strict": no, "as set": as the server is set. */
export type FieldPolicy = "strict" | "as set";

/**
 * An empty router whose errors, invalid requests included, are formatted by `handleError`. `fields`: default "as set". Slashes at the end of a path, and slashes that follow
 * one another, as base addresses and paths make them when they are joined, do not matter.
 */
export function createRoutes(handleError: ErrorHandler, fields: FieldPolicy = "as set"): Routes {
  const routes = new OpenAPIHono<Env>({
    defaultHook: refuseInvalid,
    getPath: (request) =>
      getPath(request)
        .replaceAll(/(?<!:)\/{2,}/g, "/")
        .replace(/(?<=.)\/$/, ""),
  });
  routes.onError(handleError);
  readBodies(routes, fields === "strict" ? { strict: true } : {});
  return routes;
}

/** Lets JSON bodies of described routes be read by `takeFields`, which the framework's own check of a body knows nothing of. */
function readBodies(routes: Routes, options: FieldOptions): void {
  const { openapi } = routes;
  const withBody = ({ middleware = [], ...route }: RouteConfig, handler: Handler<Env>): unknown => {
    const { body, ...request } = route.request ?? {};
    const content = body?.content["application/json"];
    const schema = content !== undefined && "schema" in content ? content.schema : undefined;
    if (!(schema instanceof z.ZodType)) return openapi({ ...route, middleware }, handler as never);
    routes.openAPIRegistry.registerPath(route);
    const all = [...(Array.isArray(middleware) ? middleware : [middleware]), jsonReader(schema, options)];
    return openapi({ ...route, request, middleware: all, hide: true }, handler as never);
  };
  routes.openapi = withBody as typeof openapi;
}

function jsonReader(schema: z.ZodType, options: FieldOptions): MiddlewareHandler<Env> {
  return async (context, next) => {
    refuseOtherTypes(context);
    context.req.addValidatedData("json", takeFields(context, await jsonBody(context), schema, options) as object);
    await next();
  };
}

/** A path of the OpenAPI document ("/v2/models/{model}") as the framework writes it ("/v2/models/:model"). */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** A path as the framework writes it ("/v1/models/:model{.+}") as the OpenAPI document has it ("/v1/models/{model}"). */
export function documentPath(path: string): string {
  return path.replaceAll(/\/:(\w+)(?:\{[^}]*\})?/g, "/{$1}");
}

/**
 * Name of a route, for metrics and as `operationId` of the OpenAPI document: `post_v2_models_model_infer`. `path`: as the document has it.
 */
export function routeName(method: string, path: string): string {
  const words = path.split(/\W+/).filter((word) => word !== "");
  return [method.toLowerCase(), ...(words.length === 0 ? ["root"] : words)].join("_");
}

/** Names every route of the OpenAPI document. */
export function nameRoutes(routes: Routes): void {
  for (const definition of routes.openAPIRegistry.definitions)
    if (definition.type === "route") definition.route.operationId ??= routeName(definition.route.method, definition.route.path);
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
