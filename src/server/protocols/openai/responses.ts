/** POST /v1/responses: an answer as items, whole or as typed events. */
import { randomUUID } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatAnswer, ChatEvent } from "../../../tasks/generation/chat/chat.ts";
import type { ToolCall } from "../../../tasks/generation/chat/messages.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { jsonBody } from "../../http/json-body.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type ChatForm, answerChatCall, readChatPrompt } from "../generation/chat-call.ts";
import { serverSentEvent } from "../generation/streamed-body.ts";
import { openAiErrorBody } from "./errors.ts";
import { type ResponsesCall, responsesForm } from "./responses-request.ts";

/** `POST /v1/responses` and `POST /v1/responses/input_tokens`. */
export function responseRoutes(service: Service): Route[] {
  return [
    post({
      path: "/v1/responses",
      summary: "Answer a conversation with items, as OpenAI",
      schema: responsesForm.schema,
      description: "The response; with `stream`, its events as server-sent events",
      response: z.looseObject({ id: z.string(), object: z.literal("response") }).openapi("Response"),
      media: { "text/event-stream": z.string() },
      answer: async (request, context) => {
        const call = responsesForm.read(request, partIgnorer(context));
        return answerChatCall(service, context, call, responseForm(call, (await jsonBody(context)) as GivenFields));
      },
    }),
    post({
      path: "/v1/responses/input_tokens",
      summary: "Count the tokens of a conversation, as OpenAI",
      schema: responsesForm.schema,
      response: z.object({ object: z.literal("response.input_tokens"), input_tokens: z.int() }).openapi("ResponseInputTokens"),
      answer: async (request, context) => {
        const call = responsesForm.read(request, partIgnorer(context));
        const counted = await readChatPrompt(service, context, call, ({ tokens }) => tokens.length);
        return jsonResponse(context, { object: "response.input_tokens", input_tokens: counted.result }, counted);
      },
    }),
  ];
}

/** How the response to a request is written. `given`: the request as the client wrote it. */
function responseForm(call: ResponsesCall, given: GivenFields): ChatForm {
  let writer: ResponseWriter | undefined;
  const begin = (model: string): ResponseWriter => (writer = new ResponseWriter(call, given, model));
  return {
    whole: ({ results: [answer] }, { model }) => {
      const whole = begin(model);
      for (const _ of whole.whole(answer)) continue;
      return jsonText(whole.response);
    },
    parts: (stream, { model }) => begin(model).events(stream),
    failure: (thrown) => writer?.failure(thrown) ?? "",
  };
}

const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "")}`;

type Item = Record<string, unknown> & { readonly type: string; readonly id: string };

/** Fields that a response repeats as the client wrote them. */
interface GivenFields {
  readonly tools?: unknown;
}

/** Builds a response item by item, and the events that tell of it. */
class ResponseWriter {
  readonly #asked: ResponsesCall;
  readonly #model: string;
  readonly #given: GivenFields;
  readonly #id = newId("resp");
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #output: Item[] = [];
  #sequence = 0;
  #text = "";
  #open: Item | undefined;
  #end: ChatAnswer | undefined;
  #error: unknown;

  constructor(call: ResponsesCall, given: GivenFields, model: string) {
    this.#given = given;
    this.#asked = call;
    this.#model = model;
  }

  /** The response as far as it is known. */
  get response(): object {
    const request = this.#asked.repeated;
    const end = this.#end;
    const isCut = end?.finishReason === "length";
    const status = this.#error !== undefined ? "failed" : end === undefined ? "in_progress" : isCut ? "incomplete" : "completed";
    const usage = end && {
      input_tokens: end.promptTokens,
      input_tokens_details: { cached_tokens: end.cachedTokens },
      output_tokens: end.tokens.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: end.promptTokens + end.tokens.length,
    };
    return {
      id: this.#id,
      object: "response",
      created_at: this.#created,
      status,
      background: false,
      error: this.#error ?? null,
      incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
      instructions: request.instructions ?? null,
      max_output_tokens: request.max_output_tokens ?? null,
      model: this.#model,
      output: [...this.#output],
      parallel_tool_calls: request.parallel_tool_calls ?? true,
      previous_response_id: null,
      reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
      store: false,
      temperature: request.temperature ?? null,
      text: { format: { type: "text" } },
      tool_choice: request.tool_choice ?? "auto",
      tools: this.#given.tools ?? [],
      top_p: request.top_p ?? null,
      truncation: "disabled",
      usage: usage ?? null,
      user: null,
      metadata: request.metadata ?? {},
    };
  }

  /** Builds the response of an answer at once; the events are not needed then. */
  *whole(answer: ChatAnswer | undefined): Generator<string> {
    if (answer === undefined) return;
    const { reasoning = "", content, toolCalls = [] } = answer.message;
    if (reasoning !== "") yield* this.#add("reasoning", reasoning);
    if (content !== "") yield* this.#add("text", content);
    for (const call of toolCalls) yield* this.#call(call);
    yield* this.#finish(answer);
  }

  async *events(stream: GenerationStream<unknown, ChatEvent>): AsyncGenerator<string, void> {
    yield this.#event("response.created", { response: this.response });
    yield this.#event("response.in_progress", { response: this.response });
    for await (const event of stream) {
      if (event.type === "finish") yield* this.#finish(event.result);
      else if (event.type === "toolCall") yield* this.#call(event.call);
      else yield* this.#add(event.type, event.text);
    }
  }

  /** The event of a failure in the middle. */
  failure(thrown: unknown): string {
    const { message, code } = openAiErrorBody(thrown);
    this.#error = { code: "server_error", message };
    return this.#event("response.failed", { response: this.response }) + this.#event("error", { code, message, param: null });
  }

  *#add(type: "text" | "reasoning", delta: string): Generator<string> {
    const itemType = type === "text" ? "message" : "reasoning";
    if (this.#open?.type !== itemType) {
      yield* this.#close();
      yield* this.#openText(itemType);
    }
    this.#text += delta;
    const name = type === "text" ? "response.output_text.delta" : "response.reasoning_text.delta";
    yield this.#event(name, { ...this.#place(), content_index: 0, delta, ...(type === "text" ? { logprobs: [] } : {}) });
  }

  *#openText(type: "message" | "reasoning"): Generator<string> {
    const isMessage = type === "message";
    const rest = isMessage ? { role: "assistant", content: [] } : { summary: [], content: [] };
    this.#open = { id: newId(isMessage ? "msg" : "rs"), type, status: "in_progress", ...rest };
    this.#output.push(this.#open);
    yield this.#event("response.output_item.added", { output_index: this.#output.length - 1, item: this.#open });
    yield this.#event("response.content_part.added", { ...this.#place(), content_index: 0, part: this.#part("") });
  }

  /** Ends the open text. */
  *#close(): Generator<string> {
    if (this.#open === undefined) return;
    const place = { ...this.#place(), content_index: 0 };
    const isMessage = this.#open.type === "message";
    const part = this.#part(this.#text);
    const text = { ...place, text: this.#text };
    if (isMessage) yield this.#event("response.output_text.done", { ...text, logprobs: [] });
    else yield this.#event("response.reasoning_text.done", text);
    yield this.#event("response.content_part.done", { ...place, part });
    const item: Item = { ...this.#open, status: "completed", content: [part] };
    this.#output[this.#output.length - 1] = item;
    yield this.#event("response.output_item.done", { output_index: this.#output.length - 1, item });
    this.#open = undefined;
    this.#text = "";
  }

  *#call(call: ToolCall): Generator<string> {
    yield* this.#close();
    const { type, prefix, fields, inputField, input } = this.#asked.tools.getItem(call);
    const item: Item = { id: newId(prefix), type, status: "in_progress", ...fields, [inputField]: "" };
    this.#output.push(item);
    const output_index = this.#output.length - 1;
    const place = { item_id: item.id, output_index };
    const events = type === "function_call" ? "response.function_call_arguments" : "response.custom_tool_call_input";
    yield this.#event("response.output_item.added", { output_index, item });
    yield this.#event(`${events}.delta`, { ...place, delta: input });
    yield this.#event(`${events}.done`, {
      ...place,
      ...(type === "function_call" ? { name: fields.name } : {}),
      [inputField]: input,
    });
    const done = { ...item, status: "completed", [inputField]: input };
    this.#output[output_index] = done;
    yield this.#event("response.output_item.done", { output_index, item: done });
  }

  *#finish(answer: ChatAnswer): Generator<string> {
    yield* this.#close();
    this.#end = answer;
    const name = answer.finishReason === "length" ? "response.incomplete" : "response.completed";
    yield this.#event(name, { response: this.response });
  }

  #place(): object {
    return { item_id: this.#open?.id, output_index: this.#output.length - 1 };
  }

  #part(text: string): object {
    return this.#open?.type === "reasoning"
      ? { type: "reasoning_text", text }
      : { type: "output_text", text, annotations: [], logprobs: [] };
  }

  #event(type: string, fields: object): string {
    const event = serverSentEvent(jsonText({ type, sequence_number: this.#sequence, ...fields }), type);
    this.#sequence += 1;
    return event;
  }
}
