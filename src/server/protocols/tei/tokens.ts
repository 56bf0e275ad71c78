/** POST /tokenize and /decode: tokens of texts or of a conversation, and texts of token ids. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { at, omitUndefined, required } from "../../../contract/checked.ts";
import { throwIfAborted } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { embedSettings } from "../../../tasks/embedding/embed-options.ts";
import { decodeTokens, encodeText } from "../../../tasks/encoding/encode-texts.ts";
import { createYielder } from "../../../tasks/encoding/yielding.ts";
import { type Encoding, convertOffsets } from "../../../tokenizers/index.ts";
import { type Env, resultHeaders } from "../../http/context.ts";
import {
  arrayAlternative,
  isNumberField,
  listField,
  oneOfFields,
  requestObject,
  textField,
  texts,
  tokenIds,
} from "../../http/field-schemas.ts";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { RequestForm } from "../../http/routes/request-form.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type AnsweredForm, answeredForm } from "../answered-form.ts";
import { tokenizeContent, tokenizeContentForm, tokenizedContent } from "../llamacpp/tokenize-content.ts";
import {
  answerTokens,
  tokenizeConversationForm,
  tokenizePromptForm,
  tokenizedConversation,
} from "../openai/tokenize-conversation.ts";
import { headerModel, runTask } from "../run-task.ts";
import { emptyError } from "./errors.ts";
import { promptName } from "./requests.ts";

const textsRequest = (limit: number) =>
  requestObject({
    inputs: oneOfFields<string | string[]>("a string or an array of strings", [
      textField,
      { schema: texts(limit), fits: Array.isArray },
    ]).openapi({ example: "a cat" }),
    add_special_tokens: z.boolean().optional().openapi({ description: "Whether to add special tokens. Default: true" }),
    prompt_name: promptName,
  });

type TextsRequest = z.infer<ReturnType<typeof textsRequest>>;

const token = z
  .object({
    id: z.int(),
    text: z.string(),
    special: z.boolean(),
    start: z
      .int()
      .optional()
      .openapi({ description: "Offset in code points of the prompt and the text; special tokens have none" }),
    stop: z.int().optional(),
  })
  .openapi("TeiToken");
/** POST /tokenize. Several servers have this path: a member of a request tells for which of them it was written. */
export function tokenizeRoute(service: Service): Route {
  const form = <Call>(
    { schema, read }: RequestForm<Call>,
    answer: (service: Service, context: Context<Env>, call: Call) => Promise<Response>,
  ): AnsweredForm => answeredForm(schema, (request, context) => answer(service, context, read(request, partIgnorer(context))));
  const servers = {
    messages: form(tokenizeConversationForm, answerTokens),
    prompt: form(tokenizePromptForm, answerTokens),
    content: form(tokenizeContentForm, tokenizeContent),
  };
  const alternatives = [
    ...Object.entries(servers).map(([member, server]) => ({
      ...server,
      fits: (request: unknown) => isObject(request) && member in request,
    })),
    {
      ...answeredForm(textsRequest(service.limits.maxTexts), (request, context) => tokenizeTexts(service, context, request)),
      fits: isObject,
    },
  ];
  return post({
    path: "/tokenize",
    summary: "Tokenize texts, as text-embeddings-inference (inputs), vLLM (prompt or messages) and llama.cpp (content)",
    schema: oneOfFields("an object", alternatives).openapi("TokenizeRequest"),
    response: z.union([z.array(z.array(token)), tokenizedConversation, tokenizedContent]),
    answer: (request, context) => {
      const server = alternatives.find(({ fits }) => fits(request));
      return required(server, "the server of a valid request").answer(request, context);
    },
  });
}

async function tokenizeTexts(
  service: Service,
  context: Context<Env>,
  { inputs, add_special_tokens: special = true, prompt_name: prompt }: TextsRequest,
): Promise<Response> {
  const texts = typeof inputs === "string" ? [inputs] : inputs;
  if (texts.length === 0) throw emptyError("`inputs`");
  const call = { model: headerModel(context), texts: texts.length };
  const outcome = await runTask(service, context, call, async ({ model, signal }) => {
    const tokenizer = await service.runtime.tokenizer(model);
    const { promptText } = embedSettings(model.manifest, omitUndefined({ prompt }));
    const maxTokens = Number.POSITIVE_INFINITY;
    const options = { prompt: promptText, maxTokens, ...(special ? {} : { addSpecialTokens: false }) };
    const yieldIfDue = createYielder();
    const lists: string[] = [];
    for (const text of texts) {
      throwIfAborted(signal);
      lists.push(await getTokens(await encodeText(tokenizer, text, options), promptText + text, yieldIfDue));
    }
    return `[${lists.join(",")}]`;
  });
  // Serialized in pieces: a million tokens at once would block the event loop.
  return context.body(outcome.result, 200, { ...resultHeaders(outcome), "content-type": "application/json" });
}

/** Tokens serialized before the event loop gets a turn. */
const tokensPerTurn = 4096;

/** The tokens of one text as JSON. */
async function getTokens(encoding: Encoding, text: string, yieldIfDue: () => Promise<void> | undefined): Promise<string> {
  const { ids, tokens, offsets, specialTokensMask } = encoding;
  const positions = convertOffsets(offsets, text, "codepoints");
  const tokenAt = (id: number, index: number): z.infer<typeof token> => {
    if (specialTokensMask[index] === 1) return { id, text: at(tokens, index), special: true };
    const [from, to] = [2 * index, 2 * index + 1];
    return {
      id,
      text: text.slice(offsets[from], offsets[to]),
      special: false,
      start: at(positions, from),
      stop: at(positions, to),
    };
  };
  const parts: string[] = [];
  for (let from = 0; from < ids.length; from += tokensPerTurn) {
    const part = ids.slice(from, from + tokensPerTurn).map((id, index) => tokenAt(id, from + index));
    parts.push(JSON.stringify(part).slice(1, -1));
    await yieldIfDue();
  }
  return `[${parts.join(",")}]`;
}

const decodeRequest = (limit: number) =>
  requestObject({
    ids: oneOfFields<number[] | number[][]>("an array of token ids, or of arrays of token ids", [
      arrayAlternative(tokenIds(), isNumberField),
      arrayAlternative(listField(tokenIds(), { max: limit }), Array.isArray),
    ]).openapi({ example: [101, 1037, 4937, 102] }),
    skip_special_tokens: z.boolean().optional().openapi({ description: "Default: true" }),
  }).openapi("TeiDecodeRequest");

/** POST /decode. */
export function decodeRoute(service: Service): Route {
  return post({
    path: "/decode",
    summary: "Decode token ids, as text-embeddings-inference",
    schema: decodeRequest(service.limits.maxTexts),
    response: z.array(z.string()),
    answer: async ({ ids: given, skip_special_tokens: skipSpecialTokens = true }, context) => {
      const lists = isNested(given) ? given : [given];
      if (given.length === 0) throw emptyError("`ids`");
      const call = { model: headerModel(context), texts: lists.length };
      const outcome = await runTask(service, context, call, async ({ model, signal }) => {
        const tokenizer = await service.runtime.tokenizer(model);
        const yieldIfDue = createYielder();
        const texts: string[] = [];
        for (const list of lists) {
          throwIfAborted(signal);
          texts.push(await decodeTokens(tokenizer, list, { skipSpecialTokens }));
          await yieldIfDue();
        }
        return texts;
      });
      return jsonResponse(context, outcome.result, outcome);
    },
  });
}

function isNested(list: readonly number[] | readonly (readonly number[])[]): list is readonly (readonly number[])[] {
  return typeof list[0] === "object";
}
