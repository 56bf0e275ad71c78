import { expect, test } from "vitest";
import type { Runtime } from "../api/runtime.ts";
import type { ChatMessage } from "../tasks/generation/chat/messages.ts";
import { languageModel } from "./language-model.ts";

const written = '{"id":1234567890123456789,"ratio":1.0}';

test("arguments that JSON.parse changes come back as the model wrote them, unless they were changed", async () => {
  const asked: (readonly ChatMessage[])[] = [];
  const results = [
    { message: { content: "", toolCalls: [{ id: "a", name: "f", arguments: written }] }, finishReason: "toolCalls", tokens: [] },
  ];
  const chat = (messages: readonly ChatMessage[]): Promise<unknown> => {
    asked.push(messages);
    return Promise.resolve({ results });
  };
  const model = languageModel({ chat } as unknown as Runtime, "model");
  const { content } = await model.doGenerate({ prompt: [] });
  expect(content).toEqual([
    {
      type: "tool-call",
      toolCallId: "a",
      toolName: "f",
      input: written,
      providerMetadata: { inferyard: { arguments: written } },
    },
  ]);
  const providerOptions = { inferyard: { arguments: written } };
  const parts = [JSON.parse(written), { id: 7 }].map((input: unknown) => ({
    type: "tool-call",
    toolCallId: "a",
    toolName: "f",
    input,
    providerOptions,
  }));
  await model.doGenerate({ prompt: [{ role: "assistant", content: parts }] });
  expect(asked[1]?.[0]?.toolCalls?.map((call) => call.arguments)).toEqual([written, '{"id":7}']);
});
