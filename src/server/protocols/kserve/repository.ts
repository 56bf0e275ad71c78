/** The repository extension: lists, loads and unloads models. */
import { z } from "@hono/zod-openapi";
import { runProbe } from "../../../runtime/loading/verification.ts";
import { getCaller, resultHeaders } from "../../http/context.ts";
import { members, requestObject } from "../../http/field-schemas.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody } from "../../http/json-body.ts";
import { refuseOthers } from "../../http/middleware.ts";
import { requestLimits } from "../../http/request-limits.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { isLoaded } from "../model-facts.ts";
import { runTask } from "../run-task.ts";
import { invalid } from "./json-data.ts";
import { repositoryIndex } from "./schemas.ts";

const version = "1";

const indexBody = requestObject({ ready: z.boolean().optional().openapi({ description: "Only models that are loaded" }) });
const loadBody = requestObject({ parameters: members(requestLimits.parameters).optional() });
/** The body of a request, which may be left out. Clients of this protocol send JSON without a content type. */
const bodyOf = (schema: z.ZodType): Route["request"] => ({ body: { content: { "application/json": { schema } } } });

/** The routes of KServe's model repository extension: list, load and unload models. */
export function repositoryRoutes(service: Service): Route[] {
  const { names, runtime } = service;
  return [
    {
      method: "post",
      path: "/v2/repository/index",
      summary: "List the models of the server",
      request: bodyOf(indexBody),
      description: "Name, version and state of each model",
      response: repositoryIndex,
      answer: async (context) => {
        const { ready = false } = takeFields(context, await jsonBody(context), indexBody);
        const rows = (await names.list()).map(async (name) => {
          const { reference } = await names.resolve(getCaller(context), name);
          return isLoaded(runtime, reference)
            ? { name, version, state: "READY", reason: "" }
            : { name, version, state: "UNAVAILABLE", reason: "not loaded; its first request loads it" };
        });
        const all = await Promise.all(rows);
        return context.json(ready ? all.filter(({ state }) => state === "READY") : all, 200);
      },
    },
    {
      method: "post",
      path: "/v2/repository/models/{model}/load",
      summary: "Load a model (admins)",
      request: bodyOf(loadBody),
      description: "The model is loaded, and a probe has run on it",
      answer: async (context) => {
        refuseOthers(context);
        refuseParameters(takeFields(context, await jsonBody(context), loadBody).parameters, []);
        const call = { model: context.req.param("model"), waitsForLoad: true };
        const served = await runTask(service, context, call, async ({ model, signal }) => {
          await runProbe(model, model.manifest, signal);
        });
        return context.body(null, 200, resultHeaders(served));
      },
    },
    {
      method: "post",
      path: "/v2/repository/models/{model}/unload",
      summary: "Unload a model as soon as it is unused (admins)",
      request: bodyOf(loadBody),
      description: "The model is not in memory",
      answer: async (context) => {
        refuseOthers(context);
        refuseParameters(takeFields(context, await jsonBody(context), loadBody).parameters, ["unload_dependents"]); // accepted; no model has dependents
        const { reference } = await names.resolve(getCaller(context), context.req.param("model"));
        await runtime.unload(reference, { signal: context.req.raw.signal });
        return context.body(null, 200);
      },
    },
  ];
}

/** Throws INPUT_INVALID for a parameter that is not supported. */
function refuseParameters(parameters: Readonly<Record<string, unknown>> | undefined, known: readonly string[]): void {
  const unknown = Object.keys(parameters ?? {}).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`the parameter ${JSON.stringify(unknown)} is not supported`);
}
