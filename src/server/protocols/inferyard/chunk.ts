/** POST /api/chunk: splits a long text into chunks of a maximum number of tokens. */
import { createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../contract/errors.ts";
import { chunkingTask } from "../../../tasks/definitions.ts";
import { chunkOptions, runsModel } from "../../../tasks/chunking/chunk-options.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { ChunkResult } from "../../../api/task-requests.ts";
import { name, requestObject } from "../../http/field-schemas.ts";
import type { CallResult, ModelCallResult } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { toNumbers } from "../text-vectors.ts";
import { documentedErrors } from "./errors.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";

const config = requestObject({
  model: name().optional().openapi({
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

const route = createRoute(jsonRoute(getPath(chunkingTask), "Split a long text into chunks", request, response, documentedErrors));

/** Adds `POST /api/chunk`, which splits long texts into chunks. */
export function addChunk(routes: Routes, service: Service): void {
  routes.openapi(route, async (context) => {
    const { config: { model: named, ...fields } = {}, ...given } = context.req.valid("json");
    const text = toText(given);
    const options = optionsFromFields(chunkOptions, fields);
    const call = { model: named === "fixed" ? "builtin" : named, key: ["chunk", text, options] as const };
    const caller = getCaller(context);
    const { runtime } = service;
    const outcome: CallResult<ChunkResult> | ModelCallResult<ChunkResult> = runsModel(options.strategy ?? "fixed")
      ? await service.call(caller, call, (model, signal) => runtime.chunk(text, { ...options, model, signal }))
      : await service.callWithoutModel(caller, call, ({ reference: model, constraints }, signal) =>
          runtime.chunk(text, { ...options, ...constraints, model, signal }),
        );
    const [result] = outcome.result.results;
    const chunks = (result?.chunks ?? []).map(({ id, text, start, end, tokens, embedding }) => ({
      id,
      text,
      start_char: start,
      end_char: end,
      tokens,
      ...(embedding === undefined ? {} : { embedding: toNumbers(embedding) }),
    }));
    return context.json({ model: outcome.model, chunks, truncated: result?.truncated ?? false }, 200, resultHeaders(outcome));
  });
}

function toText({ input, text }: { readonly input?: string | undefined; readonly text?: string | undefined }): string {
  const given = input ?? text;
  if (given !== undefined && (input === undefined || text === undefined)) return given;
  throw new InferyardError("INPUT_INVALID", given === undefined ? "the request has no text" : "the request has the text twice", {
    remedy: "give it as `input`",
  });
}
