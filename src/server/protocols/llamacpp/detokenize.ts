/** POST /detokenize: the text of token ids, as llama.cpp (`content`) and as vLLM (`prompt`). The model is not loaded for it. */
import { createRoute, z } from "@hono/zod-openapi";
import { decodeTokens } from "../../../tasks/encoding/encode-texts.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { name, requestObject, tokenIds } from "../../http/field-schemas.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "../openai/errors.ts";

const request = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: that of x-inferyard-model, or the default model" }),
  tokens: tokenIds().openapi({ example: [1, 15043] }),
}).openapi("DetokenizeRequest");

const response = z.object({ content: z.string(), prompt: z.string() }).openapi("Detokenized");

const route = createRoute(
  jsonRoute("/detokenize", "The text of token ids, as llama.cpp and vLLM", request, response, documentedErrors),
);

/** Adds POST /detokenize. */
export function addDetokenize(routes: Routes, service: Service): void {
  routes.openapi(route, async (context) => {
    const { model, tokens } = context.req.valid("json");
    const call = { model: model ?? context.req.header("x-inferyard-model"), texts: 1 };
    const outcome = await service.callWithoutModel(getCaller(context), call, async ({ reference }, signal) => {
      const tokenizer = await service.runtime.getTokenizer(await service.runtime.manifest(reference, { signal }));
      return decodeTokens(tokenizer, tokens, { skipSpecialTokens: false });
    });
    return context.json({ content: outcome.result, prompt: outcome.result }, 200, resultHeaders(outcome));
  });
}
