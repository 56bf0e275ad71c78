/** GET /v1/models and /v1/models/{model}: the names that requests may use. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../errors.ts";
import type { Routes } from "../../http/context.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";

const model = z
  .object({
    id: z.string().openapi({ example: "builtin" }),
    object: z.literal("model"),
    created: z.int().openapi({ description: "When it was fetched, in seconds since 1970; 0 if unknown" }),
    owned_by: z.string(),
  })
  .openapi("OpenAIModel");

const listRoute = createRoute({
  method: "get",
  path: "/v1/models",
  summary: "List models, as OpenAI's API",
  responses: {
    200: {
      description: "Every model that requests may name",
      content: {
        "application/json": { schema: z.object({ object: z.literal("list"), data: z.array(model) }).openapi("OpenAIModels") },
      },
    },
    ...documentedErrors,
  },
} satisfies RouteConfig);

const oneRoute = createRoute({
  method: "get",
  path: "/v1/models/{model}",
  summary: "One model, as OpenAI's API",
  request: { params: z.object({ model: z.string() }) },
  responses: { 200: { description: "The model", content: { "application/json": { schema: model } } }, ...documentedErrors },
} satisfies RouteConfig);

/** Adds `GET /v1/models` and `GET /v1/models/{model}`. */
export function addModels(routes: Routes, service: Service): void {
  routes.openapi(listRoute, async (context) => {
    const names = await service.modelNames();
    const data = await Promise.all(names.map((name) => modelOf(service, name)));
    return context.json({ object: "list" as const, data }, 200);
  });
  routes.openAPIRegistry.registerPath(oneRoute);
  // Not through the OpenAPI router: names contain slashes ("owner/name"), which clients may percent-encode.
  routes.get("/v1/models/:model{.+}", async (context) => {
    const name = context.req.param("model");
    if ((await service.modelNames()).includes(name)) return context.json(await modelOf(service, name));
    throw new InferyardError("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)} here`, {
      remedy: "GET /v1/models lists those there are",
    });
  });
}

async function modelOf(service: Service, id: string): Promise<z.infer<typeof model>> {
  const fetched = await service.fetchTime(id);
  return { id, object: "model", created: Math.floor((fetched?.getTime() ?? 0) / 1000), owned_by: "inferyard" };
}
