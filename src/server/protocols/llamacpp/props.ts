/** GET /props and /slots, POST /apply-template of llama.cpp's server. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../contract/errors.ts";
import { version } from "../../../version.ts";
import { type Routes, callerOf, resultHeaders } from "../../http/context.ts";
import { jsonContent } from "../../http/error-responses.ts";
import { members, name, requestObject } from "../../http/field-schemas.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { contextLengthOf } from "../model-capabilities.ts";
import { messagesField, messagesOf } from "../openai/chat-messages.ts";
import { type ChatCompletionsRequest, chatOptionsOf } from "../openai/chat-request.ts";
import { toolsField } from "../openai/chat-tools.ts";
import { documentedErrors, errorBody } from "../openai/errors.ts";

const props = z
  .object({
    default_generation_settings: z.object({
      n_ctx: z.int().openapi({ description: "Tokens of a prompt with its answer at most; 0: unknown" }),
      params: z.record(z.string(), z.unknown()).openapi({ description: "What the model's files say of sampling" }),
    }),
    total_slots: z.int().openapi({ description: "Requests that run at once" }),
    model_path: z.string().openapi({ description: "The model's name: paths of this machine are not told" }),
    model_alias: z.string(),
    chat_template: z.string().openapi({ description: "Empty if it has none" }),
    bos_token: z.string(),
    eos_token: z.string(),
    modalities: z.object({ vision: z.literal(false), audio: z.literal(false) }),
    build_info: z.string(),
    is_sleeping: z.literal(false),
  })
  .openapi("LlamaProps");

const propsRoute = createRoute({
  method: "get",
  path: "/props",
  summary: "Facts of a model, as llama.cpp; loads nothing",
  request: {
    query: z.object({
      model: z.string().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
    }),
  },
  responses: { 200: jsonContent("The model", props), ...documentedErrors },
} satisfies RouteConfig);

const slotsRoute = {
  method: "get",
  path: "/slots",
  summary: "Slots, as llama.cpp: there are none here, and what runs is not told to clients",
  responses: { 501: jsonContent("There are no slots", errorBody) },
} satisfies RouteConfig;

type TemplateRequest = Pick<ChatCompletionsRequest, "model" | "messages" | "tools" | "chat_template_kwargs">;

const templateRequest: z.ZodType<TemplateRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  messages: messagesField,
  tools: toolsField.optional(),
  chat_template_kwargs: members().optional().openapi({ description: "Further variables of the model's chat template" }),
}).openapi("ApplyTemplateRequest") as never;

const templateRoute = createRoute(
  jsonRoute(
    "/apply-template",
    "The prompt of a conversation, as llama.cpp; loads nothing",
    templateRequest,
    z.object({ prompt: z.string() }).openapi("AppliedTemplate"),
    documentedErrors,
  ),
);

/** Adds the routes. */
export function addProps(routes: Routes, service: Service): void {
  routes.openapi(propsRoute, async (context) => {
    const { model = context.req.header("x-inferyard-model") } = context.req.valid("query");
    const call = { model, texts: 0 };
    const outcome = await service.callWithoutModel(callerOf(context), call, async ({ reference }, signal) => ({
      manifest: await service.runtime.manifest(reference, { signal }),
      slots: service.maxRunning(reference),
    }));
    const { manifest, slots } = outcome.result;
    const config = manifest.text?.tokenizerConfig ?? {};
    const body = {
      default_generation_settings: { n_ctx: contextLengthOf(manifest) ?? 0, params: { ...manifest.generation } },
      total_slots: slots,
      model_path: outcome.model,
      model_alias: outcome.model,
      chat_template: manifest.chatTemplates?.["default"] ?? "",
      bos_token: contentOf(config["bos_token"]),
      eos_token: contentOf(config["eos_token"]),
      modalities: { vision: false as const, audio: false as const },
      build_info: `inferyard ${version}`,
      is_sleeping: false as const,
    };
    return context.json(body, 200, resultHeaders(outcome));
  });
  routes.openAPIRegistry.registerPath(slotsRoute);
  routes.get("/slots", () => {
    throw new InferyardError("NOT_BUILT", "there are no slots here, and what runs is not told to clients", {
      remedy: "GET /metrics has the numbers of what runs and waits",
    });
  });
  routes.openapi(templateRoute, async (context) => {
    const request = context.req.valid("json");
    const messages = messagesOf(request);
    const { tools, templateVariables } = chatOptionsOf(request);
    const call = { model: request.model ?? context.req.header("x-inferyard-model"), texts: 1 };
    const outcome = await service.callWithoutModel(callerOf(context), call, ({ reference }, signal) =>
      service.runtime.chatPrompt(messages, {
        ...(tools === undefined ? {} : { tools }),
        ...(templateVariables === undefined ? {} : { templateVariables }),
        model: reference,
        signal,
      }),
    );
    return context.json({ prompt: outcome.result.text }, 200, resultHeaders(outcome));
  });
}

/** A token is written as its text, or as an object with it. */
function contentOf(token: unknown): string {
  const content: unknown = typeof token === "object" && token !== null ? Reflect.get(token, "content") : token;
  return typeof content === "string" ? content : "";
}
