/** GET /v1/models and /v1/models/{model}: the names a client may use. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../errors.ts";
import type { Routes } from "../context.ts";
import type { Service } from "../service.ts";
import { errorAnswers } from "./errors.ts";

const model = z
  .object({
    id: z.string().openapi({ example: "builtin" }),
    object: z.literal("model"),
    created: z.int().openapi({ description: "Always 0: when a model was made is not known" }),
    owned_by: z.string(),
  })
  .openapi("OpenAIModel");

const listRoute = createRoute({
  method: "get",
  path: "/v1/models",
  summary: "Names of models, as OpenAI's API",
  responses: {
    200: {
      description: "Every model that may be named",
      content: {
        "application/json": { schema: z.object({ object: z.literal("list"), data: z.array(model) }).openapi("OpenAIModels") },
      },
    },
    ...errorAnswers,
  },
} satisfies RouteConfig);

const oneRoute = createRoute({
  method: "get",
  path: "/v1/models/{model}",
  summary: "One model, as OpenAI's API",
  request: { params: z.object({ model: z.string() }) },
  responses: { 200: { description: "The model", content: { "application/json": { schema: model } } }, ...errorAnswers },
} satisfies RouteConfig);

export function addModels(routes: Routes, service: Service): void {
  routes.openapi(listRoute, async (context) => {
    const names = await service.modelNames();
    return context.json({ object: "list" as const, data: names.map(modelOf) }, 200);
  });
  routes.openAPIRegistry.registerPath(oneRoute);
  // By hand: names have slashes in them ("owner/name"), which clients write as they are or escaped.
  routes.get("/v1/models/:model{.+}", async (context) => {
    const name = context.req.param("model");
    if ((await service.modelNames()).includes(name)) return context.json(modelOf(name));
    throw new InferyardError("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)} here`, {
      remedy: "GET /v1/models lists those there are",
    });
  });
}

function modelOf(id: string): z.infer<typeof model> {
  return { id, object: "model", created: 0, owned_by: "inferyard" };
}
