/** The repository extension: which models there are, and loading and unloading them by hand. */
import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { runProbe } from "../../../runtime/loading/verification.ts";
import { type Env, type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { adminOnly } from "../../http/middleware.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { members } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { invalidRequest } from "../../http/validation.ts";
import { invalid } from "./json-data.ts";
import { documentedErrors, jsonContent } from "./responses.ts";
import { repositoryIndex } from "./schemas.ts";

const version = "1";

const indexBody = z.object({ ready: z.boolean().optional().openapi({ description: "Only those that are loaded" }) });
const loadBody = z.object({ parameters: members(requestLimits.parameters).optional() });
const params = z.object({ model: z.string() });

export function isLoaded({ runtime }: Service, reference: string): boolean {
  return runtime.memory().models.some((model) => model.reference === reference);
}

/** Bodies are read here, and the routes registered for the document alone: the protocol's own clients send JSON without saying so. */
export function addRepository(routes: Routes, service: Service): void {
  const index = {
    method: "post",
    path: "/v2/repository/index",
    summary: "The models of this server",
    request: { body: { content: { "application/json": { schema: indexBody } } } },
    responses: { 200: jsonContent("Name, version and state of each", repositoryIndex), ...documentedErrors },
  } satisfies RouteConfig;
  routes.openAPIRegistry.registerPath(index);
  routes.post(pathOf(index), async (context) => {
    const { ready = false } = await bodyOf(context, indexBody);
    const names = await service.modelNames();
    const rows = names.map(async (name) => {
      const { reference } = await service.resolve(callerOf(context), name);
      return isLoaded(service, reference)
        ? { name, version, state: "READY" as const, reason: "" }
        : { name, version, state: "UNAVAILABLE" as const, reason: "not loaded; its first request loads it" };
    });
    const all = await Promise.all(rows);
    return context.json(ready ? all.filter(({ state }) => state === "READY") : all, 200);
  });

  const load = {
    method: "post",
    path: "/v2/repository/models/{model}/load",
    summary: "Loads a model (administrators)",
    request: { params, body: { content: { "application/json": { schema: loadBody } } } },
    responses: { 200: { description: "It is loaded, and a probe has run on it" }, ...documentedErrors },
  } satisfies RouteConfig;
  routes.openAPIRegistry.registerPath(load);
  routes.post(pathOf(load), adminOnly, async (context) => {
    refuseParameters((await bodyOf(context, loadBody)).parameters, []);
    const model = context.req.param("model");
    const served = await service.call(callerOf(context), { model, loads: true }, async (handle, signal) => {
      await runProbe(handle, handle.manifest, signal);
    });
    return context.body(null, 200, servedHeaders(served));
  });

  const unload = {
    method: "post",
    path: "/v2/repository/models/{model}/unload",
    summary: "Unloads a model as soon as nobody uses it (administrators)",
    request: { params, body: { content: { "application/json": { schema: loadBody } } } },
    responses: { 200: { description: "It is not in memory" }, ...documentedErrors },
  } satisfies RouteConfig;
  routes.openAPIRegistry.registerPath(unload);
  routes.post(pathOf(unload), adminOnly, async (context) => {
    refuseParameters((await bodyOf(context, loadBody)).parameters, ["unload_dependents"]); // no model here has any
    const { reference } = await service.resolve(callerOf(context), context.req.param("model"));
    await service.runtime.unload(reference, { signal: context.req.raw.signal });
    return context.body(null, 200);
  });
}

/** No body at all is an empty one. */
async function bodyOf<Schema extends z.ZodType>(context: Context<Env>, schema: Schema): Promise<z.infer<Schema>> {
  const text = await context.get("body").text();
  let value: unknown = {};
  try {
    if (text.trim() !== "") value = JSON.parse(text);
  } catch {
    throw invalid("the body is not JSON");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues);
}

function refuseParameters(given: Readonly<Record<string, unknown>> | undefined, known: readonly string[]): void {
  const unknown = Object.keys(given ?? {}).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`the parameter ${JSON.stringify(unknown)} is not served here`);
}

function pathOf({ path }: { readonly path: string }): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
