/** POST /api/chat and /api/generate: answers as lines of JSON. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { parseObject } from "../../../formats/json/complete-json.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatAnswer, ChatEvent } from "../../../tasks/generation/chat/chat.ts";
import type { GeneratedLogprob, GenerationEvent } from "../../../tasks/generation/generated-text.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import type { Env, Routes } from "../../http/context.ts";
import { messageWithRemedy, publicError } from "../../http/public-error.ts";
import type { Service } from "../../serving/service.ts";
import { type OpenedCall, openStream } from "../generation/open-stream.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { jsonLinesHeaders, streamedBody } from "../generation/streamed-body.ts";
import { documentedErrors } from "./errors.ts";
import { chatRequestSchema, generateRequestSchema, toMessages, toSampling, toThinking, toTools } from "./generation-request.ts";
import { readPrompt, refuseUnbuilt } from "./generate-prompt.ts";
import { ollamaLogprobs } from "./logprobs.ts";
import { type WrittenKeepAlive, applyKeepAlive, loadOrUnload } from "./keep-alive.ts";
import { withoutLatest } from "./request-fields.ts";

const line = z.looseObject({ model: z.string(), created_at: z.string(), done: z.boolean() });

const getRoute = <Request extends z.ZodType>(path: string, summary: string, schema: Request, name: string) =>
  createRoute({
    method: "post",
    path,
    summary,
    request: { body: { required: true, content: { "application/json": { schema } } } },
    responses: {
      200: {
        description: "The answer in lines of JSON while it is generated; without `stream`, as one object",
        content: { "application/json": { schema: line.openapi(name) }, "application/x-ndjson": { schema: z.string() } },
      },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

const chatRoute = getRoute("/api/chat", "Continue a conversation, as Ollama", chatRequestSchema, "OllamaChat");
const generateRoute = getRoute(
  "/api/generate",
  "Generate what follows a prompt, as Ollama",
  generateRequestSchema,
  "OllamaGenerate",
);

/** What the last fields of an answer are made of. */
type Ended = Pick<ChatAnswer, "finishReason" | "tokens" | "promptTokens" | "timings">;

/** A part of an answer, or its end; both with the log probabilities of tokens. */
interface Part {
  readonly fields: object;
  readonly end?: Ended;
  readonly logprobs?: readonly GeneratedLogprob[] | undefined;
}

/** How an answer is written. */
interface Answer<Result, Event> {
  readonly written: string | undefined;
  readonly isStreamed: boolean;
  readonly opened: OpenedCall<Result, Event>;
  /** The part that an event is; undefined: nothing. */
  readonly getPart: (event: Event) => Part | undefined;
  /** One object of the fields of all parts. */
  readonly join: (parts: readonly object[]) => object;
  /** Undefined unless tokens are given with their log probabilities. */
  readonly tokenizer: Tokenizer | undefined;
  /** Tokens of the prompt, which the answer ends with as `context`. Default: it has none. */
  readonly context?: readonly number[];
}

/** Adds `POST /api/chat` and `POST /api/generate`. */
export function addGeneration(routes: Routes, service: Service): void {
  routes.openapi(chatRoute, async (context) => {
    const request = context.req.valid("json");
    const model = withoutLatest(request.model);
    const { messages = [], tools, keep_alive: keepAlive, stream = true } = request;
    if (messages.length === 0)
      return respondWithoutText(service, context, model, keepAlive, { message: { role: "assistant", content: "" } });
    const given = toMessages(messages);
    const options = { ...toSampling(request), ...toTools(tools), ...toThinking(request) };
    let tokenizer: Tokenizer | undefined;
    const opened = await openStream(service, context, { model }, async (call) => {
      if (request.logprobs === true) tokenizer = await service.runtime.tokenizer(call.model);
      return service.runtime.chat(given, { ...options, ...call, stream: true });
    });
    await applyKeepAlive(service, context, { model, runsLanguageModel: true }, keepAlive);
    const answer = { written: request.model, isStreamed: stream, opened, tokenizer };
    return respond(context, { ...answer, getPart: chatPart, join: joinMessage });
  });
  routes.openapi(generateRoute, async (context) => {
    const request = context.req.valid("json");
    const model = withoutLatest(request.model);
    const { prompt = "", suffix = "", keep_alive: keepAlive, stream = true } = request;
    refuseUnbuilt(request);
    if (prompt === "" && suffix === "") return respondWithoutText(service, context, model, keepAlive, { response: "" });
    const prompted: { tokenizer?: Tokenizer; context?: readonly number[] } = {};
    const opened = await openStream<unknown, ChatEvent | GenerationEvent>(service, context, { model }, async (call) => {
      if (request.logprobs === true) prompted.tokenizer = await service.runtime.tokenizer(call.model);
      const read = await readPrompt(service, request, call);
      if (read.context !== undefined) prompted.context = read.context;
      const options = { ...toSampling(request), ...call, stream: true as const };
      if ("messages" in read) return service.runtime.chat(read.messages, { ...options, ...toThinking(request) });
      return service.runtime.generate(read.prompt, { ...options, ...read.options });
    });
    await applyKeepAlive(service, context, { model, runsLanguageModel: true }, keepAlive);
    const answer = { written: request.model, isStreamed: stream, opened, tokenizer: undefined, ...prompted };
    return respond(context, { ...answer, getPart: responsePart, join: joinResponse });
  });
}

/** Answers a request without a prompt, which loads the model, or unloads it with a keep-alive of 0. */
async function respondWithoutText(
  service: Service,
  context: Context<Env>,
  model: string | undefined,
  keepAlive: WrittenKeepAlive,
  empty: object,
): Promise<never> {
  const done = await loadOrUnload(service, context, model, keepAlive);
  return context.json({ ...head(done.model), ...empty, done: true, done_reason: done.reason }, 200) as never;
}

async function respond<Result, Event>(
  context: Context<Env>,
  { written, isStreamed, opened: { stream, model }, getPart, join, tokenizer, context: promptTokens }: Answer<Result, Event>,
): Promise<never> {
  const name = written ?? model;
  const ending = (end: Ended): object => ({
    ...endFields(context, end),
    ...(promptTokens === undefined ? {} : { context: [...promptTokens, ...end.tokens] }),
  });
  const texts = new TokenTexts(tokenizer);
  const toLogprobs = (logprobs: readonly GeneratedLogprob[] = []): object =>
    logprobs.length === 0 ? {} : { logprobs: ollamaLogprobs(logprobs, texts) };
  if (!isStreamed) {
    const fields: object[] = [];
    const logprobs: GeneratedLogprob[] = [];
    let end: object = {};
    for await (const event of stream) {
      const part = getPart(event);
      logprobs.push(...(part?.logprobs ?? []));
      if (part?.end !== undefined) end = ending(part.end);
      else if (part !== undefined) fields.push(part.fields);
    }
    const headers = { "content-type": "application/json" };
    return context.body(jsonText({ ...head(name), ...join(fields), ...end, ...toLogprobs(logprobs) }), 200, headers) as never;
  }
  async function* parts(): AsyncGenerator<string, void> {
    try {
      for await (const event of stream) {
        const part = getPart(event);
        if (part === undefined) continue;
        const { end, logprobs } = part;
        const fields = end === undefined ? { ...part.fields, done: false } : { ...join([]), ...ending(end) };
        yield `${jsonText({ ...head(name), ...fields, ...toLogprobs(logprobs) })}\n`;
      }
    } catch (error) {
      yield `${JSON.stringify({ error: messageWithRemedy(publicError(error)) })}\n`;
    } finally {
      await stream.cancel();
    }
  }
  return context.body(streamedBody(parts()), 200, jsonLinesHeaders) as never;
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
