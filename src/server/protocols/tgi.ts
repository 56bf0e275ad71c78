/** The routes of text-generation-inference (TGI) 3 that no other protocol has. Its `POST /` and `GET /info` are text-embeddings-inference's. */
import { z } from "@hono/zod-openapi";
import { jsonBody } from "../http/json-body.ts";
import { type Route, jsonRequest } from "../http/routes/route.ts";
import { answerTexts } from "./huggingface/answer-texts.ts";
import { generationForm } from "./huggingface/generation-request.ts";
import type { Protocol } from "./protocol.ts";
import { teiErrors } from "./tei/errors.ts";

const response = z
  .union([z.looseObject({ generated_text: z.string() }), z.array(z.unknown())])
  .openapi({ description: "The text, with `details` where they are asked for; of several prompts a list" });

const paths = [
  { path: "/generate", summary: "Generate what follows a prompt, as text-generation-inference" },
  { path: "/generate_stream", summary: "The same token by token, as server-sent events", isStreamed: true },
];

/** The routes /generate and /generate_stream, which run the default model or the one that the header x-inferyard-model names. */
export const tgi: Protocol = {
  errors: teiErrors,
  routes: (service) =>
    paths.map(({ path, summary, ...form }): Route => ({
      method: "post",
      path,
      summary,
      request: jsonRequest(generationForm(service.limits.maxTexts).schema),
      response,
      answer: async (context) =>
        answerTexts(service, context, await jsonBody(context), { task: "text-generation", isSingle: true, ...form }),
    })),
};
