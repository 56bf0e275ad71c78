/** POST /api/chunk: a long text to parts of at most so many tokens. */
import { createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../errors.ts";
import { chunkStrategies, runsModel } from "../../../tasks/chunking/chunk-options.ts";
import { offsetUnits } from "../../../tokenizers/index.ts";
import { type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { ChunkResult } from "../../../api/task-requests.ts";
import { name } from "../../http/field-schemas.ts";
import type { CallResult, ModelCallResult, Service } from "../../serving/service.ts";
import { numbersOf } from "../text-vectors.ts";
import { documentedErrors } from "./errors.ts";

const config = z.strictObject({
  model: name().optional().openapi({
    description:
      'Whose tokens are counted; it is loaded for strategies that run a model alone. "fixed": builtin. Default: the server\'s default model',
  }),
  strategy: z.enum(chunkStrategies).optional().openapi({ description: "Default: fixed" }),
  target_tokens: z.int().positive().optional().openapi({ description: "Most tokens in one chunk. Default: 500" }),
  overlap_tokens: z.int().nonnegative().optional().openapi({ description: "Tokens that the next chunk repeats. Default: 0" }),
  max_chunks: z
    .int()
    .positive()
    .optional()
    .openapi({ description: "The rest is left out, and `truncated` says so. Default: no limit" }),
  threshold: z.number().min(-1).max(1).optional().openapi({ description: "With semantic: sentences part below this cosine" }),
  offsets: z.enum(offsetUnits).optional().openapi({ description: "What `start_char` and `end_char` count. Default: utf16" }),
});

const request = z
  .strictObject({
    input: z.string().optional().openapi({ description: "The text" }),
    text: z.string().optional().openapi({ description: "The same, as it was called before" }),
    config: config.optional(),
  })
  .openapi("ChunkRequest");

const chunk = z.object({
  id: z.int(),
  text: z.string(),
  start_char: z.int(),
  end_char: z.int(),
  tokens: z.int(),
  embedding: z.array(z.number()).optional().openapi({ description: "With the strategy late: its vector" }),
});
const response = z.object({ model: z.string(), chunks: z.array(chunk), truncated: z.boolean() }).openapi("ChunkResponse");

const route = createRoute(jsonRoute("/api/chunk", "A long text to parts", request, response, documentedErrors));

export function addChunk(routes: Routes, service: Service): void {
  routes.openapi(route, async (context) => {
    const { config: asked = {}, ...given } = context.req.valid("json");
    const text = textOf(given);
    const options = optionsOf(asked);
    const call = { model: asked.model === "fixed" ? "builtin" : asked.model, question: ["chunk", text, options] as const };
    const caller = callerOf(context);
    const { runtime } = service;
    const served: CallResult<ChunkResult> | ModelCallResult<ChunkResult> = runsModel(options.strategy ?? "fixed")
      ? await service.call(caller, call, (model, signal) => runtime.chunk(text, { ...options, model, signal }))
      : await service.callWithoutModel(caller, call, ({ reference: model, constraints }, signal) =>
          runtime.chunk(text, { ...options, ...constraints, model, signal }),
        );
    const [result] = served.result.results;
    const chunks = (result?.chunks ?? []).map(({ id, text, start, end, tokens, embedding }) => ({
      id,
      text,
      start_char: start,
      end_char: end,
      tokens,
      ...(embedding === undefined ? {} : { embedding: numbersOf(embedding) }),
    }));
    return context.json({ model: served.model, chunks, truncated: result?.truncated ?? false }, 200, servedHeaders(served));
  });
}

function textOf({ input, text }: { readonly input?: string | undefined; readonly text?: string | undefined }): string {
  const given = input ?? text;
  if (given !== undefined && (input === undefined || text === undefined)) return given;
  throw new InferyardError("INPUT_INVALID", given === undefined ? "no text was given" : "the text was given twice", {
    remedy: "give it as `input`",
  });
}

function optionsOf(asked: z.infer<typeof config>) {
  const {
    strategy,
    target_tokens: targetTokens,
    overlap_tokens: overlapTokens,
    max_chunks: maxChunks,
    threshold,
    offsets,
  } = asked;
  return {
    ...(strategy === undefined ? {} : { strategy }),
    ...(targetTokens === undefined ? {} : { targetTokens }),
    ...(overlapTokens === undefined ? {} : { overlapTokens }),
    ...(maxChunks === undefined ? {} : { maxChunks }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(offsets === undefined ? {} : { offsets }),
  };
}
