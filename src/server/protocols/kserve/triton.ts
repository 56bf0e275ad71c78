/** Extensions of Triton: the configuration of a model, and statistics of its calls. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { getCaller } from "../../http/context.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Duration, ModelStatistics } from "../../serving/call-statistics.ts";
import type { Service } from "../../serving/service.ts";
import { describeModel, getModel, getPaths, modelVersion } from "./model-routes.ts";
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

/** `GET /v2/models/{model}/config`, `/v2/models/{model}/stats` and `/v2/models/stats`, with and without a version. */
export function tritonRoutes(service: Service): Route[] {
  const { names, statistics: counts } = service;
  const statisticsOf = (all: readonly string[]) => ({ model_stats: all.map((name) => statisticsBody(name, counts.of(name))) });
  return [
    {
      method: "get",
      path: "/v2/models/stats",
      summary: "Counts and times of the calls of every model, of all protocols",
      description: "One entry for each model",
      response: statistics,
      errors: [401],
      answer: async (context) => context.json(statisticsOf(await names.list()), 200),
    },
    ...getPaths("/stats").map((path): Route => ({
      method: "get",
      path,
      summary: "Counts and times of the calls of a model, of all protocols",
      description: "One entry",
      response: statistics,
      answer: async (context) => {
        const { name } = await names.resolve(getCaller(context), getModel(context));
        return context.json(statisticsOf([name]), 200);
      },
    })),
    ...getPaths("/config").map((path): Route => ({
      method: "get",
      path,
      summary: "The configuration of a model, as Triton; loads nothing",
      description: "Its inputs and outputs",
      response: modelConfig,
      answer: async (context) => {
        const served = await describeModel(service, getCaller(context), getModel(context));
        const { name, platform, inputs, outputs, properties } = served.result;
        const body = {
          name,
          platform,
          ...omitUndefined({ backend: properties["target"] }),
          max_batch_size: 0,
          input: inputs.map(getTensorConfig),
          output: outputs.map(getTensorConfig),
        };
        return jsonResponse(context, body, served);
      },
    })),
  ];
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
