/** POST /v1/chat/completions, and the same under Azure's paths. */
import { z } from "@hono/zod-openapi";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { answerChatCall } from "../generation/chat-call.ts";
import { chatForm } from "./chat-request.ts";
import { chatAnswerForm } from "./chat-response.ts";
import { modelOfAddress } from "./model-address.ts";

const response = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.unknown()),
    usage: z.object({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      total_tokens: z.int(),
      prompt_tokens_details: z.object({ cached_tokens: z.int() }),
    }),
  })
  .openapi("ChatCompletion");

const locations = {
  "/v1/chat/completions": "Continue a conversation, as OpenAI",
  "/api/v0/chat/completions": "Continue a conversation, as LM Studio",
  "/openai/v1/chat/completions": "Continue a conversation, as Azure OpenAI and KServe",
  "/openai/deployments/{deployment}/chat/completions":
    "Continue a conversation with the model that the path names, as Azure OpenAI",
};

/** `POST /v1/chat/completions` and its aliases. */
export function chatRoutes(service: Service): Route[] {
  return Object.entries(locations).map(([path, summary]) =>
    post({
      path,
      summary,
      parameters: { deployment: "Name of a model" },
      schema: chatForm.schema,
      description: "The answers; with `stream`, chunks as server-sent events, the last one [DONE]",
      response,
      media: { "text/event-stream": z.string() },
      answer: (request, context) => {
        const call = chatForm.read(request, partIgnorer(context));
        const model = context.req.param("deployment") ?? modelOfAddress(context, call.model);
        return answerChatCall(service, context, { ...call, model }, chatAnswerForm(call));
      },
    }),
  );
}
