/** POST /v1/chat/completions, and the same under Azure's paths. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Env, type Routes, resultHeaders } from "../../http/context.ts";
import type { Service } from "../../serving/service.ts";
import { openStream } from "../generation/open-stream.ts";
import { modelOfAddress } from "./model-address.ts";
import { applyKeepAlive } from "../ollama/keep-alive.ts";
import { eventStreamHeaders, serverSentEvent, streamedBody } from "../generation/streamed-body.ts";
import { type ChatCompletionsRequest, toChatOptions, chatRequestSchema } from "./chat-request.ts";
import { toMessages } from "./chat-messages.ts";
import { getCallForm } from "./chat-tools.ts";
import { chatChunks, chatCompletion, newCompletion } from "./chat-response.ts";
import { documentedErrors, openAiErrorBody } from "./errors.ts";

const usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
});

const response = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.unknown()),
    usage,
  })
  .openapi("ChatCompletion");

const locations = [
  { path: "/v1/chat/completions", summary: "Continue a conversation, as OpenAI" },
  { path: "/api/v0/chat/completions", summary: "Continue a conversation, as LM Studio" },
  { path: "/openai/v1/chat/completions", summary: "Continue a conversation, as Azure OpenAI and KServe" },
  {
    path: "/openai/deployments/{deployment}/chat/completions",
    summary: "Continue a conversation with the model that the path names, as Azure OpenAI",
    request: { params: z.object({ deployment: z.string().openapi({ description: "Name of a model" }) }) },
  },
] as const;

/** Adds `POST /v1/chat/completions` and its aliases. */
export function addChatCompletions(routes: Routes, service: Service): void {
  for (const { path, summary, ...rest } of locations) {
    const route = createRoute({
      method: "post",
      path,
      summary,
      request: {
        ...("request" in rest ? rest.request : {}),
        body: { required: true, content: { "application/json": { schema: chatRequestSchema } } },
      },
      responses: {
        200: {
          description: "The answers; with `stream`, chunks as server-sent events, the last one [DONE]",
          content: { "application/json": { schema: response }, "text/event-stream": { schema: z.string() } },
        },
        ...documentedErrors,
      },
    });
    routes.openapi(route, async (context) => {
      const request = context.req.valid("json");
      const model = context.req.param("deployment") ?? modelOfAddress(context, request.model);
      return answerChatCompletions(service, context, { ...request, model });
    });
  }
}

/** Answers a validated request. */
export async function answerChatCompletions(
  service: Service,
  context: Context<Env>,
  request: ChatCompletionsRequest,
): Promise<never> {
  const messages = toMessages(request);
  const options = toChatOptions(request);
  const form = getCallForm(request);
  const texts = request.n ?? 1;
  let tokenizer: Awaited<ReturnType<typeof service.runtime.tokenizer>> | undefined;
  const { stream, outcome, model } = await openStream(service, context, { model: request.model, texts }, async (call) => {
    if (request.logprobs === true) tokenizer = await service.runtime.tokenizer(call.model);
    return service.runtime.chat(messages, { ...options, ...call, stream: true });
  });
  await applyKeepAlive(service, context, { model: request.model, runsLanguageModel: true }, request.ttl);
  const about = newCompletion("chatcmpl-", model);
  if (request.stream !== true) {
    void stream.finish();
    const done = await outcome;
    return context.json(chatCompletion(about, done.result.results, { tokenizer, form }), 200, resultHeaders(done)) as never;
  }
  const includeUsage = request.stream_options?.include_usage ?? false;
  async function* parts(): AsyncGenerator<string, void> {
    try {
      yield* chatChunks(about, stream, { includeUsage, tokenizer, form });
    } catch (error) {
      yield serverSentEvent({ error: openAiErrorBody(error) });
    } finally {
      await stream.cancel();
    }
    yield serverSentEvent("[DONE]");
  }
  return context.body(streamedBody(parts(), ": still here\n\n"), 200, eventStreamHeaders) as never;
}
