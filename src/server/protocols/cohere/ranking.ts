/** POST /v1/ranking of NVIDIA's NIM: passages ranked by the model's raw score. */
import { createRoute, z } from "@hono/zod-openapi";
import type { RerankResult } from "../../../api/task-requests.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { listOf, name, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import type { Service } from "../../serving/service.ts";
import { totalTokens } from "../relevance.ts";
import { documentedErrors } from "./errors.ts";

const passage = requestObject({ text: z.string() });

const request = (limit: number) =>
  requestObject({
    model: name().optional().openapi({ description: "Name of a model. Default: the server's default model", example: "builtin" }),
    query: passage.openapi({ example: { text: "a pet" } }),
    passages: listOf(passage, { min: 1, max: limit }).openapi({ example: [{ text: "a car" }, { text: "a cat" }] }),
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

/** Adds POST /v1/ranking. */
export function addRanking(routes: Routes, service: Service): void {
  const schema = request(service.limits.maxTexts);
  const route = createRoute(
    jsonRoute("/v1/ranking", "Rank passages by relevance, as NVIDIA NIM", schema, response, documentedErrors),
  );
  routes.openapi(route, async (context) => {
    const { model, query, passages, truncate = "NONE" } = context.req.valid("json");
    if (truncate === "START") {
      throw new InferyardError("INPUT_INVALID", "truncate START, which keeps the end of a text, is not built yet", {
        remedy: "use END or NONE, or send the end of the text",
        data: { path: ["truncate"] },
      });
    }
    const texts = passages.map(({ text }) => text);
    refusePairs([query.text], texts);
    const options = { truncate: truncate === "END" ? ("cut" as const) : ("error" as const) };
    const call = { model, texts: texts.length, key: ["ranking", query.text, texts, options] as const };
    const outcome = await service.call(getCaller(context), call, async (handle, signal) => {
      const rerank = (raw: { readonly raw?: true }): Promise<RerankResult> =>
        service.runtime.rerank(query.text, texts, { ...options, ...raw, model: handle, signal });
      return rerank({ raw: true }).catch((error: unknown) => {
        if (error instanceof InferyardError && error.code === "INPUT_INVALID") return rerank({}); // only cross-encoders have logits
        throw error;
      });
    });
    const tokens = totalTokens(outcome.result);
    const rankings = outcome.result.results.map(({ index, score }) => ({ index, logit: score }));
    return jsonResponse(context, { rankings, usage: { prompt_tokens: tokens, total_tokens: tokens } }, resultHeaders(outcome));
  });
}
