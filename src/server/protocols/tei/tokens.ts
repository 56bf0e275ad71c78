/** POST /tokenize and /decode: tokens of texts or of a conversation, and texts of token ids. */
import { createRoute, z } from "@hono/zod-openapi";
import { at } from "../../../contract/checked.ts";
import { throwIfAborted } from "../../../contract/errors.ts";
import { embedSettings } from "../../../tasks/embedding/embed-options.ts";
import { decodeTokens, encodeText } from "../../../tasks/encoding/encode-texts.ts";
import { createYielder } from "../../../tasks/encoding/yielding.ts";
import { type Encoding, convertOffsets } from "../../../tokenizers/index.ts";
import { type Routes, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import {
  arrayAlternative,
  isNumber,
  isObject,
  listOf,
  oneOf,
  text,
  texts,
  tokenIds,
  requestObject,
} from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import {
  type TokenizeConversationRequest,
  type TokenizePromptRequest,
  tokenizeConversation,
  tokenizeConversationSchema,
  tokenizePrompt,
  tokenizePromptSchema,
  tokenizedConversation,
} from "../openai/tokenize-conversation.ts";
import {
  type TokenizeContentRequest,
  tokenizeContent,
  tokenizeContentSchema,
  tokenizedContent,
} from "../llamacpp/tokenize-content.ts";
import { emptyError, documentedErrors } from "./errors.ts";
import { callModel, promptName } from "./requests.ts";

interface TokenizeRequest {
  readonly inputs: string | string[];
  readonly add_special_tokens?: boolean | undefined;
  readonly prompt_name?: string | undefined;
}

const textsRequest = (limit: number): z.ZodType<TokenizeRequest> =>
  requestObject({
    inputs: oneOf<string | string[]>("a string or an array of strings", [
      text,
      { schema: texts(limit), fits: Array.isArray },
    ]).openapi({ example: "a cat" }),
    add_special_tokens: z.boolean().optional().openapi({ description: "Whether to add special tokens. Default: true" }),
    prompt_name: promptName,
  });

/** Several servers have this path: the members of a request tell for which of them it was written. */
const tokenizeRequest = (limit: number) =>
  oneOf<TokenizeRequest | TokenizeConversationRequest | TokenizePromptRequest | TokenizeContentRequest>("an object", [
    { schema: tokenizeConversationSchema, fits: isConversation },
    { schema: tokenizePromptSchema, fits: isPrompt },
    { schema: tokenizeContentSchema, fits: isContent },
    { schema: textsRequest(limit), fits: isObject },
  ]).openapi("TokenizeRequest");

function isConversation(request: unknown): request is TokenizeConversationRequest {
  return isObject(request) && "messages" in request;
}

function isPrompt(request: unknown): request is TokenizePromptRequest {
  return isObject(request) && "prompt" in request;
}

function isContent(request: unknown): request is TokenizeContentRequest {
  return isObject(request) && "content" in request;
}

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
const tokenizeRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/tokenize",
      "Tokenize texts, as text-embeddings-inference (inputs), vLLM (prompt or messages) and llama.cpp (content)",
      tokenizeRequest(limit),
      z.union([z.array(z.array(token)), tokenizedConversation, tokenizedContent]),
      documentedErrors,
    ),
  );

/** Adds POST /tokenize. */
export function addTokenize(routes: Routes, service: Service): void {
  routes.openapi(tokenizeRoute(service.limits.maxTexts), async (context) => {
    const request = context.req.valid("json");
    if (isConversation(request)) return tokenizeConversation(service, context, request);
    if (isPrompt(request)) return tokenizePrompt(service, context, request);
    if (isContent(request)) return (await tokenizeContent(service, context, request)) as never;
    const { inputs, add_special_tokens: special = true, prompt_name: name } = request;
    const texts = typeof inputs === "string" ? [inputs] : inputs;
    if (texts.length === 0) throw emptyError("`inputs`");
    const outcome = await callModel(service, context, texts.length, undefined, async (handle, signal) => {
      const tokenizer = await service.runtime.tokenizer(handle);
      const { promptText: prompt } = embedSettings(handle.manifest, name === undefined ? {} : { prompt: name });
      const options = { prompt, maxTokens: Number.POSITIVE_INFINITY, ...(special ? {} : { addSpecialTokens: false }) };
      const yieldIfDue = createYielder();
      const lists: string[] = [];
      for (const text of texts) {
        throwIfAborted(signal);
        lists.push(await getTokens(await encodeText(tokenizer, text, options), prompt + text, yieldIfDue));
      }
      return `[${lists.join(",")}]`;
    });
    // Serialized in pieces: a million tokens at once would block the event loop.
    return context.body(outcome.result, 200, { ...resultHeaders(outcome), "content-type": "application/json" }) as never;
  });
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
    ids: oneOf<number[] | number[][]>("an array of token ids, or of arrays of token ids", [
      arrayAlternative(tokenIds(), isNumber),
      arrayAlternative(listOf(tokenIds(), { max: limit }), Array.isArray),
    ]).openapi({ example: [101, 1037, 4937, 102] }),
    skip_special_tokens: z.boolean().optional().openapi({ description: "Default: true" }),
  }).openapi("TeiDecodeRequest");
const decodeRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/decode",
      "Decode token ids, as text-embeddings-inference",
      decodeRequest(limit),
      z.array(z.string()),
      documentedErrors,
    ),
  );

/** Adds POST /decode. */
export function addDecode(routes: Routes, service: Service): void {
  routes.openapi(decodeRoute(service.limits.maxTexts), async (context) => {
    const { ids: given, skip_special_tokens: skipSpecialTokens = true } = context.req.valid("json");
    const lists = isNested(given) ? given : [given];
    if (given.length === 0) throw emptyError("`ids`");
    const outcome = await callModel(service, context, lists.length, undefined, async (handle, signal) => {
      const tokenizer = await service.runtime.tokenizer(handle);
      const yieldIfDue = createYielder();
      const texts: string[] = [];
      for (const list of lists) {
        throwIfAborted(signal);
        texts.push(await decodeTokens(tokenizer, list, { skipSpecialTokens }));
        await yieldIfDue();
      }
      return texts;
    });
    return context.json(outcome.result, 200, resultHeaders(outcome));
  });
}

function isNested(list: readonly number[] | readonly (readonly number[])[]): list is readonly (readonly number[])[] {
  return typeof list[0] === "object";
}
