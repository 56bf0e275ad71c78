/** POST /detokenize: the text of token ids, as llama.cpp (`content`) and as vLLM (`prompt`). The model is not loaded for it. */
import { z } from "@hono/zod-openapi";
import { decodeTokens } from "../../../tasks/encoding/encode-texts.ts";
import { getCaller } from "../../http/context.ts";
import { headerModelField, requestObject, tokenIds } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { headerModel } from "../run-task.ts";

const request = requestObject({
  model: headerModelField,
  tokens: tokenIds().openapi({ example: [1, 15043] }),
}).openapi("DetokenizeRequest");

/** POST /detokenize. */
export function detokenizeRoute({ calls, runtime }: Service): Route {
  return post({
    path: "/detokenize",
    summary: "The text of token ids, as llama.cpp and vLLM",
    schema: request,
    response: z.object({ content: z.string(), prompt: z.string() }).openapi("Detokenized"),
    answer: async ({ model, tokens }, context) => {
      const call = { model: headerModel(context, model) };
      const outcome = await calls.runWithoutModel(getCaller(context), call, async ({ reference }, signal) => {
        const tokenizer = await runtime.getTokenizer(await runtime.manifest(reference, { signal }));
        return decodeTokens(tokenizer, tokens, { skipSpecialTokens: false });
      });
      return jsonResponse(context, { content: outcome.result, prompt: outcome.result }, outcome);
    },
  });
}
