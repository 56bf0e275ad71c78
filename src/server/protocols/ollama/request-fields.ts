/** Request fields of Ollama's API that its routes and ours share. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Env } from "../../http/context.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { type Issue, ignorableIssue } from "../../http/fields/schema-run.ts";
import { keepAliveField } from "./keep-alive.ts";

/** Options that concern the generation of text: they cannot change a vector or a score. */
const generationOptions = [
  "num_keep",
  "seed",
  "num_predict",
  "top_k",
  "top_p",
  "min_p",
  "tfs_z",
  "typical_p",
  "repeat_last_n",
  "temperature",
  "repeat_penalty",
  "presence_penalty",
  "frequency_penalty",
  "mirostat",
  "mirostat_tau",
  "mirostat_eta",
  "penalize_newline",
  "stop",
];
/** Options about where and how the engine runs, which is decided by the server's settings: they do not change a result either. */
const placementOptions = [
  "numa",
  "num_batch",
  "num_gpu",
  "main_gpu",
  "low_vram",
  "f16_kv",
  "logits_all",
  "vocab_only",
  "use_mmap",
  "use_mlock",
  "embedding_only",
  "num_thread",
];
const ignoredOptions: ReadonlySet<string> = new Set([...generationOptions, ...placementOptions]);

/** Schema of `options`: `num_ctx` is obeyed, the others are accepted and ignored, an unknown one is ignored and named. */
const options = z
  .unknown()
  .check((context) => {
    const problem = optionsProblem(context.value);
    if (problem !== undefined) context.issues.push({ code: "custom", input: context.value, message: problem });
    else context.issues.push(...unknownOptions(context.value));
  })
  .openapi({
    type: "object",
    properties: {
      num_ctx: { type: "integer", minimum: 1, description: "Maximum tokens of a text, as far as the model reads more" },
    },
    additionalProperties: true,
    description: "Options of Ollama: num_ctx is obeyed; those of generation and placement are accepted and ignored",
  });

function optionsProblem(value: unknown): string | undefined {
  if (!isObject(value)) return "must be an object";
  const length = value["num_ctx"] ?? 1;
  return Number.isSafeInteger(length) && Number(length) > 0 ? undefined : "num_ctx must be a positive integer";
}

function unknownOptions(value: unknown): Issue[] {
  const names = Object.keys(isObject(value) ? value : {}).filter((name) => name !== "num_ctx" && !ignoredOptions.has(name));
  return names.map((name) => ignorableIssue([name], `${JSON.stringify(name.slice(0, 40))} is no option of Ollama`));
}

/** Schemas of the fields `options` and `keep_alive`. */
export const ollamaFields: {
  readonly options: z.ZodOptional<z.ZodType>;
  readonly keep_alive: typeof keepAliveField;
} = { options: options.optional(), keep_alive: keepAliveField };

/** The option `maxTokens` of the task, from `options.num_ctx`. */
export function contextLength(given: unknown): { readonly maxTokens?: number } {
  const length = isObject(given) ? given["num_ctx"] : undefined;
  return typeof length === "number" ? { maxTokens: length } : {};
}

/** The name of a model without the tag `:latest`, which clients of Ollama add to names. */
export function withoutLatest(model: string | undefined): string | undefined {
  return model?.replace(/:latest$/, "");
}

/** Response fields with durations and token counts, in Ollama's units: nanoseconds, and tokens. */
export const timingSchemas: {
  readonly total_duration: z.ZodNumber;
  readonly load_duration: z.ZodNumber;
  readonly prompt_eval_count: z.ZodNumber;
} = {
  total_duration: z.int().openapi({ description: "Time the request waited and ran, in nanoseconds" }),
  load_duration: z
    .int()
    .openapi({ description: "The part in which it loaded the model, in nanoseconds; 0 if that was in memory" }),
  prompt_eval_count: z.int().openapi({ description: "Number of tokens read, of all texts together" }),
};

/** The values of those fields, for the call that the service ran last for this request. */
export function timingFields(
  context: Context<Env>,
  { queueMs, inferenceMs }: { readonly queueMs: number; readonly inferenceMs: number },
  tokens: readonly number[],
): { readonly total_duration: number; readonly load_duration: number; readonly prompt_eval_count: number } {
  return {
    total_duration: Math.round((queueMs + inferenceMs) * 1e6),
    load_duration: Math.round((context.get("call")?.loadMs ?? 0) * 1e6),
    prompt_eval_count: tokens.reduce((sum, count) => sum + count, 0),
  };
}
