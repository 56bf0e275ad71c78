/** The routes of Infinity's API that no other protocol has: /classify and /models. Its /health, /embeddings and /rerank are shared with others. */
import { z } from "@hono/zod-openapi";
import { modelField, requestObject, texts } from "../http/field-schemas.ts";
import { jsonResponse } from "../http/json-response.ts";
import { type Route, post } from "../http/routes/route.ts";
import type { Service } from "../serving/service.ts";
import { getModelCapabilities } from "./model-capabilities.ts";
import { type ModelFacts, listModelFacts } from "./model-facts.ts";
import { openAiErrors } from "./openai/errors.ts";
import type { Protocol } from "./protocol.ts";
import { runTask } from "./run-task.ts";

const classifyRequest = (limit: number) =>
  requestObject({
    input: texts(limit, 1).openapi({ example: ["I love it"] }),
    model: modelField,
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

/** The routes /classify, which is below /v1 too, and /models. */
export const infinity: Protocol = {
  errors: openAiErrors,
  routes: (service) => [
    {
      method: "get",
      path: "/models",
      summary: "List models, as Infinity",
      description: "Every model that requests may name",
      response: z.object({ object: z.literal("list"), data: z.array(model) }).openapi("InfinityModels"),
      answer: async (context) => {
        const facts = await listModelFacts(service);
        return context.json({ object: "list", data: facts.map((each) => getModel(service, each)) }, 200);
      },
    },
    ...["/classify", "/v1/classify"].map((path) => classifyRoute(service, path)),
  ],
};

function classifyRoute(service: Service, path: string): Route {
  return post({
    path,
    summary: "Labels of texts, as Infinity",
    schema: classifyRequest(service.limits.maxTexts),
    response: classifyResponse,
    answer: async ({ input, model: written, raw_scores: raw = false }, context) => {
      const options = raw ? { activation: "none" as const } : {};
      const call = { model: written, texts: input.length, key: ["classify", input, options] as const };
      const outcome = await runTask(service, context, call, (on) => service.runtime.classify(input, { ...options, ...on }));
      const { results, tokens } = outcome.result;
      const read = tokens.reduce((sum, count) => sum + count, 0);
      const body = {
        object: "classify",
        data: results.map((list) => list.map(({ label, score }) => ({ label, score }))),
        model: outcome.model,
        usage: { prompt_tokens: read, total_tokens: read },
        id: context.get("requestId"),
        created: Math.floor(Date.now() / 1000),
      };
      return jsonResponse(context, body, outcome);
    },
  });
}

/** Describes a model by its files and by whether it is in memory; one that cannot be read has no capabilities. */
function getModel({ runtime }: Service, { name, reference, manifest, created }: ModelFacts): z.infer<typeof model> {
  return {
    id: name,
    object: "model",
    owned_by: "infinity",
    created,
    backend: runtime.memory().models.find((one) => one.reference === reference)?.target ?? "",
    capabilities: manifest === undefined ? [] : getModelCapabilities(manifest),
    stats: {},
  };
}
