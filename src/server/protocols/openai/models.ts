/**
 * GET /v1/models and /v1/models/{model}: the names that requests may use. One response serves the clients of OpenAI, which read `data`, and clients of Cohere,
 * which read `models`; one model has the fields of both, and `ready`, which those of KServe's V1 protocol read.
 */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type Route, get } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type Capability, getModelCapabilities } from "../model-capabilities.ts";
import { type ModelFacts, getModelFacts, listModelFacts } from "../model-facts.ts";

/** Routes of Cohere's API that a model can answer. */
const endpoint = z.enum(["embed", "rerank"]);
type Endpoint = z.infer<typeof endpoint>;

const openAiFields = {
  id: z.string().openapi({ example: "builtin" }),
  object: z.literal("model"),
  created: z.int().openapi({ description: "When it was fetched, in seconds since 1970; 0 if unknown" }),
  owned_by: z.string(),
};
const cohereFields = {
  name: z.string(),
  endpoints: z.array(endpoint).openapi({ description: "Routes of Cohere's API that take it" }),
  default_endpoints: z.array(endpoint).openapi({ description: "Those for which it is the server's default model" }),
  context_length: z.int().optional().openapi({ description: "Maximum tokens of a text; absent: no limit, or unknown" }),
};

const openAiModel = z.object(openAiFields).openapi("OpenAIModel");
const cohereModel = z.object(cohereFields).openapi("CohereModel");
const model = z
  .object({ ...openAiFields, ...cohereFields, ready: z.boolean().openapi({ description: "Whether it is in memory" }) })
  .openapi("Model");

const query = z.object({
  endpoint: z.string().optional().openapi({ description: "`models`: only those of this endpoint of Cohere's API" }),
  default_only: z.enum(["true", "false"]).optional().openapi({ description: "`models`: only the default model of `endpoint`" }),
  page_size: z.coerce.number().int().positive().max(1000).optional().openapi({ description: "Maximum length of `models`" }),
  page_token: z
    .string()
    .regex(/^\d{1,9}$/)
    .optional()
    .openapi({ description: "`next_page_token` of the page before" }),
});

/** Where the list is, and below it each model: OpenAI's path, and Azure's newer and older one. */
const locations = {
  "/v1/models": "as OpenAI's API and as Cohere's",
  "/openai/v1/models": "as Azure OpenAI and KServe",
  "/openai/models": "as Azure OpenAI's older API",
};

const list = z
  .object({
    object: z.literal("list"),
    data: z.array(openAiModel),
    models: z.array(cohereModel),
    next_page_token: z.string().optional().openapi({ description: "Present if `models` goes on" }),
  })
  .openapi("OpenAIModels");

/** `GET /v1/models` and `GET /v1/models/{model}`, and their aliases. */
export function modelRoutes(service: Service): Route[] {
  return Object.entries(locations).flatMap(([path, as]): Route[] => [
    get({
      path,
      summary: `List models, ${as}`,
      query,
      description: "Every model that requests may name",
      response: list,
      answer: async ({ endpoint: wanted, default_only: defaultOnly, page_size: size, page_token: start = "0" }, context) => {
        const facts = await listModelFacts(service);
        const all = facts.map((each, index) => toCohereModel(each, index === 0));
        const fitting = all.filter(({ endpoints, default_endpoints: defaults }) => {
          const shown: readonly string[] = defaultOnly === "true" ? defaults : endpoints;
          return wanted === undefined ? defaultOnly !== "true" || shown.length > 0 : shown.includes(wanted);
        });
        const end = Number(start) + (size ?? fitting.length);
        const rest = end < fitting.length ? { next_page_token: String(end) } : {};
        const models = fitting.slice(Number(start), end);
        return context.json({ object: "list", data: facts.map(toOpenAiModel), models, ...rest }, 200);
      },
    }),
    {
      method: "get",
      path: `${path}/{model}`,
      patterns: [`${path}/:model{.+}`],
      summary: `One model, ${as}`,
      description: "The model",
      response: model,
      answer: async (context) => {
        const name = context.req.param("model") ?? "";
        const names = await service.names.list();
        if (names.includes(name)) {
          const facts = await getModelFacts(service, name);
          return context.json({ ...toOpenAiModel(facts), ...toCohereModel(facts, names[0] === name), ready: facts.isLoaded });
        }
        throw new InferyardError("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)} here`, {
          remedy: "GET /v1/models lists those there are",
        });
      },
    },
  ]);
}

function toOpenAiModel({ name: id, created }: ModelFacts): z.infer<typeof openAiModel> {
  return { id, object: "model", created, owned_by: "inferyard" };
}

/** Describes a model by its files; one that cannot be read has no endpoints. */
function toCohereModel({ name, manifest }: ModelFacts, isDefault: boolean): z.infer<typeof cohereModel> {
  const capabilities: readonly Capability[] = manifest === undefined ? [] : getModelCapabilities(manifest);
  const endpoints = endpoint.options.filter((one: Endpoint) => capabilities.includes(one));
  return {
    name,
    endpoints,
    default_endpoints: isDefault ? endpoints : [],
    ...omitUndefined({ context_length: manifest?.text?.maxTokens }),
  };
}
