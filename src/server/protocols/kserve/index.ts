/** The Open Inference Protocol (KServe V2) over HTTP, with the extensions for binary tensors and for the model repository. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { TensorMap } from "../../../contract/tensor.ts";
import { readManifest } from "../../../models/index.ts";
import { version as serverVersion } from "../../../version.ts";
import { getCaller, resultHeaders } from "../../http/context.ts";
import { jsonContent } from "../../http/error-responses.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Readiness } from "../../serving/readiness.ts";
import type { Service } from "../../serving/service.ts";
import { isLoaded } from "../model-facts.ts";
import type { Protocol } from "../protocol.ts";
import { runTask } from "../run-task.ts";
import { kserveErrors } from "./errors.ts";
import { inferRequest, readInferRequest } from "./infer-request.ts";
import { estimateInferResponseBytes, writeInferResponse } from "./infer-response.ts";
import { notLoaded } from "./metadata.ts";
import { describeModel, getModel, getPaths, modelVersion } from "./model-routes.ts";
import { predictRoute } from "./predict.ts";
import { repositoryRoutes } from "./repository.ts";
import { inferResponse, modelMetadataBody, serverMetadata } from "./schemas.ts";
import { requestedTask, runTexts, textCount, textInput } from "./text-models.ts";
import { tritonRoutes } from "./triton.ts";

const serverReady = z.object({ ready: z.boolean() }).openapi("ServerReady");
const modelReady = z.object({ name: z.string(), ready: z.literal(true) }).openapi("ModelReady");

/** The routes under /v2, and the route of the V1 protocol. */
export const kserve: Protocol = {
  errors: kserveErrors,
  prefixes: ["/v2"],
  routes: (service, readiness) => [
    ...healthRoutes(readiness),
    ...tritonRoutes(service),
    predictRoute(service),
    ...modelRoutes(service),
    ...inferRoutes(service),
    ...repositoryRoutes(service),
  ],
};

function healthRoutes(readiness: Readiness): Route[] {
  const metadata = {
    name: "inferyard",
    version: serverVersion,
    extensions: ["binary_tensor_data", "model_configuration", "model_repository", "statistics"],
  };
  return [
    {
      method: "get",
      path: "/v2",
      patterns: ["/v2", "/v2/"],
      summary: "Name, version and extensions of the server",
      description: "The server's metadata",
      response: serverMetadata,
      errors: [401],
      answer: (context) => context.json(metadata, 200),
    },
    {
      method: "get",
      path: "/v2/health/live",
      summary: "Liveness of the server",
      description: "The server is live",
      response: z.object({ live: z.literal(true) }).openapi("ServerLive"),
      errors: [],
      answer: (context) => context.json({ live: true }, 200),
    },
    {
      method: "get",
      path: "/v2/health/ready",
      summary: "Readiness of the server, as /health/ready",
      description: "Send requests",
      response: serverReady,
      errors: [],
      responses: { 503: jsonContent("Send none", serverReady) },
      answer: async (context) => {
        const { ready } = await readiness.report();
        return context.json({ ready }, ready ? 200 : 503);
      },
    },
  ];
}

function modelRoutes(service: Service): Route[] {
  const metadataRoutes = getPaths("").map((path): Route => ({
    method: "get",
    path,
    summary: "Inputs and outputs of a model; loads nothing",
    description: "Its metadata",
    response: modelMetadataBody,
    answer: async (context) => {
      const served = await describeModel(service, getCaller(context), getModel(context));
      return jsonResponse(context, served.result, served);
    },
  }));
  const readyRoutes = getPaths("/ready").map((path): Route => ({
    method: "get",
    path,
    summary: "Whether a model is loaded",
    description: "The model is loaded",
    response: modelReady,
    responses: { 503: jsonContent("The model is not loaded, or the server is shutting down", kserveErrors.schema) },
    answer: async (context) => {
      const model = getModel(context);
      const { name, reference } = await service.names.resolve(getCaller(context), model);
      service.calls.refuseDraining();
      if (isLoaded(service.runtime, reference)) return context.json({ name: model, ready: true }, 200);
      // An administrator may name any reference; one without a model never becomes ready.
      if (!(await service.names.list()).includes(name)) await readManifest(reference);
      throw notLoaded(model, { progress: service.loadProgress.getProgress(reference) });
    },
  }));
  return [...metadataRoutes, ...readyRoutes];
}

function inferRoutes(service: Service): Route[] {
  const binary = z.string().openapi({ format: "binary" });
  return getPaths("/infer").map((path) => ({
    method: "post",
    path,
    summary: "Run a model on texts (a BYTES tensor `text`) or on its raw tensors",
    request: {
      headers: z.object({ "inference-header-content-length": z.string().optional() }),
      body: {
        required: true,
        content: { "application/json": { schema: inferRequest }, "application/octet-stream": { schema: binary } },
      },
    },
    description: "Outputs; those requested as binary data follow the JSON",
    response: inferResponse,
    media: { "application/octet-stream": binary },
    answer: async (context) => {
      const model = getModel(context);
      const headBytes = context.req.header("inference-header-content-length");
      const request = await readInferRequest(context, { headBytes, maxTexts: service.limits.maxTexts });
      const { inputs } = request;
      const names = request.outputs?.map(({ name }) => name);
      const key = ["infer", inputs, names ?? null] as const;
      const responseBytes = ({ tensors }: { readonly tensors: TensorMap }): number =>
        estimateInferResponseBytes(request, tensors);
      const call = { model, texts: textCount(inputs), key, responseBytes };
      const served = await runTask(service, context, call, async ({ model: handle, signal }) => {
        const task = Object.hasOwn(inputs, textInput) ? requestedTask(handle, names ?? []) : undefined;
        if (task !== undefined) return runTexts(service.runtime, handle, task, inputs, signal);
        const options = { ...omitUndefined({ outputs: names }), signal };
        return { tensors: (await service.runtime.run(handle, inputs, options)).outputs };
      });
      const { signal } = context.req.raw;
      const response = await writeInferResponse(served.model, modelVersion, request, served.result.tensors, signal);
      return context.body(response.body as Uint8Array<ArrayBuffer>, 200, { ...resultHeaders(served), ...response.headers });
    },
  }));
}
