/** /api/models: what there is and what it can do; why a loaded one runs where it does; loading and unloading. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../errors.ts";
import { readManifest } from "../../../models/index.ts";
import { type Routes, callerOf, publicError, servedHeaders } from "../../http/context.ts";
import { capabilitiesOf } from "../model-capabilities.ts";
import type { Caller, Service } from "../../serving/service.ts";
import { type LoadProgressBody, loadProgressSchema } from "../load-progress-body.ts";
import { requireAdmin } from "./admin.ts";
import { decisionBody, publicDecision } from "./decision.ts";
import { documentedErrors } from "./errors.ts";

const model = z.object({
  name: z.string(),
  tasks: z.array(z.string()).openapi({ description: "Hugging Face's names, best first" }),
  capabilities: z.array(z.string()).openapi({ description: "What it can be asked for", example: ["embed", "rerank"] }),
  formats: z.array(z.string()),
  max_tokens: z.int().nullable().openapi({ description: "Longest text in tokens; null where there is no limit" }),
  problem: z.string().optional().openapi({ description: "Code of the error, where the model cannot be read" }),
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
  })
  .openapi("Models");

const named = {
  params: z.object({ name: z.string().openapi({ description: "Name of a model, slashes as they are or escaped" }) }),
};
const json = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  200: { description, content: { "application/json": { schema } } },
  ...documentedErrors,
});

const listRoute = createRoute({
  method: "get",
  path: "/api/models",
  summary: "Models by what they can do",
  responses: json("Every model that may be named", list),
} satisfies RouteConfig);

const loaded = z
  .object({ model: z.string(), target: z.string(), decision: z.string(), milliseconds: z.number() })
  .openapi("LoadedModel");
const loading = z.object({ model: z.string(), loading: loadProgressSchema.optional() }).openapi("LoadingModel");
const waitMeaning = "false: answer at once; ask again until it is 200";
const unloaded = z.object({ model: z.string(), unloaded: z.boolean().openapi({ description: "Whether it was in memory" }) });

const documentedRoutes: readonly RouteConfig[] = [
  {
    method: "get",
    path: "/api/models/{name}/decision",
    summary: "Why a loaded model runs where it runs",
    request: named,
    responses: json("The decision", decisionBody),
  },
  {
    method: "post",
    path: "/api/models/{name}/load",
    summary: "Loads a model, for admins",
    request: { ...named, query: z.object({ wait: z.enum(["true", "false"]).optional().openapi({ description: waitMeaning }) }) },
    responses: {
      ...json("Where it was loaded", loaded),
      202: { description: "It is being loaded", content: { "application/json": { schema: loading } } },
    },
  },
  {
    method: "post",
    path: "/api/models/{name}/unload",
    summary: "Unloads a model as soon as nobody uses it, for admins",
    request: named,
    responses: json("Whether it was there", unloaded.openapi("UnloadedModel")),
  },
];

export function addModels(routes: Routes, service: Service): void {
  routes.openapi(listRoute, async (context) => {
    const models = await Promise.all((await service.modelNames()).map((name) => modelOf(service, name)));
    const able = (...wanted: string[]): string[] =>
      models.filter(({ capabilities }) => wanted.some((one) => capabilities.includes(one))).map(({ name }) => name);
    return context.json(
      {
        models,
        embedders: able("embed", "embed_sparse"),
        rerankers: able("rerank"),
        classifiers: able("classify"),
        recognizers: able("recognize"),
        extractors: able("recognize", "answer"),
        chunkers: able("chunk"),
      },
      200,
    );
  });
  for (const route of documentedRoutes) routes.openAPIRegistry.registerPath(route);
  // By hand: names have slashes in them, which clients write as they are or escaped.
  routes.get("/api/models/:name{.+}/decision", async (context) => {
    const caller = callerOf(context);
    const { name, reference } = await service.resolve(caller, context.req.param("name"));
    const decision = (await service.runtime.loaded()).find(({ model }) => model.reference === reference);
    if (decision !== undefined) return context.json(publicDecision(decision, name, caller.role));
    throw new InferyardError("MODEL_NOT_FOUND", `${name} is not in memory, so nothing was decided`, {
      remedy: "GET /api/explain says where it would run",
    });
  });
  routes.post("/api/models/:name{.+}/load", async (context) => {
    requireAdmin(context);
    const name = context.req.param("name");
    if (!waits(context.req.query("wait"))) {
      const progress = await loadInBackground(service, callerOf(context), name);
      if (progress !== undefined) return context.json({ model: name, ...progress }, 202);
    }
    const call = { model: name, texts: 0, loads: true };
    const served = await service.call(callerOf(context), call, async () => {});
    const { model, target, decision, inferenceMs: milliseconds } = served;
    return context.json({ model, target, decision, milliseconds }, 200, servedHeaders(served));
  });
  routes.post("/api/models/:name{.+}/unload", async (context) => {
    requireAdmin(context);
    const caller = callerOf(context);
    const { name, reference } = await service.resolve(caller, context.req.param("name"));
    return context.json({ model: name, unloaded: await service.runtime.unload(reference, { signal: caller.signal }) });
  });
}

function waits(written: string | undefined): boolean {
  if (written === undefined || written === "true" || written === "false") return written !== "false";
  throw new InferyardError("INPUT_INVALID", `wait is ${JSON.stringify(written)}`, {
    remedy: "write wait=false, or leave it out",
  });
}

/** How far the load is; undefined when the model is there. */
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

/** Nothing is fetched: a model that is not on this machine yet is listed with its problem. */
async function modelOf(service: Service, name: string): Promise<Model> {
  try {
    const { reference } = await service.resolve({}, name);
    const manifest = await readManifest(reference);
    return {
      name,
      tasks: [...manifest.tasks],
      capabilities: capabilitiesOf(manifest),
      formats: [...new Set(manifest.variants.map(({ format }) => format))],
      max_tokens: manifest.text?.maxTokens ?? null,
    };
  } catch (error) {
    return { name, tasks: [], capabilities: [], formats: [], max_tokens: null, problem: publicError(error).code };
  }
}
