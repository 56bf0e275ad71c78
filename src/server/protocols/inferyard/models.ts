/** /api/models: lists models and what they support, shows the decision of a loaded model, loads and unloads models. */
import { z } from "@hono/zod-openapi";
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { usualKind } from "../../../models/language-tasks.ts";
import { getCaller } from "../../http/context.ts";
import { jsonContent } from "../../http/error-responses.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { loadProgressSchema } from "../../http/load-progress-body.ts";
import { publicError } from "../../http/public-error.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Caller } from "../../serving/calls.ts";
import { type ServedModelName, loadedDecision } from "../../serving/model-names.ts";
import type { Service } from "../../serving/service.ts";
import { getModelCapabilities } from "../model-capabilities.ts";
import { type ModelFacts, listModelFacts } from "../model-facts.ts";
import { requireAdmin } from "./admin.ts";
import { decisionBody, publicDecision } from "./decision.ts";

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

const loaded = z
  .object({ model: z.string(), target: z.string(), decision: z.string(), milliseconds: z.number() })
  .openapi("LoadedModel");
const loading = z.object({ model: z.string(), loading: loadProgressSchema.optional() }).openapi("LoadingModel");
const waitMeaning = "false: respond at once with 202; repeat the request until it responds with 200";
const unloaded = z
  .object({ model: z.string(), unloaded: z.boolean().openapi({ description: "Whether the model was in memory" }) })
  .openapi("UnloadedModel");

const parameters = { name: "Name of a model; slashes may be percent-encoded" };

/** The routes under `/api/models`: list, describe, load and unload models. */
export function inferyardModelRoutes(service: Service): Route[] {
  return [
    {
      method: "get",
      path: "/api/models",
      summary: "List models and what they support",
      description: "Every model that requests may name",
      response: list,
      answer: async (context) => {
        const models = (await listModelFacts(service)).map(getModel);
        const modelsWith = (...wanted: string[]): string[] =>
          models.flatMap(({ name, capabilities }) => (wanted.some((one) => capabilities.includes(one)) ? [name] : []));
        const body = {
          models,
          embedders: modelsWith("embed", "embed_sparse"),
          rerankers: modelsWith("rerank"),
          classifiers: modelsWith("classify"),
          recognizers: modelsWith("recognize"),
          extractors: modelsWith("recognize", "answer"),
          chunkers: modelsWith("chunk"),
          generators: modelsWith("generate"),
          rewriters: modelsWith("rewrite"),
        };
        return context.json(body, 200);
      },
    },
    {
      method: "get",
      path: "/api/models/{name}/decision",
      patterns: ["/api/models/:name{.+}/decision"],
      summary: "The decision that placed a loaded model",
      parameters,
      description: "The decision",
      response: decisionBody,
      answer: async (context) => {
        const caller = getCaller(context);
        const resolved = await service.names.resolve(caller, context.req.param("name"));
        const { name } = resolved;
        const decision = loadedDecision(await service.runtime.loaded(), resolved);
        if (decision !== undefined) return context.json(publicDecision(decision, name, caller.role));
        throw new InferyardError("MODEL_NOT_FOUND", `${name} is not in memory, so it has no decision`, {
          remedy: "GET /api/explain says where it would run",
        });
      },
    },
    {
      method: "post",
      path: "/api/models/{name}/load",
      patterns: ["/api/models/:name{.+}/load"],
      summary: "Load a model (admins)",
      parameters,
      request: { query: z.object({ wait: z.enum(["true", "false"]).optional().openapi({ description: waitMeaning }) }) },
      description: "Where the model was loaded",
      response: loaded,
      responses: { 202: jsonContent("The model is loading", loading) },
      answer: async (context) => {
        requireAdmin(context);
        const { calls, names, runtime } = service;
        const caller = getCaller(context);
        const name = context.req.param("name") ?? "";
        const isWaiting = waits(context.req.query("wait"));
        if (!isWaiting) calls.refuseDraining();
        const resolved = await names.resolve(caller, name);
        const progress = isWaiting ? undefined : await loadInBackground(service, caller, resolved);
        if (progress !== undefined) return context.json({ model: name, ...progress }, 202);
        const runsLanguageModel = usualKind(await runtime.manifest(resolved.reference)) === "language";
        const outcome = await calls.run(
          caller,
          { model: resolved, texts: 0, waitsForLoad: true, runsLanguageModel },
          async () => {},
        );
        const { model, target, decision, inferenceMs: milliseconds } = outcome;
        return jsonResponse(context, { model, target, decision, milliseconds }, outcome);
      },
    },
    {
      method: "post",
      path: "/api/models/{name}/unload",
      patterns: ["/api/models/:name{.+}/unload"],
      summary: "Unload a model as soon as it is unused (admins)",
      parameters,
      description: "Whether the model was in memory",
      response: unloaded,
      answer: async (context) => {
        requireAdmin(context);
        const caller = getCaller(context);
        const { name, reference } = await service.names.resolve(caller, context.req.param("name"));
        return context.json({ model: name, unloaded: await service.runtime.unload(reference, { signal: caller.signal }) });
      },
    },
  ];
}

function waits(written: string | undefined): boolean {
  if (written === undefined || written === "true" || written === "false") return written !== "false";
  throw invalidInput(`wait is ${JSON.stringify(written)}, and must be true or false`, "write wait=false, or leave it out");
}

/** Progress of the load; undefined if the model is in memory. */
async function loadInBackground(
  service: Service,
  caller: Caller,
  model: ServedModelName,
): Promise<{ readonly loading?: object } | undefined> {
  try {
    await service.calls.loadInBackground(caller, model);
    return undefined;
  } catch (error) {
    const { code, loading } = publicError(error);
    if (code !== "MODEL_LOADING") throw error;
    return loading === undefined ? {} : { loading };
  }
}

/** One model of the list; one that is not on this machine yet is listed with its problem. */
function getModel({ name, manifest, problem }: ModelFacts): z.infer<typeof model> {
  if (manifest === undefined)
    return { name, tasks: [], capabilities: [], formats: [], max_tokens: null, problem: publicError(problem).code };
  return {
    name,
    tasks: [...manifest.tasks],
    capabilities: getModelCapabilities(manifest),
    formats: [...new Set(manifest.variants.map(({ format }) => format))],
    max_tokens: getContextLength(manifest) ?? null,
  };
}
