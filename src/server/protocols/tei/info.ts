/** GET /info: the model and its limits. Loads nothing. */
import { z } from "@hono/zod-openapi";
import { InferyardError } from "../../../contract/errors.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { defaultBatchTokens } from "../../../tasks/batching/plan-batches.ts";
import { serverDefaults } from "../../../settings/server-options.ts";
import { version } from "../../../version.ts";
import { getCaller } from "../../http/context.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import { getGenerationTask } from "../huggingface/answer-texts.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { textLabels } from "../model-capabilities.ts";
import type { Service } from "../../serving/service.ts";
import { headerModel } from "../run-task.ts";

interface Labelled {
  readonly id2label: Record<string, string>;
  readonly label2id: Record<string, number>;
}

const labelled = z.object({ id2label: z.record(z.string(), z.string()), label2id: z.record(z.string(), z.int()) });
const modelType: z.ZodType<ModelType> = z.union([
  z.object({ embedding: z.object({ pooling: z.string() }) }),
  z.object({ classifier: labelled }),
  z.object({ reranker: labelled }),
]);
/** Embedding model, classifier or reranker. */
export type ModelType =
  | { readonly embedding: { readonly pooling: string } }
  | { readonly classifier: Labelled }
  | { readonly reranker: Labelled };

const info = z
  .object({
    model_id: z.string(),
    served_model_name: z.string(),
    model_dtype: z
      .string()
      .openapi({ description: "Data type of the loaded weights, else of the model's first variant", example: "float32" }),
    model_type: modelType,
    max_concurrent_requests: z.int(),
    max_input_length: z.int().openapi({ description: "Maximum tokens of a text; 2147483647: no limit" }),
    max_batch_tokens: z.int(),
    max_client_batch_size: z.int(),
    auto_truncate: z
      .boolean()
      .openapi({ description: "Whether texts that are too long are cut where the request has no `truncate`" }),
    tokenization_workers: z.int(),
    version: z.string().openapi({ description: "Version of Inferyard" }),
  })
  .openapi("TeiInfo");

const generationInfo = z
  .object({
    model_id: z.string(),
    model_sha: z.string().openapi({ description: "Empty: unknown" }),
    model_dtype: z.string(),
    model_device_type: z.string().openapi({ description: "Device that the model is on; empty if it is not loaded" }),
    model_pipeline_tag: z.string(),
    max_concurrent_requests: z.int(),
    max_best_of: z.int(),
    max_stop_sequences: z.int(),
    max_input_tokens: z.int().openapi({ description: "Maximum tokens of a prompt; 2147483646: no limit" }),
    max_total_tokens: z.int(),
    max_client_batch_size: z.int(),
    validation_workers: z.int(),
    router: z.literal("inferyard"),
    version: z.string().openapi({ description: "Version of Inferyard" }),
  })
  .openapi("TgiInfo");

/** `GET /info`, which describes the default model. */
export function infoRoute(service: Service): Route {
  return {
    method: "get",
    path: "/info",
    summary: "The model and its limits, as text-embeddings-inference or, of a model that writes texts, text-generation-inference",
    description: "The model",
    response: z.union([info, generationInfo]),
    answer: async (context) => {
      const outcome = await service.calls.describe(getCaller(context), headerModel(context), {
        loaded: async ({ manifest, decision, target }) => ({ ...getInfo(manifest, decision.model.variant), target }),
        files: async (manifest) => getInfo(manifest, manifest.variants[0]?.name),
        missing: modelNotHere,
      });
      const { dtype, type, length, generates, target = "" } = outcome.result;
      const { settings, admission, limits } = service;
      const running = admission.maxRunning(outcome.resolved.reference);
      if (generates === undefined) {
        const body = {
          model_id: outcome.model,
          served_model_name: outcome.model,
          model_dtype: dtype,
          model_type: type,
          max_concurrent_requests: running,
          max_input_length: length,
          max_batch_tokens: defaultBatchTokens,
          max_client_batch_size: limits.maxTexts,
          auto_truncate: (settings.longTexts ?? serverDefaults.longTexts) === "cut",
          tokenization_workers: 1, // texts are tokenized in the server's own thread
          version,
        };
        return jsonResponse(context, body, outcome);
      }
      const body = {
        model_id: outcome.model,
        model_sha: "",
        model_dtype: dtype,
        model_device_type: target.split(":")[1] ?? "",
        model_pipeline_tag: generates.task,
        router: "inferyard",
        version,
        max_concurrent_requests: running,
        max_best_of: 1,
        max_stop_sequences: 2 ** 31 - 1,
        max_input_tokens: generates.length - 1,
        max_total_tokens: generates.length,
        max_client_batch_size: limits.maxTexts,
        validation_workers: 1, // texts are tokenized in the server's own thread
      };
      return jsonResponse(context, body, outcome);
    },
  };
}

/** The error for a model whose files are not on this machine. */
export function modelNotHere(): InferyardError {
  return new InferyardError("MODEL_LOADING", "the model is not on this machine yet", {
    remedy: "its first request fetches and loads it",
    retryAfterMs: 1000,
  });
}

/** What both protocols say of a model. */
interface ModelInfo {
  readonly dtype: string;
  readonly type: ModelType;
  readonly length: number;
  /** Target that the model is loaded on. Default: it is not loaded. */
  readonly target?: string;
  /** Undefined for a model that writes no texts. */
  readonly generates?: { readonly task: string; readonly length: number };
}

/** `variant`: name of the loaded weights, or of the model's first. */
function getInfo(manifest: Manifest, variant: string | undefined): ModelInfo {
  const task = getGenerationTask(manifest);
  const precision = manifest.variants.find(({ name }) => name === variant)?.precision ?? variant ?? "unknown";
  return {
    dtype: { fp32: "float32", fp16: "float16", bf16: "bfloat16" }[precision] ?? precision,
    type: getModelType(manifest),
    length: manifest.text?.maxTokens ?? 2 ** 31 - 1,
    ...(task === undefined ? {} : { generates: { task, length: getContextLength(manifest) ?? 2 ** 31 - 1 } }),
  };
}

/** Type of the model in the terms of this protocol. */
export function getModelType(manifest: Manifest): ModelType {
  if (manifest.tasks.includes("fill-mask") || manifest.text?.sparse?.kind === "splade")
    return { embedding: { pooling: "splade" } };
  const labels = textLabels(manifest);
  if (labels === undefined) return { embedding: { pooling: manifest.text?.pooling ?? "none" } };
  const named = {
    id2label: Object.fromEntries(labels.map((label, id) => [String(id), label])),
    label2id: Object.fromEntries(labels.map((label, id) => [label, id])),
  };
  return labels.length === 1 ? { reranker: named } : { classifier: named };
}
