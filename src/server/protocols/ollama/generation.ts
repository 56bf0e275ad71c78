/** POST /api/chat and /api/generate: answers as lines of JSON. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { parseObject } from "../../../formats/json/complete-json.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatAnswer, ChatEvent } from "../../../tasks/generation/chat/chat.ts";
import type { GeneratedLogprob, GenerationEvent } from "../../../tasks/generation/generated-text.ts";
import type { Env } from "../../http/context.ts";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { messageWithRemedy, publicError } from "../../http/public-error.ts";
import { type Route, type RouteDescription, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { streamedAnswer } from "../generation/answer.ts";
import { type OpenedCall, openStream } from "../generation/open-stream.ts";
import { jsonLinesHeaders } from "../generation/streamed-body.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { readPrompt } from "./generate-prompt.ts";
import { type OllamaChatCall, type OllamaGenerateCall, ollamaChatForm, generateForm } from "./generation-request.ts";
import { loadOrUnload } from "./keep-alive.ts";
import { ollamaLogprobs } from "./logprobs.ts";

const line = z.looseObject({ model: z.string(), created_at: z.string(), done: z.boolean() });

const describe = (path: string, summary: string, schemaName: string): RouteDescription => ({
  path,
  summary,
  description: "The answer in lines of JSON while it is generated; without `stream`, as one object",
  response: line.openapi(schemaName),
  media: { "application/x-ndjson": z.string() },
});

/** What the last fields of an answer are made of. */
type Ended = Pick<ChatAnswer, "finishReason" | "tokens" | "promptTokens" | "timings">;

/** A part of an answer, or its end; both with the log probabilities of tokens. */
interface Part {
  readonly fields: object;
  readonly end?: Ended;
  readonly logprobs?: readonly GeneratedLogprob[] | undefined;
}

/** How the answers of a route are written. */
interface AnswerForm<Event> {
  /** The part that an event is; undefined: nothing. */
  readonly getPart: (event: Event) => Part | undefined;
  /** One object of the fields of all parts. */
  readonly join: (parts: readonly object[]) => object;
}

/** `POST /api/chat` and `POST /api/generate`. */
export function generationRoutes(service: Service): Route[] {
  const { runtime } = service;
  return [
    post({
      ...describe("/api/chat", "Continue a conversation, as Ollama", "OllamaChat"),
      schema: ollamaChatForm.schema,
      answer: async (request, context) => {
        const call: OllamaChatCall = ollamaChatForm.read(request, partIgnorer(context));
        const { messages, options } = call;
        if (messages.length === 0)
          return respondWithoutText(service, context, call, { message: { role: "assistant", content: "" } });
        const opened = await openStream(service, context, {
          ...call,
          start: (on) => runtime.chat(messages, { ...options, ...on, stream: true }),
        });
        return respond(context, call, opened, { getPart: chatPart, join: joinMessage });
      },
    }),
    post({
      ...describe("/api/generate", "Generate what follows a prompt, as Ollama", "OllamaGenerate"),
      schema: generateForm.schema,
      answer: async (request, context) => {
        const call: OllamaGenerateCall = generateForm.read(request, partIgnorer(context));
        if (call.prompt === "" && call.suffix === "") return respondWithoutText(service, context, call, { response: "" });
        let promptTokens: readonly number[] | undefined;
        const opened = await openStream<unknown, ChatEvent | GenerationEvent>(service, context, {
          ...call,
          start: async (on) => {
            const read = await readPrompt(service, call, on);
            promptTokens = read.context;
            const options = { ...call.sampling, ...on, stream: true as const };
            if ("messages" in read) return runtime.chat(read.messages, { ...options, ...call.thinking });
            return runtime.generate(read.prompt, { ...options, ...read.options });
          },
        });
        return respond(context, call, opened, { getPart: responsePart, join: joinResponse }, promptTokens);
      },
    }),
  ];
}

/** Answers a request without a prompt, which loads the model, or unloads it with a keep-alive of 0. */
async function respondWithoutText(
  service: Service,
  context: Context<Env>,
  { model, keepAlive }: Pick<OllamaChatCall, "model" | "keepAlive">,
  empty: object,
): Promise<Response> {
  const done = await loadOrUnload(service, context, model, keepAlive);
  return context.json({ ...head(done.model), ...empty, done: true, done_reason: done.reason }, 200);
}

/** `promptTokens`: those that the answer ends with, before its own, as `context`. Default: it has none. */
async function respond<Result, Event>(
  context: Context<Env>,
  { written, isStreamed }: Pick<OllamaChatCall, "written" | "isStreamed">,
  opened: OpenedCall<Result, Event>,
  { getPart, join }: AnswerForm<Event>,
  promptTokens?: readonly number[],
): Promise<Response> {
  const name = written ?? opened.model;
  const ending = (end: Ended): object => ({
    ...endFields(context, end),
    ...(promptTokens === undefined ? {} : { context: [...promptTokens, ...end.tokens] }),
  });
  const texts = new TokenTexts(opened.tokenizer);
  const shownLogprobs = (logprobs: readonly GeneratedLogprob[] = []): object =>
    logprobs.length === 0 ? {} : { logprobs: ollamaLogprobs(logprobs, texts) };
  if (!isStreamed) {
    const fields: object[] = [];
    const logprobs: GeneratedLogprob[] = [];
    let end: object = {};
    for await (const event of opened.stream) {
      const part = getPart(event);
      logprobs.push(...(part?.logprobs ?? []));
      if (part?.end !== undefined) end = ending(part.end);
      else if (part !== undefined) fields.push(part.fields);
    }
    const whole = jsonText({ ...head(name), ...join(fields), ...end, ...shownLogprobs(logprobs) });
    return context.body(whole, 200, { "content-type": "application/json" });
  }
  return streamedAnswer(context, opened, {
    async *parts(stream) {
      for await (const event of stream) {
        const part = getPart(event);
        if (part === undefined) continue;
        const { end, logprobs } = part;
        const fields = end === undefined ? { ...part.fields, done: false } : { ...join([]), ...ending(end) };
        yield `${jsonText({ ...head(name), ...fields, ...shownLogprobs(logprobs) })}\n`;
      }
    },
    failure: (thrown) => `${JSON.stringify({ error: messageWithRemedy(publicError(thrown)) })}\n`,
    heartbeat: undefined,
    headers: jsonLinesHeaders,
  });
}

const head = (model: string): object => ({ model, created_at: new Date().toISOString() });

/** The last fields, with times in nanoseconds. */
function endFields(
  context: Context<Env>,
  {
    finishReason,
    tokens,
    promptTokens,
    timings: { firstTokenMs, totalMs },
  }: Pick<ChatAnswer, "finishReason" | "tokens" | "promptTokens" | "timings">,
): object {
  const nanoseconds = (milliseconds: number): number => Math.round(milliseconds * 1e6);
  const loadMs = context.get("call")?.loadMs ?? 0;
  return {
    done: true,
    done_reason: finishReason === "length" ? "length" : "stop",
    total_duration: nanoseconds(loadMs + totalMs),
    load_duration: nanoseconds(loadMs),
    prompt_eval_count: promptTokens,
    prompt_eval_duration: nanoseconds(firstTokenMs),
    eval_count: tokens.length,
    eval_duration: nanoseconds(totalMs - firstTokenMs),
  };
}

function chatPart(event: ChatEvent): Part | undefined {
  const { logprobs } = event;
  if (event.type === "finish") return { fields: {}, end: event.result, logprobs };
  return { fields: { message: { role: "assistant", content: "", ...messageFields(event) } }, logprobs };
}

function messageFields(event: Exclude<ChatEvent, { readonly type: "finish" }>): object {
  if (event.type === "text") return { content: event.text };
  if (event.type === "reasoning") return { thinking: event.text };
  const { id, name, arguments: given } = event.call;
  return { tool_calls: [{ id: `call_${id}`, function: { name, arguments: parseObject(given) } }] };
}

function responsePart(event: ChatEvent | GenerationEvent): Part | undefined {
  const logprobs = toLogprobs(event);
  if (event.type === "finish") return { fields: {}, end: event.result, logprobs };
  if (event.type === "reasoning") return { fields: { response: "", thinking: event.text }, logprobs };
  if (event.type !== "text") return undefined; // there are no tools
  return event.text === "" && logprobs === undefined ? undefined : { fields: { response: event.text }, logprobs };
}

function toLogprobs(event: ChatEvent | GenerationEvent): readonly GeneratedLogprob[] | undefined {
  if ("logprobs" in event) return event.logprobs;
  return "logprob" in event && event.logprob !== undefined ? [event.logprob] : undefined;
}

interface MessageFields {
  readonly message?: { readonly content?: string; readonly thinking?: string; readonly tool_calls?: readonly unknown[] };
  readonly response?: string;
  readonly thinking?: string;
}

function joinMessage(parts: readonly MessageFields[]): object {
  const messages = parts.map(({ message = {} }) => message);
  const thinking = messages.map((message) => message.thinking ?? "").join("");
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  return {
    message: {
      role: "assistant",
      content: messages.map(({ content = "" }) => content).join(""),
      ...(thinking === "" ? {} : { thinking }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  };
}

function joinResponse(parts: readonly MessageFields[]): object {
  const thinking = parts.map((part) => part.thinking ?? "").join("");
  return { response: parts.map(({ response = "" }) => response).join(""), ...(thinking === "" ? {} : { thinking }) };
}
