/** The Open Inference Protocol (KServe V2) over HTTP, with the extensions for binary tensors and for the model repository. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { readManifest } from "../../../models/index.ts";
import { version as serverVersion } from "../../../version.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import type { Readiness } from "../../serving/readiness.ts";
import { isLoaded } from "../../serving/model-state.ts";
import type { TensorMap } from "../../../contract/tensor.ts";
import type { Service } from "../../serving/service.ts";
import { jsonContent } from "../../http/error-responses.ts";
import { createRoutes, routerPath } from "../../http/routes.ts";
import { handleTextError } from "../text-errors.ts";
import { documentedErrors, errorBody } from "./errors.ts";
import { inferRequest, readInferRequest } from "./infer-request.ts";
import { writeInferResponse, estimateInferResponseBytes } from "./infer-response.ts";
import { notLoaded } from "./metadata.ts";
import { describeModel, getModel, modelVersion, getPaths } from "./model-routes.ts";
import { addPredict } from "./predict.ts";
import { addRepository } from "./repository.ts";
import { inferResponse, modelMetadataBody, serverMetadata } from "./schemas.ts";
import { addTriton } from "./triton.ts";
import { requestedTask, runTexts, textCount, textInput } from "./text-models.ts";

const serverReady = z.object({ ready: z.boolean() }).openapi("ServerReady");
const modelReady = z.object({ name: z.string(), ready: z.literal(true) }).openapi("ModelReady");

/** Creates the routes under /v2, and the route of the V1 protocol. */
export function kserveRoutes(service: Service, readiness: Readiness): Routes {
  const routes = createRoutes(handleTextError);
  addHealth(routes, readiness);
  addTriton(routes, service);
  addPredict(routes, service);
  addModels(routes, service);
  addInfer(routes, service);
  addRepository(routes, service);
  return routes;
}

function addHealth(routes: Routes, readiness: Readiness): void {
  const metadata = {
    name: "inferyard",
    version: serverVersion,
    extensions: ["binary_tensor_data", "model_configuration", "model_repository", "statistics"],
  };
  const config = {
    method: "get",
    path: "/v2",
    summary: "Name, version and extensions of the server",
    responses: { 200: jsonContent("The server's metadata", serverMetadata), 401: documentedErrors[401] },
  } satisfies RouteConfig;
  routes.openapi(createRoute(config), (context) => context.json(metadata, 200));
  routes.get("/v2/", (context) => context.json(metadata, 200));
  const live = {
    method: "get",
    path: "/v2/health/live",
    summary: "Liveness of the server",
    responses: { 200: jsonContent("The server is live", z.object({ live: z.literal(true) }).openapi("ServerLive")) },
  } satisfies RouteConfig;
  routes.openapi(createRoute(live), (context) => context.json({ live: true as const }, 200));
  const ready = {
    method: "get",
    path: "/v2/health/ready",
    summary: "Readiness of the server, as /health/ready",
    responses: { 200: jsonContent("Send requests", serverReady), 503: jsonContent("Send none", serverReady) },
  } satisfies RouteConfig;
  routes.openapi(createRoute(ready), async (context) => {
    const { ready: isReady } = await readiness.report();
    return isReady ? context.json({ ready: true }, 200) : context.json({ ready: false }, 503);
  });
}

function addModels(routes: Routes, service: Service): void {
  for (const { path, params } of getPaths("")) {
    const config = {
      method: "get",
      path,
      summary: "Inputs and outputs of a model; loads nothing",
      request: { params },
      responses: { 200: jsonContent("Its metadata", modelMetadataBody), ...documentedErrors },
    } satisfies RouteConfig;
    routes.openapi(createRoute(config), async (context) => {
      const model = getModel(context);
      const served = await describeModel(service, getCaller(context), model);
      return context.json(served.result, 200, resultHeaders(served));
    });
  }
  for (const { path, params } of getPaths("/ready")) {
    const config = {
      method: "get",
      path,
      summary: "Whether a model is loaded",
      request: { params },
      responses: {
        200: jsonContent("The model is loaded", modelReady),
        ...documentedErrors,
        503: jsonContent("The model is not loaded, or the server is shutting down", errorBody),
      },
    } satisfies RouteConfig;
    routes.openapi(createRoute(config), async (context) => {
      const model = getModel(context);
      const { name, reference } = await service.resolve(getCaller(context), model);
      service.refuseDraining();
      if (isLoaded(service.runtime, reference)) return context.json({ name: model, ready: true as const }, 200);
      // An administrator may name any reference; one without a model never becomes ready.
      if (!(await service.modelNames()).includes(name)) await readManifest(reference);
      throw notLoaded(model, { progress: service.loadProgress.getProgress(reference) });
    });
  }
}

function addInfer(routes: Routes, service: Service): void {
  for (const { path, params } of getPaths("/infer")) {
    // Only documented here: the framework cannot read a body with binary data after its JSON.
    routes.openAPIRegistry.registerPath({
      method: "post",
      path,
      summary: "Run a model on texts (a BYTES tensor `text`) or on its raw tensors",
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
          description: "Outputs; those requested as binary data follow the JSON",
          content: {
            "application/json": { schema: inferResponse },
            "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
          },
        },
        ...documentedErrors,
      },
    });
    routes.post(routerPath(path), async (context) => {
      const model = getModel(context);
      const headBytes = context.req.header("inference-header-content-length");
      const request = await readInferRequest(context, { headBytes, maxTexts: service.limits.maxTexts });
      const { inputs } = request;
      const names = request.outputs?.map(({ name }) => name);
      const key = ["infer", inputs, names ?? null] as const;
      const responseBytes = ({ tensors }: { readonly tensors: TensorMap }): number =>
        estimateInferResponseBytes(request, tensors);
      const call = { model, texts: textCount(inputs), key, responseBytes };
      const served = await service.call(getCaller(context), call, async (handle, signal) => {
        const task = Object.hasOwn(inputs, textInput) ? requestedTask(handle, names ?? []) : undefined;
        if (task !== undefined) return runTexts(service.runtime, handle, task, inputs, signal);
        const outputs = names === undefined ? {} : { outputs: names };
        return { tensors: (await service.runtime.run(handle, inputs, { ...outputs, signal })).outputs };
      });
      const response = await writeInferResponse(
        served.model,
        modelVersion,
        request,
        served.result.tensors,
        context.req.raw.signal,
      );
      return context.body(response.body as Uint8Array<ArrayBuffer>, 200, { ...resultHeaders(served), ...response.headers });
    });
  }
}
