/** Prompts and conversations at POST /tokenize, as vLLM takes them: token ids, of a conversation those of the prompt that the model's chat template makes. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { throwIfAborted } from "../../../contract/errors.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import { createYielder } from "../../../tasks/encoding/yielding.ts";
import { type Env, getCaller, resultHeaders } from "../../http/context.ts";
import { members, name, requestObject } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { messagesField, toMessages } from "./chat-messages.ts";
import { type ChatCompletionsRequest, toChatOptions } from "./chat-request.ts";
import { toolsField } from "./chat-tools.ts";

/** A validated request. */
export interface TokenizeConversationRequest extends Pick<
  ChatCompletionsRequest,
  "model" | "messages" | "tools" | "chat_template_kwargs"
> {
  readonly add_generation_prompt?: boolean;
  readonly continue_final_message?: boolean;
  readonly add_special_tokens?: boolean;
  readonly return_token_strs?: boolean;
  readonly chat_template?: string;
}

/** Schema of the request. */
export const tokenizeConversationSchema: z.ZodType<TokenizeConversationRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: that of x-inferyard-model, or the default model" }),
  messages: messagesField,
  tools: toolsField.optional(),
  add_generation_prompt: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the prompt ends where an answer begins. Default: true" }),
  continue_final_message: z.boolean().optional().openapi({
    description: "Whether the prompt ends with the content of the last message; needs add_generation_prompt: false",
  }),
  add_special_tokens: z.boolean().optional().openapi({
    description: "Whether the tokenizer adds its special tokens to those of the template. Default: false",
  }),
  return_token_strs: z.boolean().optional().openapi({ description: "Whether the tokens are given as texts too. Default: false" }),
  chat_template: z.string().optional().openapi({ description: "Refused: templates come from the model" }),
  chat_template_kwargs: members().optional().openapi({ description: "Further variables of the model's chat template" }),
}) as never;

/** Schema of the response. */
export const tokenizedConversation: z.ZodType = z
  .object({
    count: z.int(),
    max_model_len: z.int().nullable().openapi({ description: "Context of the model in tokens; null where its files do not say" }),
    tokens: z.array(z.int()),
    token_strs: z.array(z.string().nullable()).nullable(),
  })
  .openapi("TokenizedConversation");

/** A validated request with a prompt. */
export interface TokenizePromptRequest {
  readonly model?: string;
  readonly prompt: string;
  readonly add_special_tokens?: boolean;
  readonly return_token_strs?: boolean;
}

/** Schema of the request. */
export const tokenizePromptSchema: z.ZodType<TokenizePromptRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: that of x-inferyard-model, or the default model" }),
  prompt: z.string(),
  add_special_tokens: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the tokenizer adds its special tokens. Default: true" }),
  return_token_strs: z.boolean().optional().openapi({ description: "Whether the tokens are given as texts too. Default: false" }),
}) as never;

/** Answers a validated request with a prompt. The model is not loaded. */
export async function tokenizePrompt(service: Service, context: Context<Env>, request: TokenizePromptRequest): Promise<never> {
  const { prompt, add_special_tokens: addSpecialTokens } = request;
  const options = { maxTokens: Number.POSITIVE_INFINITY, ...omitUndefined({ addSpecialTokens }) };
  return answerTokens(service, context, request, async (manifest) => {
    const { ids } = await encodeText(await service.runtime.getTokenizer(manifest), prompt, options);
    return ids;
  });
}

/** Token ids that are written before the event loop gets a turn. */
const tokensPerTurn = 65_536;

/** Answers a validated request. The model is not loaded. */
export async function tokenizeConversation(
  service: Service,
  context: Context<Env>,
  request: TokenizeConversationRequest,
): Promise<never> {
  const { add_generation_prompt: opens = true, continue_final_message: continues = false } = request;
  if (request.chat_template !== undefined)
    throw unsupportedField("chat_template", "a template of the request", "leave it out: the model has its own");
  if (continues && opens)
    throw invalidField("continue_final_message", "is given with add_generation_prompt", "set add_generation_prompt to false");
  const messages = toMessages(request);
  const { tools: offered, chat_template_kwargs: variables } = request;
  const { tools, templateVariables } = toChatOptions(
    omitUndefined({ messages: request.messages, tools: offered, chat_template_kwargs: variables }),
  );
  const options = omitUndefined({
    tools,
    templateVariables: { ...templateVariables, add_generation_prompt: opens },
    continueFinalMessage: continues,
    addSpecialTokens: request.add_special_tokens,
  });
  return answerTokens(service, context, request, async (_manifest, model, signal) => {
    const { tokens } = await service.runtime.chatPrompt(messages, { ...options, model, signal });
    return tokens;
  });
}

/** The response with the tokens that `read` gives. */
async function answerTokens(
  service: Service,
  context: Context<Env>,
  request: Pick<TokenizePromptRequest, "model" | "return_token_strs">,
  read: (manifest: Manifest, reference: string, signal: AbortSignal) => Promise<readonly number[]>,
): Promise<never> {
  const call = { model: request.model ?? context.req.header("x-inferyard-model"), texts: 1 };
  const outcome = await service.callWithoutModel(getCaller(context), call, async ({ reference }, signal) => {
    const manifest = await service.runtime.manifest(reference, { signal });
    const tokens = await read(manifest, reference, signal);
    const tokenizer = request.return_token_strs === true ? await service.runtime.getTokenizer(manifest) : undefined;
    const yieldIfDue = createYielder();
    const [ids, texts]: [string[], string[]] = [[], []];
    for (let from = 0; from < tokens.length; from += tokensPerTurn) {
      const part = tokens.slice(from, from + tokensPerTurn);
      ids.push(part.join(","));
      if (tokenizer !== undefined) texts.push(JSON.stringify(part.map((id) => tokenizer.idToToken(id) ?? null)).slice(1, -1));
      await yieldIfDue();
      throwIfAborted(signal);
    }
    const strings = tokenizer === undefined ? "null" : `[${texts.join(",")}]`;
    const length = JSON.stringify(getContextLength(manifest) ?? null);
    return `{"count":${tokens.length},"max_model_len":${length},"tokens":[${ids.join(",")}],"token_strs":${strings}}`;
  });
  return context.body(outcome.result, 200, { ...resultHeaders(outcome), "content-type": "application/json" }) as never;
}
