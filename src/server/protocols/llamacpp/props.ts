/** GET /props and /slots, POST /apply-template of llama.cpp's server. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { defaultDecodeLimits } from "../../../tasks/generation/decode-scheduler.ts";
import { version } from "../../../version.ts";
import { type Env, type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { jsonContent } from "../../http/error-responses.ts";
import { members, name, requestObject } from "../../http/field-schemas.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { CallResult } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { messagesField, toMessages } from "../openai/chat-messages.ts";
import { type ChatCompletionsRequest, toChatOptions } from "../openai/chat-request.ts";
import { toolsField } from "../openai/chat-tools.ts";
import { documentedErrors } from "../openai/errors.ts";
import { modelNotHere } from "../tei/info.ts";

const props = z
  .object({
    default_generation_settings: z.object({
      n_ctx: z.int().openapi({ description: "Tokens of a prompt with its answer at most; 0: unknown" }),
      params: z.record(z.string(), z.unknown()).openapi({ description: "What the model's files say of sampling" }),
    }),
    total_slots: z.int().openapi({ description: "Texts that one model generates at once" }),
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

const modelQuery = z.object({
  model: z.string().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
});

const propsRoute = createRoute({
  method: "get",
  path: "/props",
  summary: "Facts of a model, as llama.cpp; loads nothing",
  request: { query: modelQuery },
  responses: { 200: jsonContent("The model", props), ...documentedErrors },
} satisfies RouteConfig);

const slot = z
  .object({
    id: z.int(),
    n_ctx: z.int().openapi({ description: "Tokens of a prompt with its answer at most; 0: unknown" }),
    speculative: z.literal(false),
    is_processing: z.boolean().openapi({ description: "Whether a text is generated in it. Nothing else is told of texts" }),
  })
  .openapi("LlamaSlot");

const slotsRoute = createRoute({
  method: "get",
  path: "/slots",
  summary: "The places of texts that one model generates at once, as llama.cpp; loads nothing",
  request: { query: modelQuery },
  responses: { 200: jsonContent("The places", z.array(slot)), ...documentedErrors },
} satisfies RouteConfig);

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
    const outcome = await describe(service, context, context.req.valid("query").model);
    const { manifest } = outcome.result;
    const config = manifest.text?.tokenizerConfig ?? {};
    const body = {
      default_generation_settings: { n_ctx: getContextLength(manifest) ?? 0, params: { ...manifest.generation } },
      total_slots: defaultDecodeLimits.maxSequences,
      model_path: outcome.model,
      model_alias: outcome.model,
      chat_template: manifest.chatTemplates?.["default"] ?? "",
      bos_token: toContent(config["bos_token"]),
      eos_token: toContent(config["eos_token"]),
      modalities: { vision: false as const, audio: false as const },
      build_info: `inferyard ${version}`,
      is_sleeping: false as const,
    };
    return context.json(body, 200, resultHeaders(outcome));
  });
  routes.openapi(slotsRoute, async (context) => {
    const { model } = context.req.valid("query");
    const outcome = await describe(service, context, model);
    const { reference } = await service.resolve(getCaller(context), outcome.model);
    const counts = service.runtime.sequences().filter((each) => each.reference === reference);
    const running = counts.reduce((sum, each) => sum + each.running, 0);
    const n_ctx = getContextLength(outcome.result.manifest) ?? 0;
    const slots = Array.from({ length: defaultDecodeLimits.maxSequences }, (_, id) => ({
      id,
      n_ctx,
      speculative: false as const,
      is_processing: id < running,
    }));
    return context.json(slots, 200, resultHeaders(outcome));
  });
  routes.openapi(templateRoute, async (context) => {
    const request = context.req.valid("json");
    const messages = toMessages(request);
    const { tools, templateVariables } = toChatOptions(request);
    const call = { model: request.model ?? context.req.header("x-inferyard-model"), texts: 1 };
    const outcome = await service.callWithoutModel(getCaller(context), call, ({ reference }, signal) =>
      service.runtime.chatPrompt(messages, {
        ...omitUndefined({ tools, templateVariables }),
        model: reference,
        signal,
      }),
    );
    return context.json({ prompt: outcome.result.text }, 200, resultHeaders(outcome));
  });
}

/** The manifest of a model, which is neither loaded nor fetched for it. */
function describe(
  service: Service,
  context: Context<Env>,
  model: string | undefined,
): Promise<CallResult<{ readonly manifest: Manifest }>> {
  return service.describe(getCaller(context), model ?? context.req.header("x-inferyard-model"), {
    loaded: async ({ manifest }) => ({ manifest }),
    files: async (manifest) => ({ manifest }),
    missing: modelNotHere,
  });
}

/** A token is written as its text, or as an object with it. */
function toContent(token: unknown): string {
  const content: unknown = typeof token === "object" && token !== null ? Reflect.get(token, "content") : token;
  return typeof content === "string" ? content : "";
}
