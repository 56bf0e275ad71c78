/** Responses of OpenAI's chat completions, whole and in chunks. */
import { randomUUID } from "node:crypto";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ChatAnswer, ChatEvent } from "../../../tasks/generation/chat/chat.ts";
import type { GeneratedLogprob } from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { ChatForm, ChatCallResult } from "../generation/chat-call.ts";
import { serverSentEvent } from "../generation/streamed-body.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import type { ChatCompletionsCall } from "./chat-request.ts";
import { type ToolCallForm, callDelta, callFields } from "./chat-tools.ts";
import { openAiErrorBody } from "./errors.ts";

/** Fields of the response that come from its request. */
export interface ChatCompletion {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Ids, times and the model of a new response. */
export function newCompletion(prefix: string, model: string): ChatCompletion {
  return { id: `${prefix}${randomUUID().replaceAll("-", "")}`, created: Math.floor(Date.now() / 1000), model };
}

/** Numbers of tokens, as OpenAI counts them. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
}

/** The numbers of tokens of a response. The prompt counts once, however many answers it has. */
export function toUsage(results: readonly Pick<ChatAnswer, "tokens" | "promptTokens" | "cachedTokens">[]): Usage {
  const prompt = results[0]?.promptTokens ?? 0;
  const generated = results.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: generated,
    total_tokens: prompt + generated,
    prompt_tokens_details: { cached_tokens: results[0]?.cachedTokens ?? 0 },
  };
}

/** How the answers to a request are written. */
export function chatAnswerForm({ form, includeUsage }: Pick<ChatCompletionsCall, "form" | "includeUsage">): ChatForm {
  return {
    whole: ({ results }, { model, tokenizer }) => JSON.stringify(chatCompletion(model, results, form, new TokenTexts(tokenizer))),
    parts: (stream, { model, tokenizer }) => chatChunks(stream, model, { form, includeUsage, texts: new TokenTexts(tokenizer) }),
    failure: openAiFailure,
    end: serverSentEvent("[DONE]"),
  };
}

/** The part of a stream that tells of what ended it. */
export function openAiFailure(thrown: unknown): string {
  return serverSentEvent({ error: openAiErrorBody(thrown) });
}

function chatCompletion(model: string, results: readonly ChatAnswer[], form: ToolCallForm, texts: TokenTexts): object {
  return {
    ...newCompletion("chatcmpl-", model),
    object: "chat.completion",
    choices: results.map(({ message, finishReason, logprobs }, index) => ({
      index,
      message: {
        role: "assistant",
        content: message.content === "" && message.toolCalls !== undefined ? null : message.content,
        refusal: null,
        ...omitUndefined({ reasoning_content: message.reasoning }),
        ...callFields(message.toolCalls, form),
      },
      logprobs: logprobs === undefined ? null : toLogprobs(logprobs, texts),
      finish_reason: toFinishReason(finishReason, form),
    })),
    usage: toUsage(results),
  };
}

/** The chunks of a stream, from the first to the one before the end mark. Throws the error that ends the stream early. */
async function* chatChunks(
  stream: GenerationStream<ChatCallResult, ChatEvent>,
  model: string,
  { form, includeUsage, texts }: { readonly form: ToolCallForm; readonly includeUsage: boolean; readonly texts: TokenTexts },
): AsyncGenerator<string, void> {
  const about = newCompletion("chatcmpl-", model);
  const begun = new Set<number>();
  const calls = new Map<number, number>();
  const chunk = (index: number, delta: object, rest: object = {}): string =>
    serverSentEvent({
      ...about,
      object: "chat.completion.chunk",
      choices: [{ index, delta, logprobs: null, finish_reason: null, ...rest }],
      ...(includeUsage ? { usage: null } : {}),
    });
  for await (const event of stream) {
    const { index, logprobs } = event;
    if (!begun.has(index)) {
      begun.add(index);
      yield chunk(index, { role: "assistant", content: "", refusal: null });
    }
    const rest = logprobs === undefined ? {} : { logprobs: toLogprobs(logprobs, texts) };
    if (event.type === "text") yield chunk(index, { content: event.text }, rest);
    else if (event.type === "reasoning") yield chunk(index, { reasoning_content: event.text }, rest);
    else if (event.type === "toolCall") {
      const place = calls.get(index) ?? 0;
      calls.set(index, place + 1);
      yield chunk(index, callDelta(event.call, place, form), rest);
    } else yield chunk(index, {}, { ...rest, finish_reason: toFinishReason(event.result.finishReason, form) });
  }
  if (!includeUsage) return;
  const { results } = await stream.result;
  yield serverSentEvent({ ...about, object: "chat.completion.chunk", choices: [], usage: toUsage(results) });
}

/** OpenAI's word for why an answer ended. */
function toFinishReason(
  reason: ChatAnswer["finishReason"],
  { isOlder }: ToolCallForm,
): "stop" | "length" | "tool_calls" | "function_call" {
  if (reason !== "toolCalls") return reason;
  return isOlder ? "function_call" : "tool_calls";
}

function toLogprobs(logprobs: readonly GeneratedLogprob[], texts: TokenTexts): object {
  const token = (id: number, logprob: number): object => {
    const { text, bytes } = texts.shown(id);
    return { token: text, logprob, bytes: [...bytes] };
  };
  const content = logprobs.map(({ token: id, logprob, top }) => ({
    ...token(id, logprob),
    top_logprobs: top.map((each) => token(each.token, each.logprob)),
  }));
  return { content, refusal: null };
}
