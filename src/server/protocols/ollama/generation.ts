/** POST /api/chat and /api/generate: answers as lines of JSON. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { jsonText, parseJson } from "../../../formats/json/exact-json.ts";
import type { ChatAnswer, ChatEvent } from "../../../tasks/generation/chat/chat.ts";
import type { GenerationEvent } from "../../../tasks/generation/generated-text.ts";
import type { Env, Routes } from "../../http/context.ts";
import { messageWithRemedy, publicError } from "../../http/public-error.ts";
import type { Service } from "../../serving/service.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { type OpenedCall, openStream } from "../generation/open-stream.ts";
import { jsonLinesHeaders, streamedBody } from "../generation/streamed-body.ts";
import { documentedErrors } from "./errors.ts";
import {
  type OllamaGenerateRequest,
  chatRequestSchema,
  generateRequestSchema,
  messagesOf,
  samplingOf,
  thinkingOf,
  toolsOf,
} from "./generation-request.ts";
import { type WrittenKeepAlive, applyKeepAlive, loadOrUnload } from "./keep-alive.ts";
import { withoutLatest } from "./request-fields.ts";

const line = z.looseObject({ model: z.string(), created_at: z.string(), done: z.boolean() });

const routeOf = <Request extends z.ZodType>(path: string, summary: string, schema: Request, name: string) =>
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

const chatRoute = routeOf("/api/chat", "Continue a conversation, as Ollama", chatRequestSchema, "OllamaChat");
const generateRoute = routeOf(
  "/api/generate",
  "Generate what follows a prompt, as Ollama",
  generateRequestSchema,
  "OllamaGenerate",
);

/** A part of an answer, and its end. */
type Part =
  | { readonly fields: object }
  | { readonly end: Pick<ChatAnswer, "finishReason" | "tokens" | "promptTokens" | "timings"> };

/** How an answer is written. */
interface Answer<Result, Event> {
  readonly written: string | undefined;
  readonly isStreamed: boolean;
  readonly opened: OpenedCall<Result, Event>;
  /** The part that an event is; undefined: nothing. */
  readonly partOf: (event: Event) => Part | undefined;
  /** One object of the fields of all parts. */
  readonly join: (parts: readonly object[]) => object;
}

/** Adds `POST /api/chat` and `POST /api/generate`. */
export function addGeneration(routes: Routes, service: Service): void {
  routes.openapi(chatRoute, async (context) => {
    const request = context.req.valid("json");
    const model = withoutLatest(request.model);
    const { messages = [], tools, keep_alive: keepAlive, stream = true } = request;
    if (messages.length === 0)
      return respondWithoutText(service, context, model, keepAlive, { message: { role: "assistant", content: "" } });
    const given = messagesOf(messages);
    const options = { ...samplingOf(request), ...toolsOf(tools), ...thinkingOf(request) };
    const opened = await openStream(service, context, { model }, (call) =>
      service.runtime.chat(given, { ...options, ...call, stream: true }),
    );
    await applyKeepAlive(service, context, { model, runsLanguageModel: true }, keepAlive);
    return respond(context, { written: request.model, isStreamed: stream, opened, partOf: chatPart, join: joinMessage });
  });
  routes.openapi(generateRoute, async (context) => {
    const request = context.req.valid("json");
    const model = withoutLatest(request.model);
    const { prompt = "", keep_alive: keepAlive, stream = true } = request;
    refuseUnbuilt(request);
    if (prompt === "") return respondWithoutText(service, context, model, keepAlive, { response: "" });
    const options = samplingOf(request);
    const system =
      request.system === undefined || request.system === "" ? [] : [{ role: "system" as const, content: request.system }];
    const opened = await openStream<unknown, ChatEvent | GenerationEvent>(service, context, { model }, (call) => {
      // Ollama gives a prompt to the model as a message of the user; a model without a chat template gets it as it is.
      if (request.raw !== true && call.model.manifest.chatTemplates !== undefined) {
        const messages = [...system, { role: "user" as const, content: prompt }];
        return service.runtime.chat(messages, { ...options, ...thinkingOf(request), ...call, stream: true });
      }
      if (system.length > 0) throw invalidField("system", "has no effect without a chat template");
      return service.runtime.generate(prompt, { ...options, ...call, stream: true });
    });
    await applyKeepAlive(service, context, { model, runsLanguageModel: true }, keepAlive);
    return respond(context, { written: request.model, isStreamed: stream, opened, partOf: responsePart, join: joinResponse });
  });
}

function refuseUnbuilt({ suffix = "", template = "", images = [], context = [] }: OllamaGenerateRequest): void {
  if (suffix !== "") throw unsupportedField("suffix", "filling in before a suffix", "leave it out");
  if (template !== "")
    throw unsupportedField("template", "templates of requests", "leave it out, or render the prompt and give raw");
  if (images.length > 0) throw unsupportedField("images", "reading images", "send text");
  if (context.length > 0) throw invalidField("context", "is not kept here", "send the conversation to /api/chat");
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
  { written, isStreamed, opened: { stream, model }, partOf, join }: Answer<Result, Event>,
): Promise<never> {
  const name = written ?? model;
  if (!isStreamed) {
    const fields: object[] = [];
    let end: object = {};
    for await (const event of stream) {
      const part = partOf(event);
      if (part !== undefined && "fields" in part) fields.push(part.fields);
      else if (part !== undefined) end = endFields(context, part.end);
    }
    const headers = { "content-type": "application/json" };
    return context.body(jsonText({ ...head(name), ...join(fields), ...end }), 200, headers) as never;
  }
  async function* parts(): AsyncGenerator<string, void> {
    try {
      for await (const event of stream) {
        const part = partOf(event);
        if (part === undefined) continue;
        const fields = "fields" in part ? { ...part.fields, done: false } : { ...join([]), ...endFields(context, part.end) };
        yield `${jsonText({ ...head(name), ...fields })}\n`;
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
  if (event.type === "finish") return { end: event.result };
  if (event.type === "text") return { fields: { message: { role: "assistant", content: event.text } } };
  if (event.type === "reasoning") return { fields: { message: { role: "assistant", content: "", thinking: event.text } } };
  const { id, name, arguments: given } = event.call;
  const call = { id: `call_${id}`, function: { name, arguments: parseJson(given) } };
  return { fields: { message: { role: "assistant", content: "", tool_calls: [call] } } };
}

function responsePart(event: ChatEvent | GenerationEvent): Part | undefined {
  if (event.type === "finish") return { end: event.result };
  if (event.type === "reasoning") return { fields: { response: "", thinking: event.text } };
  return event.type === "text" && event.text !== "" ? { fields: { response: event.text } } : undefined; // there are no tools
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
