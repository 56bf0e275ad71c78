/** POST /v1/ranking of NVIDIA's NIM: passages ranked by the model's raw score. */
import { z } from "@hono/zod-openapi";
import type { RerankResult } from "../../../api/task-requests.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { listField, modelField, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { totalTokens } from "../relevance.ts";
import { runTask } from "../run-task.ts";
import { toTruncation } from "../truncation.ts";

const passage = requestObject({ text: z.string() });

const request = (limit: number) =>
  requestObject({
    model: modelField.openapi({ example: "builtin" }),
    query: passage.openapi({ example: { text: "a pet" } }),
    passages: listField(passage, { min: 1, max: limit }).openapi({ example: [{ text: "a car" }, { text: "a cat" }] }),
    truncate: z.enum(["NONE", "START", "END"]).optional().openapi({
      description: "Longer texts: END keeps their beginning, NONE refuses them; START is not built. Default: NONE",
    }),
  }).openapi("RankingRequest");

const response = z
  .object({
    rankings: z.array(z.object({ index: z.int(), logit: z.number() })).openapi({ description: "Best first" }),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .openapi("RankingResponse");

/** POST /v1/ranking. */
export function rankingRoute(service: Service): Route {
  return post({
    path: "/v1/ranking",
    summary: "Rank passages by relevance, as NVIDIA NIM",
    schema: request(service.limits.maxTexts),
    response,
    answer: async ({ model, query, passages, truncate }, context) => {
      const options = { truncate: toTruncation<never>(truncate, "error") };
      const texts = passages.map(({ text }) => text);
      refusePairs([query.text], texts);
      const call = { model, texts: texts.length, key: ["ranking", query.text, texts, options] as const };
      const outcome = await runTask(service, context, call, (on) => {
        const rerank = (raw: { readonly raw?: true }): Promise<RerankResult> =>
          service.runtime.rerank(query.text, texts, { ...options, ...raw, ...on });
        return rerank({ raw: true }).catch((error: unknown) => {
          if (error instanceof InferyardError && error.code === "INPUT_INVALID") return rerank({}); // only cross-encoders have logits
          throw error;
        });
      });
      const tokens = totalTokens(outcome.result);
      const rankings = outcome.result.results.map(({ index, score }) => ({ index, logit: score }));
      return jsonResponse(context, { rankings, usage: { prompt_tokens: tokens, total_tokens: tokens } }, outcome);
    },
  });
}
