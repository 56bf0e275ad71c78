import { AIMessageChunk } from "@langchain/core/messages";
import { expect, test } from "vitest";
import type { ChatAnswer } from "../tasks/generation/chat/chat.ts";
import { messageFrom, messageTo } from "./messages.ts";

const written = '{"id":1234567890123456789,"ratio":1.0,"10":"ten","9":"nine"}';
const call = { id: "a1b2c3d4e", name: "get_user", arguments: written };

test("arguments of calls go back as the model wrote them, whole, streamed or copied, and as they are where they were changed", () => {
  const answer = { message: { role: "assistant", content: "", toolCalls: [call] }, finishReason: "toolCalls", tokens: [] };
  const message = messageTo(answer as unknown as ChatAnswer, "model");
  expect(message.tool_calls?.[0]?.args).toEqual(JSON.parse(written));
  expect(message.additional_kwargs.tool_calls?.[0]?.function.arguments).toBe(written);
  expect(messageFrom(message).toolCalls).toEqual([call]);

  const chunks = [written.slice(0, 20), written.slice(20)].map(
    (args) =>
      new AIMessageChunk({
        content: "",
        tool_call_chunks: [{ type: "tool_call_chunk", id: call.id, name: call.name, args, index: 0 }],
      }),
  );
  const [first, second] = [
    chunks[0]!,
    new AIMessageChunk({ content: "", tool_call_chunks: [{ args: written.slice(20), index: 0 }] }),
  ];
  expect(messageFrom(first.concat(second)).toolCalls).toEqual([call]);

  message.tool_calls = [{ ...message.tool_calls![0]!, args: { id: 7 } }];
  expect(messageFrom(message).toolCalls?.[0]?.arguments).toBe('{"id":7}');
});
