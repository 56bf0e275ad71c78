/** The routes of Infinity's API that no other protocol has: /classify and /models. Its /health, /embeddings and /rerank are shared with others. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { readManifest } from "../../models/index.ts";
import { type Routes, getCaller, resultHeaders } from "../http/context.ts";
import { jsonContent } from "../http/error-responses.ts";
import { name, requestObject, texts } from "../http/field-schemas.ts";
import { jsonRoute } from "../http/json-route.ts";
import { createRoutes } from "../http/routes.ts";
import type { Service } from "../serving/service.ts";
import { getCapabilities } from "./model-capabilities.ts";
import { documentedErrors, handleOpenAiError } from "./openai/errors.ts";

const seconds = (): number => Math.floor(Date.now() / 1000);

const classifyRequest = (limit: number) =>
  requestObject({
    input: texts(limit, 1).openapi({ example: ["I love it"] }),
    model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
    raw_scores: z.boolean().optional().openapi({ description: "Scores are the model's logits. Default: false" }),
  }).openapi("InfinityClassifyRequest");

const classifyResponse = z
  .object({
    object: z.literal("classify"),
    data: z
      .array(z.array(z.object({ label: z.string(), score: z.number() })))
      .openapi({ description: "Labels of each text, best first" }),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }).openapi({ description: "Number of tokens read" }),
    id: z.string(),
    created: z.int(),
  })
  .openapi("InfinityClassifications");

const model = z.object({
  id: z.string(),
  object: z.literal("model"),
  owned_by: z.literal("infinity"),
  created: z.int().openapi({ description: "When it was fetched, in seconds since 1970; 0 if unknown" }),
  backend: z.string().openapi({ description: "Target on which it is in memory; empty if it is not" }),
  capabilities: z.array(z.string()).openapi({ example: ["embed", "rerank"] }),
  stats: z.record(z.string(), z.number()).openapi({ description: "Empty: the queue is one for all models, see GET /metrics" }),
});

const modelsRoute = createRoute({
  method: "get",
  path: "/models",
  summary: "List models, as Infinity",
  responses: {
    200: jsonContent(
      "Every model that requests may name",
      z.object({ object: z.literal("list"), data: z.array(model) }).openapi("InfinityModels"),
    ),
    ...documentedErrors,
  },
} satisfies RouteConfig);

const classifyRoute = (path: string, limit: number) =>
  createRoute(jsonRoute(path, "Labels of texts, as Infinity", classifyRequest(limit), classifyResponse, documentedErrors));

/** Creates the routes /classify, which is below /v1 too, and /models. */
export function infinityRoutes(service: Service): Routes {
  const routes = createRoutes(handleOpenAiError);
  routes.openapi(modelsRoute, async (context) => {
    const names = await service.modelNames();
    return context.json({ object: "list" as const, data: await Promise.all(names.map((one) => getModel(service, one))) }, 200);
  });
  for (const path of ["/classify", "/v1/classify"]) addClassify(routes, service, path);
  return routes;
}

function addClassify(routes: Routes, service: Service, path: string): void {
  routes.openapi(classifyRoute(path, service.limits.maxTexts), async (context) => {
    const { input, model: written, raw_scores: raw = false } = context.req.valid("json");
    const options = raw ? { activation: "none" as const } : {};
    const call = { model: written, texts: input.length, key: ["classify", input, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.classify(input, { ...options, model: handle, signal }),
    );
    const { results, tokens } = outcome.result;
    const read = tokens.reduce((sum, count) => sum + count, 0);
    const body = {
      object: "classify" as const,
      data: results.map((list) => list.map(({ label, score }) => ({ label, score }))),
      model: outcome.model,
      usage: { prompt_tokens: read, total_tokens: read },
      id: context.get("requestId"),
      created: seconds(),
    };
    return context.json(body, 200, resultHeaders(outcome));
  });
}

/** Describes a model by its files and by whether it is in memory; one that cannot be read has no capabilities. */
async function getModel(service: Service, id: string): Promise<z.infer<typeof model>> {
  const { reference } = await service.resolve({}, id);
  const manifest = await readManifest(reference).catch(() => undefined);
  const fetched = await service.fetchTime(id);
  return {
    id,
    object: "model",
    owned_by: "infinity",
    created: Math.floor((fetched?.getTime() ?? 0) / 1000),
    backend: service.runtime.memory().models.find((one) => one.reference === reference)?.target ?? "",
    capabilities: manifest === undefined ? [] : getCapabilities(manifest),
    stats: {},
  };
}
