/** /api/models: lists models and what they support, shows the decision of a loaded model, loads and unloads models. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../contract/errors.ts";
import { readManifest } from "../../../models/index.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { jsonContent } from "../../http/error-responses.ts";
import { publicError } from "../../http/public-error.ts";
import { getCapabilities } from "../model-capabilities.ts";
import type { Caller } from "../../serving/calls.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { usualKind } from "../../../models/language-tasks.ts";
import { loadedDecision } from "../../serving/model-names.ts";
import type { Service } from "../../serving/service.ts";
import { type LoadProgressBody, loadProgressSchema } from "../../http/load-progress-body.ts";
import { requireAdmin } from "./admin.ts";
import { decisionBody, publicDecision } from "./decision.ts";
import { documentedErrors } from "./errors.ts";

const model = z.object({
  name: z.string(),
  tasks: z.array(z.string()).openapi({ description: "Task names of Hugging Face, the main task first" }),
  capabilities: z.array(z.string()).openapi({ description: "Operations it supports", example: ["embed", "rerank"] }),
  formats: z.array(z.string()),
  max_tokens: z
    .int()
    .nullable()
    .openapi({ description: "Maximum tokens of a text, of a language model with what it writes; null: the files state none" }),
  problem: z.string().optional().openapi({ description: "Error code, where the model cannot be read" }),
});
type Model = z.infer<typeof model>;

const names = z.array(z.string());
const list = z
  .object({
    models: z.array(model),
    embedders: names,
    rerankers: names,
    classifiers: names,
    recognizers: names,
    extractors: names,
    chunkers: names,
    generators: names,
    rewriters: names,
  })
  .openapi("Models");

const named = {
  params: z.object({ name: z.string().openapi({ description: "Name of a model; slashes may be percent-encoded" }) }),
};
const responses = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  200: jsonContent(description, schema),
  ...documentedErrors,
});

const listRoute = createRoute({
  method: "get",
  path: "/api/models",
  summary: "List models and what they support",
  responses: responses("Every model that requests may name", list),
} satisfies RouteConfig);

const loaded = z
  .object({ model: z.string(), target: z.string(), decision: z.string(), milliseconds: z.number() })
  .openapi("LoadedModel");
const loading = z.object({ model: z.string(), loading: loadProgressSchema.optional() }).openapi("LoadingModel");
const waitMeaning = "false: respond at once with 202; repeat the request until it responds with 200";
const unloaded = z.object({
  model: z.string(),
  unloaded: z.boolean().openapi({ description: "Whether the model was in memory" }),
});

const documentedRoutes: readonly RouteConfig[] = [
  {
    method: "get",
    path: "/api/models/{name}/decision",
    summary: "The decision that placed a loaded model",
    request: named,
    responses: responses("The decision", decisionBody),
  },
  {
    method: "post",
    path: "/api/models/{name}/load",
    summary: "Load a model (admins)",
    request: { ...named, query: z.object({ wait: z.enum(["true", "false"]).optional().openapi({ description: waitMeaning }) }) },
    responses: {
      ...responses("Where the model was loaded", loaded),
      202: jsonContent("The model is loading", loading),
    },
  },
  {
    method: "post",
    path: "/api/models/{name}/unload",
    summary: "Unload a model as soon as it is unused (admins)",
    request: named,
    responses: responses("Whether the model was in memory", unloaded.openapi("UnloadedModel")),
  },
];

/** Adds the routes under `/api/models`: list, describe, load and unload models. */
export function addModels(routes: Routes, service: Service): void {
  routes.openapi(listRoute, async (context) => {
    const models = await Promise.all((await service.modelNames()).map((name) => getModel(service, name)));
    const modelsWith = (...wanted: string[]): string[] =>
      models.filter(({ capabilities }) => wanted.some((capability) => capabilities.includes(capability))).map(({ name }) => name);
    return context.json(
      {
        models,
        embedders: modelsWith("embed", "embed_sparse"),
        rerankers: modelsWith("rerank"),
        classifiers: modelsWith("classify"),
        recognizers: modelsWith("recognize"),
        extractors: modelsWith("recognize", "answer"),
        chunkers: modelsWith("chunk"),
        generators: modelsWith("generate"),
        rewriters: modelsWith("rewrite"),
      },
      200,
    );
  });
  for (const route of documentedRoutes) routes.openAPIRegistry.registerPath(route);
  // Not through the OpenAPI router: names contain slashes, which clients may percent-encode.
  routes.get("/api/models/:name{.+}/decision", async (context) => {
    const caller = getCaller(context);
    const resolved = await service.resolve(caller, context.req.param("name"));
    const { name } = resolved;
    const decision = loadedDecision(await service.runtime.loaded(), resolved);
    if (decision !== undefined) return context.json(publicDecision(decision, name, caller.role));
    throw new InferyardError("MODEL_NOT_FOUND", `${name} is not in memory, so it has no decision`, {
      remedy: "GET /api/explain says where it would run",
    });
  });
  routes.post("/api/models/:name{.+}/load", async (context) => {
    requireAdmin(context);
    const name = context.req.param("name");
    if (!waits(context.req.query("wait"))) {
      const progress = await loadInBackground(service, getCaller(context), name);
      if (progress !== undefined) return context.json({ model: name, ...progress }, 202);
    }
    const { reference } = await service.resolve(getCaller(context), name);
    const runsLanguageModel = usualKind(await service.runtime.manifest(reference)) === "language";
    const call = { model: name, texts: 0, waitsForLoad: true, runsLanguageModel };
    const outcome = await service.call(getCaller(context), call, async () => {});
    const { model, target, decision, inferenceMs: milliseconds } = outcome;
    return context.json({ model, target, decision, milliseconds }, 200, resultHeaders(outcome));
  });
  routes.post("/api/models/:name{.+}/unload", async (context) => {
    requireAdmin(context);
    const caller = getCaller(context);
    const { name, reference } = await service.resolve(caller, context.req.param("name"));
    return context.json({ model: name, unloaded: await service.runtime.unload(reference, { signal: caller.signal }) });
  });
}

function waits(written: string | undefined): boolean {
  if (written === undefined || written === "true" || written === "false") return written !== "false";
  throw new InferyardError("INPUT_INVALID", `wait is ${JSON.stringify(written)}, and must be true or false`, {
    remedy: "write wait=false, or leave it out",
  });
}

/** Progress of the load; undefined if the model is in memory. */
async function loadInBackground(
  service: Service,
  caller: Caller,
  name: string,
): Promise<{ readonly loading?: LoadProgressBody } | undefined> {
  try {
    await service.loadInBackground(caller, name);
    return undefined;
  } catch (error) {
    const { code, loading } = publicError(error);
    if (code !== "MODEL_LOADING") throw error;
    return loading === undefined ? {} : { loading };
  }
}

/** Describes a model without fetching it; one that is not on this machine yet is listed with its problem. */
async function getModel(service: Service, name: string): Promise<Model> {
  try {
    const { reference } = await service.resolve({}, name);
    const manifest = await readManifest(reference);
    return {
      name,
      tasks: [...manifest.tasks],
      capabilities: getCapabilities(manifest),
      formats: [...new Set(manifest.variants.map(({ format }) => format))],
      max_tokens: getContextLength(manifest) ?? null,
    };
  } catch (error) {
    return { name, tasks: [], capabilities: [], formats: [], max_tokens: null, problem: publicError(error).code };
  }
}
