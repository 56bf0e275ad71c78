/** /v1/batches: many requests in one file, whose answers become a file. */
import { z } from "@hono/zod-openapi";
import type { BatchRecord, BatchStatus } from "../../../batches/batch-record.ts";
import { maxRequests } from "../../../batches/validate-input.ts";
import { type Route, get, post } from "../../../http/routes/route.ts";
import type { Service } from "../../../serving/service.ts";
import { batchesOf, identityOf, pageOf } from "./owner.ts";

/** Routes whose requests a batch may hold. */
const endpoints = ["/v1/embeddings", "/v1/chat/completions", "/v1/completions", "/v1/responses"] as const;

const time = z.int().nullable().openapi({ description: "In seconds since 1970" });
const batchSchema = z
  .object({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.string(),
    errors: z
      .object({
        object: z.literal("list"),
        data: z.array(
          z.object({ code: z.string(), message: z.string(), line: z.int().nullable(), param: z.string().nullable() }),
        ),
      })
      .nullable()
      .openapi({ description: "What is wrong with the input of a batch that failed" }),
    input_file_id: z.string(),
    completion_window: z.literal("24h"),
    status: z.enum(["validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"]),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    created_at: z.int(),
    in_progress_at: time,
    expires_at: z.int(),
    finalizing_at: time,
    completed_at: time,
    failed_at: time,
    expired_at: time,
    cancelling_at: time,
    cancelled_at: time,
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    metadata: z.record(z.string(), z.string()).nullable(),
  })
  .openapi("OpenAIBatch");

const createSchema = z
  .object({
    input_file_id: z
      .string()
      .max(64)
      .openapi({
        description: `A file with the purpose \`batch\`: a line {"custom_id", "method": "POST", "url", "body"} for each of at most ${maxRequests} requests`,
      }),
    endpoint: z.enum(endpoints),
    completion_window: z.literal("24h"),
    metadata: z
      .record(z.string().max(64), z.string().max(512))
      .refine((values) => Object.keys(values).length <= 16, "at most 16 entries")
      .nullish(),
  })
  .openapi("OpenAIBatchRequest");

const listQuery = z.object({
  after: z.string().optional().openapi({ description: "Id of the last batch of the page before" }),
  limit: z.coerce.number().int().min(1).max(100).optional().openapi({ description: "Default: 20" }),
});

const path = "/v1/batches";
const batchParameter = { batch: "Id of a batch" };

/** The routes of batches. */
export function batchRoutes(service: Service): Route[] {
  return [
    post({
      path,
      summary: "Run the requests of a file, as OpenAI",
      schema: createSchema,
      description: "The batch",
      response: batchSchema,
      answer: async ({ input_file_id: inputFile, endpoint, metadata }, context) => {
        const asked = { inputFile, endpoint, metadata: metadata ?? null };
        return context.json(toJson(await batchesOf(service).create(asked, identityOf(context))), 200);
      },
    }),
    get({
      path,
      summary: "List the batches of the client, as OpenAI",
      query: listQuery,
      description: "The batches, the newest first",
      response: z
        .object({
          object: z.literal("list"),
          data: z.array(batchSchema),
          first_id: z.string().nullable(),
          last_id: z.string().nullable(),
          has_more: z.boolean(),
        })
        .openapi("OpenAIBatches"),
      answer: async ({ after, limit = 20 }, context) => {
        const { items, hasMore } = pageOf(await batchesOf(service).list(identityOf(context)), { after, limit });
        const ids = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null };
        return context.json({ object: "list", data: items.map(toJson), ...ids, has_more: hasMore }, 200);
      },
    }),
    {
      method: "get",
      path: `${path}/{batch}`,
      parameters: batchParameter,
      summary: "One batch, as OpenAI",
      description: "The batch",
      response: batchSchema,
      answer: async (context) =>
        context.json(toJson(await batchesOf(service).get(context.req.param("batch") ?? "", identityOf(context))), 200),
    },
    {
      method: "post",
      path: `${path}/{batch}/cancel`,
      parameters: batchParameter,
      summary: "Cancel a batch, as OpenAI",
      description: "The batch; its results so far become its output",
      response: batchSchema,
      answer: async (context) =>
        context.json(toJson(await batchesOf(service).cancel(context.req.param("batch") ?? "", identityOf(context))), 200),
    },
  ];
}

function toJson(batch: BatchRecord): z.infer<typeof batchSchema> {
  const { id, endpoint, errors, inputFile, status, hasOutput, hasErrors, outputId, errorId, created, expires, counts, metadata } =
    batch;
  const at = (reached: BatchStatus): number | null => batch.times[reached] ?? null;
  return {
    id,
    object: "batch",
    endpoint,
    errors: errors.length === 0 ? null : { object: "list", data: [...errors] },
    input_file_id: inputFile,
    completion_window: "24h",
    status,
    output_file_id: hasOutput ? outputId : null,
    error_file_id: hasErrors ? errorId : null,
    created_at: created,
    in_progress_at: at("in_progress"),
    expires_at: expires,
    finalizing_at: at("finalizing"),
    completed_at: at("completed"),
    failed_at: at("failed"),
    expired_at: at("expired"),
    cancelling_at: at("cancelling"),
    cancelled_at: at("cancelled"),
    request_counts: counts,
    metadata,
  };
}
