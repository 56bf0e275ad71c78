/** GET /props and /slots, POST /apply-template of llama.cpp's server. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { getContextLength } from "../../../models/context-length.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { defaultDecodeLimits } from "../../../tasks/generation/decode-scheduler.ts";
import { version } from "../../../version.ts";
import { type Env, getCaller } from "../../http/context.ts";
import { members, modelField, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, get, post } from "../../http/routes/route.ts";
import type { CallResult } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { readChatPrompt } from "../generation/chat-call.ts";
import { thinkingVariables } from "../generation/thinking-fields.ts";
import { messagesField, toMessages } from "../openai/chat-messages.ts";
import { toTools, toolsField } from "../openai/chat-tools.ts";
import { headerModel } from "../run-task.ts";
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

const query = z.object({
  model: z.string().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
});

const slot = z
  .object({
    id: z.int(),
    n_ctx: z.int().openapi({ description: "Tokens of a prompt with its answer at most; 0: unknown" }),
    speculative: z.literal(false),
    is_processing: z.boolean().openapi({ description: "Whether a text is generated in it. Nothing else is told of texts" }),
  })
  .openapi("LlamaSlot");

const templateRequest = requestObject({
  model: modelField,
  messages: messagesField,
  tools: toolsField.optional(),
  chat_template_kwargs: members().optional().openapi({ description: "Further variables of the model's chat template" }),
}).openapi("ApplyTemplateRequest");

/** The routes. */
export function propsRoutes(service: Service): Route[] {
  return [
    get({
      path: "/props",
      summary: "Facts of a model, as llama.cpp; loads nothing",
      query,
      description: "The model",
      response: props,
      answer: async ({ model }, context) => {
        const outcome = await describe(service, context, model);
        const manifest = outcome.result;
        const config = manifest.text?.tokenizerConfig ?? {};
        const body = {
          default_generation_settings: { n_ctx: getContextLength(manifest) ?? 0, params: { ...manifest.generation } },
          total_slots: defaultDecodeLimits.maxSequences,
          model_path: outcome.model,
          model_alias: outcome.model,
          chat_template: manifest.chatTemplates?.["default"] ?? "",
          bos_token: toContent(config["bos_token"]),
          eos_token: toContent(config["eos_token"]),
          modalities: { vision: false, audio: false },
          build_info: `inferyard ${version}`,
          is_sleeping: false,
        };
        return jsonResponse(context, body, outcome);
      },
    }),
    get({
      path: "/slots",
      summary: "The places of texts that one model generates at once, as llama.cpp; loads nothing",
      query,
      description: "The places",
      response: z.array(slot),
      answer: async ({ model }, context) => {
        const outcome = await describe(service, context, model);
        const { reference } = outcome.resolved;
        const counts = service.runtime.sequences().filter((each) => each.reference === reference);
        const running = counts.reduce((sum, each) => sum + each.running, 0);
        const n_ctx = getContextLength(outcome.result) ?? 0;
        const slots = Array.from({ length: defaultDecodeLimits.maxSequences }, (_, id) => ({
          id,
          n_ctx,
          speculative: false,
          is_processing: id < running,
        }));
        return jsonResponse(context, slots, outcome);
      },
    }),
    post({
      path: "/apply-template",
      summary: "The prompt of a conversation, as llama.cpp; loads nothing",
      schema: templateRequest,
      response: z.object({ prompt: z.string() }).openapi("AppliedTemplate"),
      answer: async ({ model, messages: given, tools, chat_template_kwargs }, context) => {
        const messages = toMessages(given);
        const options = { ...toTools(omitUndefined({ tools })), ...thinkingVariables({ chat_template_kwargs }) };
        const call = { model: headerModel(context, model), messages, options };
        const outcome = await readChatPrompt(service, context, call, ({ text }) => text);
        return jsonResponse(context, { prompt: outcome.result }, outcome);
      },
    }),
  ];
}

/** The manifest of a model, which is neither loaded nor fetched for it. */
function describe(service: Service, context: Context<Env>, model: string | undefined): Promise<CallResult<Manifest>> {
  return service.calls.describe(getCaller(context), headerModel(context, model), {
    loaded: async ({ manifest }) => manifest,
    files: async (manifest) => manifest,
    missing: modelNotHere,
  });
}

/** A token is written as its text, or as an object with it. */
function toContent(token: unknown): string {
  const content: unknown = typeof token === "object" && token !== null ? Reflect.get(token, "content") : token;
  return typeof content === "string" ? content : "";
}
