/** Anthropic's API: messages, and counting their tokens. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { at, omitUndefined } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { openStream } from "../generation/open-stream.ts";
import { eventStreamHeaders, serverSentEvent, streamedBody } from "../generation/streamed-body.ts";
import { anthropicErrorBody, documentedErrors, handleAnthropicError } from "./errors.ts";
import { toChatOptions, toConversation, countRequestSchema, messagesRequestSchema } from "./messages-request.ts";
import { messageEvents, getMessage } from "./messages-response.ts";

const messagesRoute = createRoute({
  method: "post",
  path: "/v1/messages",
  summary: "Answer a conversation, as Anthropic",
  request: { body: { required: true, content: { "application/json": { schema: messagesRequestSchema } } } },
  responses: {
    200: {
      description: "The message; with `stream`, its events as server-sent events",
      content: {
        "application/json": { schema: z.looseObject({ id: z.string(), type: z.literal("message") }).openapi("AnthropicMessage") },
        "text/event-stream": { schema: z.string() },
      },
    },
    ...documentedErrors,
  },
} satisfies RouteConfig);

const countResponse = z.object({ input_tokens: z.int() }).openapi("AnthropicTokenCount");
const countRoute = createRoute(
  jsonRoute(
    "/v1/messages/count_tokens",
    "Count the tokens of a conversation, as Anthropic",
    countRequestSchema,
    countResponse,
    documentedErrors,
  ),
);

/** Creates the routes under /v1/messages. */
export function anthropicRoutes(service: Service): Routes {
  const routes = createRoutes(handleAnthropicError);
  routes.openapi(messagesRoute, async (context) => {
    const request = context.req.valid("json");
    const ignore = partIgnorer(context);
    const messages = toConversation(request, ignore);
    const options = toChatOptions(request, ignore);
    const { stream, outcome, model } = await openStream(service, context, { model: request.model }, (call) =>
      service.runtime.chat(messages, { ...options, ...call, stream: true }),
    );
    if (request.stream !== true) {
      void stream.finish();
      const done = await outcome;
      const headers = { ...resultHeaders(done), "content-type": "application/json" };
      return context.body(jsonText(getMessage(model, at(done.result.results, 0))), 200, headers) as never;
    }
    async function* parts(): AsyncGenerator<string, void> {
      try {
        yield* messageEvents(model, stream, stream.promptTokens[0] ?? 0);
      } catch (error) {
        yield serverSentEvent(anthropicErrorBody(error), "error");
      } finally {
        await stream.cancel();
      }
    }
    const ping = serverSentEvent({ type: "ping" }, "ping");
    return context.body(streamedBody(parts(), ping), 200, eventStreamHeaders) as never;
  });
  routes.openapi(countRoute, async (context) => {
    const request = context.req.valid("json");
    const ignore = partIgnorer(context);
    const messages = toConversation(request, ignore);
    const { tools, toolChoice, templateVariables } = toChatOptions(request, ignore);
    const options = omitUndefined({ tools, toolChoice, templateVariables });
    const call = { model: request.model };
    const outcome = await service.callWithoutModel(getCaller(context), call, async ({ reference }, signal) => {
      const { tokens } = await service.runtime.chatPrompt(messages, { ...options, model: reference, signal });
      return tokens.length;
    });
    return context.json({ input_tokens: outcome.result }, 200, resultHeaders(outcome));
  });
  return routes;
}
