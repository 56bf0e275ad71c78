/** Anthropic's API: messages, and counting their tokens. */
import { z } from "@hono/zod-openapi";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { post } from "../../http/routes/route.ts";
import { answerChatCall, readChatPrompt } from "../generation/chat-call.ts";
import type { Protocol } from "../protocol.ts";
import { anthropicErrors } from "./errors.ts";
import { countForm, messagesForm } from "./messages-request.ts";
import { messageForm } from "./messages-response.ts";

/** Anthropic's API. */
export const anthropic: Protocol = {
  errors: anthropicErrors,
  prefixes: ["/v1/messages"],
  routes: (service) => [
    post({
      path: "/v1/messages",
      summary: "Answer a conversation, as Anthropic",
      schema: messagesForm.schema,
      description: "The message; with `stream`, its events as server-sent events",
      response: z.looseObject({ id: z.string(), type: z.literal("message") }).openapi("AnthropicMessage"),
      media: { "text/event-stream": z.string() },
      answer: (request, context) =>
        answerChatCall(service, context, messagesForm.read(request, partIgnorer(context)), messageForm),
    }),
    post({
      path: "/v1/messages/count_tokens",
      summary: "Count the tokens of a conversation, as Anthropic",
      schema: countForm.schema,
      response: z.object({ input_tokens: z.int() }).openapi("AnthropicTokenCount"),
      answer: async (request, context) => {
        const call = countForm.read(request, partIgnorer(context));
        const counted = await readChatPrompt(service, context, call, ({ tokens }) => tokens.length);
        return jsonResponse(context, { input_tokens: counted.result }, counted);
      },
    }),
  ],
};
