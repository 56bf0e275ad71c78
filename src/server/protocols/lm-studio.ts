/** GET /api/v0/models of LM Studio's REST API. Its chat, completions and embeddings are as in OpenAI's API, also below /api/v0. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { readManifest } from "../../models/index.ts";
import { usualKind } from "../../models/language-tasks.ts";
import type { Routes } from "../http/context.ts";
import { jsonContent } from "../http/error-responses.ts";
import { createRoutes } from "../http/routes.ts";
import { isLoaded } from "../serving/model-state.ts";
import type { Service } from "../serving/service.ts";
import { getContextLength, getTextConfig } from "../../models/context-length.ts";
import { getCapabilities } from "./model-capabilities.ts";
import { documentedErrors, handleOpenAiError } from "./openai/errors.ts";

const model = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    type: z.enum(["llm", "embeddings"]).openapi({ description: "llm: it writes text" }),
    publisher: z.string().openapi({ description: "The part of the name before a slash; else empty" }),
    arch: z.string().openapi({ description: "`model_type` of config.json, else the format" }),
    compatibility_type: z.string().openapi({ description: "Format of the weights", example: "gguf" }),
    quantization: z.string().openapi({ description: "Precision of the weights, where the files say" }),
    state: z.enum(["loaded", "not-loaded"]),
    max_context_length: z.int().optional().openapi({ description: "Tokens; absent: the files do not say" }),
    loaded_context_length: z.int().optional(),
    capabilities: z.array(z.string()).openapi({ description: "tool_use, if its chat template takes tools" }),
  })
  .openapi("LmStudioModel");

const path = "/api/v0/models";
const listRoute = createRoute({
  method: "get",
  path,
  summary: "List models, as LM Studio",
  responses: {
    200: jsonContent(
      "Every model that requests may name and whose files are on this machine",
      z.object({ object: z.literal("list"), data: z.array(model) }).openapi("LmStudioModels"),
    ),
    ...documentedErrors,
  },
} satisfies RouteConfig);

const oneRoute = {
  method: "get",
  path: `${path}/{model}`,
  summary: "One model, as LM Studio",
  request: { params: z.object({ model: z.string() }) },
  responses: { 200: jsonContent("The model", model), ...documentedErrors },
} satisfies RouteConfig;

/** Creates the routes. */
export function lmStudioRoutes(service: Service): Routes {
  const routes = createRoutes(handleOpenAiError);
  routes.openapi(listRoute, async (context) => {
    const all = await Promise.all((await service.modelNames()).map((name) => getModel(service, name).catch(() => undefined)));
    return context.json({ object: "list" as const, data: all.flatMap((one) => one ?? []) }, 200);
  });
  routes.openAPIRegistry.registerPath(oneRoute);
  // Not through the OpenAPI router: names contain slashes ("owner/name").
  routes.get(`${path}/:model{.+}`, async (context) => {
    const name = context.req.param("model") ?? "";
    if ((await service.modelNames()).includes(name)) return context.json(await getModel(service, name));
    throw new InferyardError("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)} here`, {
      remedy: `GET ${path} lists those there are`,
    });
  });
  return routes;
}

/** Describes a model by its files. Throws errors of reading them. */
async function getModel(service: Service, id: string): Promise<z.infer<typeof model>> {
  const { reference } = await service.resolve({}, id);
  const manifest = await readManifest(reference);
  const { format = "", precision = "" } = manifest.variants[0] ?? {};
  const family = getTextConfig(manifest)["model_type"];
  const context = getContextLength(manifest);
  const loaded = isLoaded(service.runtime, reference);
  return {
    id,
    object: "model",
    type: usualKind(manifest) === "language" ? "llm" : "embeddings",
    publisher: id.includes("/") ? (id.split("/", 1)[0] ?? "") : "",
    arch: typeof family === "string" ? family : format,
    compatibility_type: format,
    quantization: precision,
    state: loaded ? "loaded" : "not-loaded",
    ...omitUndefined({ max_context_length: context }),
    ...(context !== undefined && loaded ? { loaded_context_length: context } : {}),
    capabilities: getCapabilities(manifest).includes("tools") ? ["tool_use"] : [],
  };
}
