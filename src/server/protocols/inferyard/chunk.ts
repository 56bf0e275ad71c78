/** POST /api/chunk: splits a long text into chunks of a maximum number of tokens. */
import { z } from "@hono/zod-openapi";
import { invalidInput } from "../../../contract/errors.ts";
import { chunkingTask } from "../../../tasks/definitions.ts";
import { chunkOptions, runsModel } from "../../../tasks/chunking/chunk-options.ts";
import type { ChunkResult } from "../../../api/task-requests.ts";
import { getCaller } from "../../http/context.ts";
import { nameField, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { CallResult, ModelCallResult } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { runTask } from "../run-task.ts";
import { toJsonNumbers } from "../text-vectors.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";

const config = requestObject({
  model: nameField().optional().openapi({
    description:
      'Model whose tokens are counted; only strategies that run a model load it. "fixed": builtin. Default: the server\'s default model',
  }),
  ...optionFields(chunkOptions, Number.POSITIVE_INFINITY),
});

const request = requestObject({
  input: z.string().optional().openapi({ description: "The text" }),
  text: z.string().optional().openapi({ description: "Alternative name of `input`" }),
  config: config.optional(),
}).openapi("ChunkRequest");

const chunk = z.object({
  id: z.int(),
  text: z.string(),
  start_char: z.int(),
  end_char: z.int(),
  tokens: z.int(),
  embedding: z.array(z.number()).optional().openapi({ description: "With the strategy late: the vector of the chunk" }),
});
const response = z.object({ model: z.string(), chunks: z.array(chunk), truncated: z.boolean() }).openapi("ChunkResponse");

/** Splits long texts into chunks. */
export function chunkRoute(service: Service): Route {
  return post({
    path: getPath(chunkingTask),
    summary: "Split a long text into chunks",
    schema: request,
    response,
    answer: async ({ config: { model: named, ...fields } = {}, ...given }, context) => {
      const text = toText(given);
      const options = optionsFromFields(chunkOptions, fields);
      const call = { model: named === "fixed" ? "builtin" : named, key: ["chunk", text, options] as const };
      const { runtime, calls } = service;
      const outcome: CallResult<ChunkResult> | ModelCallResult<ChunkResult> = runsModel(options.strategy ?? "fixed")
        ? await runTask(service, context, call, (on) => runtime.chunk(text, { ...options, ...on }))
        : await calls.runWithoutModel(getCaller(context), call, ({ reference: model, constraints }, signal) =>
            runtime.chunk(text, { ...options, ...constraints, model, signal }),
          );
      const [result] = outcome.result.results;
      const chunks = (result?.chunks ?? []).map(({ id, text, start, end, tokens, embedding }) => ({
        id,
        text,
        start_char: start,
        end_char: end,
        tokens,
        ...(embedding === undefined ? {} : { embedding: toJsonNumbers(embedding) }),
      }));
      return jsonResponse(context, { model: outcome.model, chunks, truncated: result?.truncated ?? false }, outcome);
    },
  });
}

function toText({ input, text }: { readonly input?: string | undefined; readonly text?: string | undefined }): string {
  const given = input ?? text;
  if (given !== undefined && (input === undefined || text === undefined)) return given;
  throw invalidInput(given === undefined ? "the request has no text" : "the request has the text twice", "give it as `input`");
}
