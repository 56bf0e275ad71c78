/** Extensions of Triton: the configuration of a model, and statistics of its calls. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { jsonContent } from "../../http/error-responses.ts";
import type { Duration, ModelStatistics } from "../../serving/call-statistics.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { describeModel, getModel, modelVersion, getPaths } from "./model-routes.ts";
import type { TensorMetadata } from "./schemas.ts";

const tensorConfig = z.object({
  name: z.string(),
  data_type: z.string().openapi({ example: "TYPE_FP32" }),
  dims: z.array(z.int()),
});
const modelConfig = z
  .object({
    name: z.string(),
    platform: z.string(),
    backend: z.string().openapi({ description: "The target it runs on, if it is in memory" }).optional(),
    max_batch_size: z.literal(0).openapi({ description: "`dims` hold every dimension, the batch's too" }),
    input: z.array(tensorConfig),
    output: z.array(tensorConfig),
  })
  .openapi("ModelConfig");

const duration = z.object({ count: z.int(), ns: z.int() });
const modelStatistics = z.object({
  name: z.string(),
  version: z.string(),
  last_inference: z.int().openapi({ description: "End of the last run, in milliseconds since 1970; 0: none yet" }),
  inference_count: z.int().openapi({ description: "Calls with a result" }),
  execution_count: z.int().openapi({ description: "Those that computed it" }),
  inference_stats: z.object({
    success: duration,
    fail: duration,
    queue: duration.openapi({ description: "Waiting time of the calls that computed their result" }),
    compute_infer: duration.openapi({
      description: "Their running time: tokenizing, inference, and loading where that was needed",
    }),
  }),
});
const statistics = z.object({ model_stats: z.array(modelStatistics) }).openapi("ModelStatistics");

/** Adds `GET /v2/models/{model}/config`, `/v2/models/{model}/stats` and `/v2/models/stats`, with and without a version. */
export function addTriton(routes: Routes, service: Service): void {
  const all = {
    method: "get",
    path: "/v2/models/stats",
    summary: "Counts and times of the calls of every model, of all protocols",
    responses: { 200: jsonContent("One entry for each model", statistics), 401: documentedErrors[401] },
  } satisfies RouteConfig;
  routes.openapi(createRoute(all), async (context) => {
    const names = await service.modelNames();
    return context.json({ model_stats: names.map((name) => statisticsBody(name, service.statistics.of(name))) }, 200);
  });
  for (const { path, params } of getPaths("/stats")) {
    const config = {
      method: "get",
      path,
      summary: "Counts and times of the calls of a model, of all protocols",
      request: { params },
      responses: { 200: jsonContent("One entry", statistics), ...documentedErrors },
    } satisfies RouteConfig;
    routes.openapi(createRoute(config), async (context) => {
      const { name } = await service.resolve(getCaller(context), getModel(context));
      return context.json({ model_stats: [statisticsBody(name, service.statistics.of(name))] }, 200);
    });
  }
  for (const { path, params } of getPaths("/config")) {
    const config = {
      method: "get",
      path,
      summary: "The configuration of a model, as Triton; loads nothing",
      request: { params },
      responses: { 200: jsonContent("Its inputs and outputs", modelConfig), ...documentedErrors },
    } satisfies RouteConfig;
    routes.openapi(createRoute(config), async (context) => {
      const served = await describeModel(service, getCaller(context), getModel(context));
      const { name, platform, inputs, outputs, properties } = served.result;
      const { target } = properties;
      const body = {
        name,
        platform,
        ...omitUndefined({ backend: target }),
        max_batch_size: 0 as const,
        input: inputs.map(getTensorConfig),
        output: outputs.map(getTensorConfig),
      };
      return context.json(body, 200, resultHeaders(served));
    });
  }
}

/** Triton's names of types are "TYPE_" and the protocol's name, except for texts. */
function getTensorConfig({ name, datatype, shape }: TensorMetadata): z.infer<typeof tensorConfig> {
  return { name, data_type: datatype === "BYTES" ? "TYPE_STRING" : `TYPE_${datatype}`, dims: shape };
}

function statisticsBody(
  name: string,
  { success, fail, queue, compute, lastRunAt }: ModelStatistics,
): z.infer<typeof modelStatistics> {
  return {
    name,
    version: modelVersion,
    last_inference: lastRunAt,
    inference_count: success.count,
    execution_count: compute.count,
    inference_stats: {
      success: nanoseconds(success),
      fail: nanoseconds(fail),
      queue: nanoseconds(queue),
      compute_infer: nanoseconds(compute),
    },
  };
}

function nanoseconds({ count, ms }: Duration): z.infer<typeof duration> {
  return { count, ns: Math.round(ms * 1e6) };
}
