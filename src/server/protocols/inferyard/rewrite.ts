/** POST /api/rewrite: summaries, translations, and what else models with an encoder and a decoder make of texts. */
import { createRoute, z } from "@hono/zod-openapi";
import { rewritingTask } from "../../../tasks/definitions.ts";
import { rewriteOptions } from "../../../tasks/generation/rewrite/rewrite-options.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { requestObject, texts } from "../../http/field-schemas.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { modelField } from "./request-fields.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";

const toRequest = (limit: number) =>
  requestObject({
    model: modelField,
    texts: texts(limit, 1).openapi({ description: "Texts to rewrite" }),
    ...optionFields(rewriteOptions, limit),
  }).openapi("RewriteRequest");

const response = z
  .object({
    model: z.string(),
    texts: z.array(z.array(z.string())).openapi({ description: "For each text what became of it: `n` texts" }),
    finish_reasons: z.array(z.array(z.enum(["stop", "length"]))),
    usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }),
  })
  .openapi("RewriteResponse");

/** Adds `POST /api/rewrite`. */
export function addRewrite(routes: Routes, service: Service): void {
  const summary = "Summarize, translate or otherwise rewrite texts";
  const request = toRequest(service.limits.maxTexts);
  routes.openapi(
    createRoute(jsonRoute(getPath(rewritingTask), summary, request, response, documentedErrors)),
    async (context) => {
      const { model, texts: given, ...fields } = context.req.valid("json");
      const options = optionsFromFields(rewriteOptions, fields);
      const call = { model, texts: given.length, runsLanguageModel: true };
      const outcome = await service.call(getCaller(context), call, (handle, signal) =>
        service.runtime.rewrite(given, { ...options, stream: false, model: handle, signal }),
      );
      const { results } = outcome.result;
      const each = Math.max(1, results.length / given.length);
      const lists = given.map((_, index) => results.slice(index * each, (index + 1) * each));
      const body = {
        model: outcome.model,
        texts: lists.map((list) => list.map(({ text }) => text)),
        finish_reasons: lists.map((list) => list.map(({ finishReason }) => finishReason)),
        usage: {
          prompt_tokens: lists.reduce((sum, [first]) => sum + (first?.promptTokens ?? 0), 0),
          completion_tokens: results.reduce((sum, { tokens }) => sum + tokens.length, 0),
        },
      };
      return context.json(body, 200, resultHeaders(outcome));
    },
  );
}
