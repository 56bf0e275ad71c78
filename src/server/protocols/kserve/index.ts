/** KServe V2, the Open Inference Protocol over HTTP, with the extensions for binary tensors and for the repository of models. */
import { OpenAPIHono, type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError } from "../../../errors.ts";
import { readManifest } from "../../../models/index.ts";
import { version as serverVersion } from "../../../version.ts";
import { type Env, type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import type { Readiness } from "../../serving/readiness.ts";
import type { TensorMap } from "../../../tensor.ts";
import type { Service } from "../../serving/service.ts";
import { refuseInvalid } from "../../http/validation.ts";
import { handleKserveError } from "./errors.ts";
import { inferRequest, readInferRequest } from "./infer-request.ts";
import { writeInferResponse, estimateInferResponseBytes } from "./infer-response.ts";
import { fileMetadata, loadedMetadata, notLoaded } from "./metadata.ts";
import { addRepository, isLoaded } from "./repository.ts";
import { documentedErrors, jsonContent } from "./responses.ts";
import { inferResponse, kserveErrorBody, modelMetadataBody, serverMetadata } from "./schemas.ts";
import { requestedTask, runTexts, textCount, textInput } from "./text-models.ts";

/** A model has one version here: what its name means now. */
export const modelVersion = "1";

const inModel = z.object({ model: z.string() });
const inVersion = inModel.extend({ version: z.string() });

/** With and without a version; `what` stands behind it. */
function pathsOf(what: string): readonly { readonly path: string; readonly params: z.ZodObject }[] {
  return [
    { path: `/v2/models/{model}${what}`, params: inModel },
    { path: `/v2/models/{model}/versions/{version}${what}`, params: inVersion },
  ];
}

export function kserveRoutes(service: Service, readiness: Readiness): Routes {
  const routes = new OpenAPIHono<Env>({ defaultHook: refuseInvalid });
  routes.onError(handleKserveError);
  addHealth(routes, readiness);
  addModels(routes, service);
  addInfer(routes, service);
  addRepository(routes, service);
  return routes;
}

function addHealth(routes: Routes, readiness: Readiness): void {
  const metadata = { name: "inferyard", version: serverVersion, extensions: ["binary_tensor_data", "model_repository"] };
  const config = {
    method: "get",
    path: "/v2",
    summary: "What this server is",
    responses: { 200: jsonContent("Its name, version and extensions", serverMetadata), 401: documentedErrors[401] },
  } satisfies RouteConfig;
  routes.openapi(createRoute(config), (context) => context.json(metadata, 200));
  routes.get("/v2/", (context) => context.json(metadata, 200));
  const live = {
    method: "get",
    path: "/v2/health/live",
    summary: "Whether the server answers at all",
    responses: { 200: { description: "It does" } },
  } satisfies RouteConfig;
  routes.openapi(createRoute(live), (context) => context.body(null, 200));
  const ready = {
    method: "get",
    path: "/v2/health/ready",
    summary: "As /health/ready",
    responses: { 200: { description: "Send requests" }, 503: { description: "Send none" } },
  } satisfies RouteConfig;
  routes.openapi(createRoute(ready), async (context) => context.body(null, (await readiness.report()).ready ? 200 : 503));
}

function addModels(routes: Routes, service: Service): void {
  for (const { path, params } of pathsOf("")) {
    const config = {
      method: "get",
      path,
      summary: "What a model takes and gives; loads nothing",
      request: { params },
      responses: { 200: jsonContent("Its tensors", modelMetadataBody), ...documentedErrors },
    } satisfies RouteConfig;
    routes.openapi(createRoute(config), async (context) => {
      const model = modelOf(context);
      const served = await service.describe(callerOf(context), model, {
        loaded: async (handle) => loadedMetadata(model, modelVersion, handle),
        files: async (manifest) => fileMetadata(model, modelVersion, manifest),
        missing: () => notLoaded(model, { reason: "its files are not on this machine yet" }),
      });
      return context.json(served.result, 200, servedHeaders(served));
    });
  }
  for (const { path, params } of pathsOf("/ready")) {
    const config = {
      method: "get",
      path,
      summary: "Whether a model is loaded, and a probe has run on it",
      request: { params },
      responses: {
        200: { description: "It is" },
        ...documentedErrors,
        503: jsonContent("It is not, or the server ends", kserveErrorBody),
      },
    } satisfies RouteConfig;
    routes.openapi(createRoute(config), async (context) => {
      const model = modelOf(context);
      const { name, reference } = await service.resolve(callerOf(context), model);
      service.refuseDraining();
      if (isLoaded(service, reference)) return context.body(null, 200);
      // An administrator may name anything: what is not there will never be ready.
      if (!(await service.modelNames()).includes(name)) await readManifest(reference);
      throw notLoaded(model, { progress: service.loadProgress.progressOf(reference) });
    });
  }
}

function addInfer(routes: Routes, service: Service): void {
  for (const { path, params } of pathsOf("/infer")) {
    // Registered for the document alone: the body may have bytes behind its JSON, and is read here.
    routes.openAPIRegistry.registerPath({
      method: "post",
      path,
      summary: "Runs a model on texts (a BYTES tensor text) or on its raw tensors",
      request: {
        params,
        headers: z.object({ "inference-header-content-length": z.string().optional() }),
        body: {
          required: true,
          content: {
            "application/json": { schema: inferRequest },
            "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
          },
        },
      },
      responses: {
        200: {
          description: "Outputs; with bytes behind the JSON where they are wanted",
          content: {
            "application/json": { schema: inferResponse },
            "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
          },
        },
        ...documentedErrors,
      },
    });
    routes.post(path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context) => {
      const model = modelOf(context);
      const headBytes = context.req.header("inference-header-content-length");
      const request = await readInferRequest(context.get("body"), { headBytes, maxTexts: service.limits.texts });
      const { inputs } = request;
      const names = request.outputs?.map(({ name }) => name);
      const question = ["infer", inputs, names ?? null] as const;
      const answerBytes = ({ tensors }: { readonly tensors: TensorMap }): number => estimateInferResponseBytes(request, tensors);
      const call = { model, texts: textCount(inputs), question, answerBytes };
      const served = await service.call(callerOf(context), call, async (handle, signal) => {
        const task = Object.hasOwn(inputs, textInput) ? requestedTask(handle, names ?? []) : undefined;
        if (task !== undefined) return runTexts(service.runtime, handle, task, inputs, signal);
        const outputs = names === undefined ? {} : { outputs: names };
        return { tensors: (await service.runtime.run(handle, inputs, { ...outputs, signal })).outputs };
      });
      const answer = await writeInferResponse(served.model, modelVersion, request, served.result.tensors);
      return context.body(answer.body as Uint8Array<ArrayBuffer>, 200, { ...servedHeaders(served), ...answer.headers });
    });
  }
}

/** The model of the path. MODEL_NOT_FOUND for a version it does not have. */
function modelOf(context: Context<Env>): string {
  const { model = "", version = modelVersion } = context.req.param() as { readonly model?: string; readonly version?: string };
  if (version === modelVersion) return model;
  throw new InferyardError("MODEL_NOT_FOUND", `the model ${JSON.stringify(model)} has no version ${JSON.stringify(version)}`, {
    remedy: `ask for version ${modelVersion}, or for none`,
  });
}
