/** The repository extension: lists, loads and unloads models. */
import { type RouteConfig, z } from "@hono/zod-openapi";
import { runProbe } from "../../../runtime/loading/verification.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { adminOnly } from "../../http/middleware.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { members, requestObject } from "../../http/field-schemas.ts";
import { isLoaded } from "../../serving/model-state.ts";
import type { Service } from "../../serving/service.ts";
import { jsonContent } from "../../http/error-responses.ts";
import { routerPath } from "../../http/routes.ts";
import { documentedErrors } from "./errors.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody } from "../../http/json-body.ts";
import { invalid } from "./json-data.ts";
import { repositoryIndex } from "./schemas.ts";

const version = "1";

const indexBody = requestObject({ ready: z.boolean().optional().openapi({ description: "Only models that are loaded" }) });
const loadBody = requestObject({ parameters: members(requestLimits.parameters).optional() });
const params = z.object({ model: z.string() });

/**
 * Adds the routes of KServe's model repository extension: list, load and unload models. They are documented apart from
 * their handlers, which read the bodies themselves, since clients of this protocol send JSON without a content type.
 */
export function addRepository(routes: Routes, service: Service): void {
  const index = {
    method: "post",
    path: "/v2/repository/index",
    summary: "List the models of the server",
    request: { body: { content: { "application/json": { schema: indexBody } } } },
    responses: { 200: jsonContent("Name, version and state of each model", repositoryIndex), ...documentedErrors },
  } satisfies RouteConfig;
  routes.openAPIRegistry.registerPath(index);
  routes.post(routerPath(index.path), async (context) => {
    const { ready = false } = takeFields(context, await jsonBody(context), indexBody);
    const names = await service.modelNames();
    const rows = names.map(async (name) => {
      const { reference } = await service.resolve(getCaller(context), name);
      return isLoaded(service.runtime, reference)
        ? { name, version, state: "READY" as const, reason: "" }
        : { name, version, state: "UNAVAILABLE" as const, reason: "not loaded; its first request loads it" };
    });
    const all = await Promise.all(rows);
    return context.json(ready ? all.filter(({ state }) => state === "READY") : all, 200);
  });

  const load = {
    method: "post",
    path: "/v2/repository/models/{model}/load",
    summary: "Load a model (admins)",
    request: { params, body: { content: { "application/json": { schema: loadBody } } } },
    responses: { 200: { description: "The model is loaded, and a probe has run on it" }, ...documentedErrors },
  } satisfies RouteConfig;
  routes.openAPIRegistry.registerPath(load);
  routes.post(routerPath(load.path), adminOnly, async (context) => {
    refuseParameters(takeFields(context, await jsonBody(context), loadBody).parameters, []);
    const model = context.req.param("model");
    const served = await service.call(getCaller(context), { model, waitsForLoad: true }, async (handle, signal) => {
      await runProbe(handle, handle.manifest, signal);
    });
    return context.body(null, 200, resultHeaders(served));
  });

  const unload = {
    method: "post",
    path: "/v2/repository/models/{model}/unload",
    summary: "Unload a model as soon as it is unused (admins)",
    request: { params, body: { content: { "application/json": { schema: loadBody } } } },
    responses: { 200: { description: "The model is not in memory" }, ...documentedErrors },
  } satisfies RouteConfig;
  routes.openAPIRegistry.registerPath(unload);
  routes.post(routerPath(unload.path), adminOnly, async (context) => {
    refuseParameters(takeFields(context, await jsonBody(context), loadBody).parameters, ["unload_dependents"]); // accepted; no model has dependents
    const { reference } = await service.resolve(getCaller(context), context.req.param("model"));
    await service.runtime.unload(reference, { signal: context.req.raw.signal });
    return context.body(null, 200);
  });
}

/** Throws INPUT_INVALID for a parameter that is not supported. */
function refuseParameters(parameters: Readonly<Record<string, unknown>> | undefined, known: readonly string[]): void {
  const unknown = Object.keys(parameters ?? {}).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`the parameter ${JSON.stringify(unknown)} is not supported`);
}
