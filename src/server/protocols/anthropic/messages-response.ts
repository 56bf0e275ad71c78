/** Responses of Anthropic's messages, whole and as events. */
import { randomUUID } from "node:crypto";
import { at } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import { parseObject } from "../../../formats/json/complete-json.ts";
import type { ChatAnswer, ChatEvent } from "../../../tasks/generation/chat/chat.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { ChatForm } from "../generation/chat-call.ts";
import { serverSentEvent } from "../generation/streamed-body.ts";
import { anthropicErrorBody } from "./errors.ts";

/** How messages are written. */
export const messageForm: ChatForm = {
  whole: ({ results }, { model }) => jsonText(getMessage(model, at(results, 0))),
  parts: (stream, { model }) => messageEvents(model, stream),
  failure: (thrown) => serverSentEvent(anthropicErrorBody(thrown), "error"),
  heartbeat: serverSentEvent({ type: "ping" }, "ping"),
};

/** A new message without content. */
function newMessage(model: string): object {
  return {
    id: `msg_${randomUUID().replaceAll("-", "")}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

/** The whole message. */
function getMessage(model: string, answer: ChatAnswer): object {
  const { reasoning = "", content, toolCalls = [] } = answer.message;
  const blocks = [
    ...(reasoning === "" ? [] : [{ type: "thinking", thinking: reasoning, signature: "" }]),
    ...(content === "" ? [] : [{ type: "text", text: content }]),
    ...toolCalls.map(({ id, name, arguments: given }) => ({ ...toolUse(id, name), input: parseObject(given) })),
  ];
  return { ...newMessage(model), content: blocks, ...getEnd(answer), usage: toUsage(answer) };
}

/** The events of a stream, in Anthropic's order. */
async function* messageEvents(model: string, stream: GenerationStream<unknown, ChatEvent>): AsyncGenerator<string, void> {
  const [read = 0] = stream.promptTokens;
  const usage = { input_tokens: read, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  yield event({ type: "message_start", message: { ...newMessage(model), usage } });
  yield event({ type: "ping" });
  let index = -1;
  let open: "text" | "reasoning" | undefined;
  const close = (): string => {
    if (open === undefined) return "";
    open = undefined;
    return event({ type: "content_block_stop", index });
  };
  for await (const part of stream) {
    if (part.type === "finish") {
      yield close();
      const { stop_reason, stop_sequence } = getEnd(part.result);
      yield event({ type: "message_delta", delta: { stop_reason, stop_sequence }, usage: toUsage(part.result) });
      yield event({ type: "message_stop" });
    } else if (part.type === "toolCall") {
      yield close();
      index += 1;
      const { id, name, arguments: given } = part.call;
      yield event({ type: "content_block_start", index, content_block: { ...toolUse(id, name), input: {} } });
      yield event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: given } });
      yield event({ type: "content_block_stop", index });
    } else {
      const isText = part.type === "text";
      if (open !== part.type) {
        yield close();
        index += 1;
        open = part.type;
        const block = isText ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
        yield event({ type: "content_block_start", index, content_block: block });
      }
      const delta = isText ? { type: "text_delta", text: part.text } : { type: "thinking_delta", thinking: part.text };
      yield event({ type: "content_block_delta", index, delta });
    }
  }
}

function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return serverSentEvent(data, data.type);
}

function toolUse(id: string, name: string): { readonly type: "tool_use"; readonly id: string; readonly name: string } {
  return { type: "tool_use", id: `toolu_${id}`, name };
}

function getEnd({ finishReason, stop }: ChatAnswer): { readonly stop_reason: string; readonly stop_sequence: string | null } {
  const isSequence = typeof stop === "string";
  const reason = isSequence ? "stop_sequence" : { stop: "end_turn", length: "max_tokens", toolCalls: "tool_use" }[finishReason];
  return { stop_reason: reason, stop_sequence: isSequence ? stop : null };
}

/** As Anthropic counts: tokens that were computed for an earlier prompt are not among `input_tokens`. */
function toUsage({ promptTokens, cachedTokens, tokens }: ChatAnswer): object {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: tokens.length,
  };
}
