/**
 * GET /v1/models and /v1/models/{model}: the names that requests may use. One response serves the clients of OpenAI, which read `data`, and clients of Cohere,
 * which read `models`; one model has the fields of both, and `ready`, which those of KServe's V1 protocol read.
 */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { readManifest } from "../../../models/index.ts";
import type { Routes } from "../../http/context.ts";
import { isLoaded } from "../../serving/model-state.ts";
import type { Service } from "../../serving/service.ts";
import { type Capability, getCapabilities } from "../model-capabilities.ts";
import { documentedErrors } from "./errors.ts";

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

const listRoute = (path: string, as: string) =>
  createRoute({
    method: "get",
    path,
    summary: `List models, ${as}`,
    request: { query },
    responses: {
      200: {
        description: "Every model that requests may name",
        content: {
          "application/json": {
            schema: z
              .object({
                object: z.literal("list"),
                data: z.array(openAiModel),
                models: z.array(cohereModel),
                next_page_token: z.string().optional().openapi({ description: "Present if `models` goes on" }),
              })
              .openapi("OpenAIModels"),
          },
        },
      },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

const oneRoute = (path: string, as: string) =>
  createRoute({
    method: "get",
    path: `${path}/{model}`,
    summary: `One model, ${as}`,
    request: { params: z.object({ model: z.string() }) },
    responses: { 200: { description: "The model", content: { "application/json": { schema: model } } }, ...documentedErrors },
  } satisfies RouteConfig);

/** Adds `GET /v1/models` and `GET /v1/models/{model}`, and their aliases. */
export function addModels(routes: Routes, service: Service): void {
  for (const [path, as] of Object.entries(locations)) addModelsAt(routes, service, path, as);
}

function addModelsAt(routes: Routes, service: Service, path: string, as: string): void {
  routes.openapi(listRoute(path, as), async (context) => {
    const { endpoint: wanted, default_only: defaultOnly, page_size: size, page_token: start = "0" } = context.req.valid("query");
    const names = await service.modelNames();
    const data = await Promise.all(names.map((name) => toOpenAiModel(service, name)));
    const all = await Promise.all(names.map((name, index) => toCohereModel(service, name, index === 0)));
    const fitting = all.filter(({ endpoints, default_endpoints: defaults }) => {
      const list: readonly string[] = defaultOnly === "true" ? defaults : endpoints;
      return wanted === undefined ? defaultOnly !== "true" || list.length > 0 : list.includes(wanted);
    });
    const end = Number(start) + (size ?? fitting.length);
    const rest = end < fitting.length ? { next_page_token: String(end) } : {};
    return context.json({ object: "list" as const, data, models: fitting.slice(Number(start), end), ...rest }, 200);
  });
  routes.openAPIRegistry.registerPath(oneRoute(path, as));
  // Not through the OpenAPI router: names contain slashes ("owner/name"), which clients may percent-encode.
  routes.get(`${path}/:model{.+}`, async (context) => {
    const name = context.req.param("model") ?? "";
    const names = await service.modelNames();
    if (names.includes(name)) {
      const { reference } = await service.resolve({}, name);
      return context.json({
        ...(await toOpenAiModel(service, name)),
        ...(await toCohereModel(service, name, names[0] === name)),
        ready: isLoaded(service.runtime, reference),
      });
    }
    throw new InferyardError("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)} here`, {
      remedy: "GET /v1/models lists those there are",
    });
  });
}

async function toOpenAiModel(service: Service, id: string): Promise<z.infer<typeof openAiModel>> {
  const fetched = await service.fetchTime(id);
  return { id, object: "model", created: Math.floor((fetched?.getTime() ?? 0) / 1000), owned_by: "inferyard" };
}

/** Describes a model by its files, without fetching or loading it; one that cannot be read has no endpoints. */
async function toCohereModel(service: Service, name: string, isDefault: boolean): Promise<z.infer<typeof cohereModel>> {
  const { reference } = await service.resolve({}, name);
  const manifest = await readManifest(reference).catch(() => undefined);
  const capabilities: readonly Capability[] = manifest === undefined ? [] : getCapabilities(manifest);
  const endpoints = endpoint.options.filter((one: Endpoint) => capabilities.includes(one));
  const length = manifest?.text?.maxTokens;
  return {
    name,
    endpoints,
    default_endpoints: isDefault ? endpoints : [],
    ...omitUndefined({ context_length: length }),
  };
}
