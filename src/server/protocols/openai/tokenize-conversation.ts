/** Prompts and conversations at POST /tokenize, as vLLM takes them: token ids, of a conversation those of the prompt that the model's chat template makes. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { throwIfAborted } from "../../../contract/errors.ts";
import { getContextLength } from "../../../models/context-length.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import { createYielder } from "../../../tasks/encoding/yielding.ts";
import { type Env, getCaller, resultHeaders } from "../../http/context.ts";
import { headerModelField, members, requestObject } from "../../http/field-schemas.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import type { Service } from "../../serving/service.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { thinkingVariables } from "../generation/thinking-fields.ts";
import { headerModel } from "../run-task.ts";
import { messagesField, toMessages } from "./chat-messages.ts";
import { toTools, toolsField } from "./chat-tools.ts";

/** Reads the tokens of a request from the model's files; the model is not loaded. */
type ReadTokens = (service: Service, manifest: Manifest, reference: string, signal: AbortSignal) => Promise<readonly number[]>;

/** A request for tokens. */
export interface TokenizeCall {
  readonly model: string | undefined;
  /** Whether the tokens are given as texts too. */
  readonly withTexts: boolean;
  readonly read: ReadTokens;
}

const shared = {
  model: headerModelField,
  return_token_strs: z.boolean().optional().openapi({ description: "Whether the tokens are given as texts too. Default: false" }),
};

/** Requests with a conversation. */
export const tokenizeConversationForm: RequestForm<TokenizeCall> = requestForm(
  requestObject({
    model: shared.model,
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
    return_token_strs: shared.return_token_strs,
    chat_template: z.string().optional().openapi({ description: "Refused: templates come from the model" }),
    chat_template_kwargs: members().optional().openapi({ description: "Further variables of the model's chat template" }),
  }),
  ({ model, add_generation_prompt: opens = true, continue_final_message: continues = false, ...request }) => {
    if (request.chat_template !== undefined)
      throw unsupportedField("chat_template", "a template of the request", "leave it out: the model has its own");
    if (continues && opens)
      throw invalidField("continue_final_message", "is given with add_generation_prompt", "set add_generation_prompt to false");
    const messages = toMessages(request.messages);
    const options = omitUndefined({
      tools: toTools(request).tools,
      templateVariables: { ...thinkingVariables(request).templateVariables, add_generation_prompt: opens },
      continueFinalMessage: continues,
      addSpecialTokens: request.add_special_tokens,
    });
    const read: ReadTokens = async ({ runtime }, _manifest, reference, signal) =>
      (await runtime.chatPrompt(messages, { ...options, model: reference, signal })).tokens;
    return { model, withTexts: request.return_token_strs ?? false, read };
  },
);

/** Requests with a prompt. */
export const tokenizePromptForm: RequestForm<TokenizeCall> = requestForm(
  requestObject({
    model: shared.model,
    prompt: z.string(),
    add_special_tokens: z
      .boolean()
      .optional()
      .openapi({ description: "Whether the tokenizer adds its special tokens. Default: true" }),
    return_token_strs: shared.return_token_strs,
  }),
  ({ model, prompt, add_special_tokens: addSpecialTokens, return_token_strs: withTexts = false }) => {
    const options = { maxTokens: Number.POSITIVE_INFINITY, ...omitUndefined({ addSpecialTokens }) };
    const read: ReadTokens = async ({ runtime }, manifest) =>
      (await encodeText(await runtime.getTokenizer(manifest), prompt, options)).ids;
    return { model, withTexts, read };
  },
);

/** Schema of the response. */
export const tokenizedConversation: z.ZodType = z
  .object({
    count: z.int(),
    max_model_len: z.int().nullable().openapi({ description: "Context of the model in tokens; null where its files do not say" }),
    tokens: z.array(z.int()),
    token_strs: z.array(z.string().nullable()).nullable(),
  })
  .openapi("TokenizedConversation");

/** Token ids that are written before the event loop gets a turn. */
const tokensPerTurn = 65_536;

/** Answers a request. The model is not loaded. */
export async function answerTokens(service: Service, context: Context<Env>, call: TokenizeCall): Promise<Response> {
  const named = { model: headerModel(context, call.model) };
  const outcome = await service.calls.runWithoutModel(getCaller(context), named, async ({ reference }, signal) => {
    const manifest = await service.runtime.manifest(reference, { signal });
    const tokens = await call.read(service, manifest, reference, signal);
    const tokenizer = call.withTexts ? await service.runtime.getTokenizer(manifest) : undefined;
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
  return context.body(outcome.result, 200, { ...resultHeaders(outcome), "content-type": "application/json" });
}
