/** Constraints and forced calls in conversations, of models with random weights and the chat templates of several families. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { needsData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("constrained conversations");

/** Of tiny-random-llama. */
const endToken = 2;
const messages = [{ role: "user", content: "Hi" }] as const;
const tools = [
  {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 5 }, days: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["city", "days"],
      additionalProperties: false,
    },
  },
  { name: "now" },
];
const person = {
  type: "object",
  properties: { name: { type: "string", maxLength: 8 }, age: { type: "integer", minimum: 0, maximum: 99 } },
  required: ["name", "age"],
  additionalProperties: false,
} as const;

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "constrained-chat-"));
  const modelOf = (name: string): string => join(folder, name);
  let runtime: Runtime;
  let endOfThoughts = 0;

  beforeAll(async () => {
    for (const [name, template] of Object.entries(chatTemplates)) endOfThoughts = writeChatModel(modelOf(name), template);
    runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  describe.each(Object.keys(chatTemplates))("with the template %s", (name) => {
    it.each([1, 2, 3])("a call that is asked for is one, and fits its schema (seed %i)", async (seed) => {
      const { message, results } = await runtime.chat(messages, {
        model: modelOf(name),
        tools,
        toolChoice: { name: "get_weather" },
        seed,
        temperature: 1,
      });
      expect(results[0]!.finishReason).toBe("toolCalls");
      expect(message).toMatchObject({ content: "", toolCalls: [{ name: "get_weather" }] });
      expect(message.reasoning).toBeUndefined();
      const given = JSON.parse(message.toolCalls![0]!.arguments) as { city: string; days: number };
      expect(Object.keys(given).toSorted()).toEqual(["city", "days"]);
      expect(Array.from(given.city).length).toBeLessThanOrEqual(5);
      expect(Number.isInteger(given.days) && given.days >= 1 && given.days <= 9).toBe(true);
    });

    it("some call is made where one is required, whole and as a stream", async () => {
      const call = { model: modelOf(name), tools, toolChoice: "required", seed: 5, temperature: 1 } as const;
      const { message } = await runtime.chat(messages, call);
      expect(tools.map((tool) => tool.name)).toContain(message.toolCalls?.[0]?.name);
      const stream = await runtime.chat(messages, { ...call, stream: true });
      const events = [];
      for await (const { type } of stream) events.push(type);
      expect(events).toEqual(["toolCall", "finish"]);
    });

    it("a constrained answer fits, with and without tools that may be called", async () => {
      for (const given of [{}, { tools }] as const) {
        const { message } = await runtime.chat(messages, {
          model: modelOf(name),
          ...given,
          constraint: { type: "schema", schema: person },
          logitBias: name === "thinking" ? { [endOfThoughts]: 5 } : {},
          seed: 2,
          temperature: 1,
          maxNewTokens: 600,
        });
        const [call] = message.toolCalls ?? [];
        if (call !== undefined) {
          if (given.tools?.some((tool) => tool.name === call.name) === true) continue;
          throw new Error(`calls ${call.name}`);
        }
        expect((message.reasoning ?? "") !== "").toBe(name === "thinking");
        const value = JSON.parse(message.content) as { name: string; age: number };
        expect(Object.keys(value).toSorted()).toEqual(["age", "name"]);
        expect(value.age).toBeLessThanOrEqual(99);
      }
    });
  });

  it.each([
    [{ toolChoice: "required" }, /there are no tools/],
    [{ tools, toolChoice: { name: "other" } }, /"other", and no tool has that name/],
    [{ tools, toolChoice: "any" as never }, /toolChoice/],
    [{ tools: [{ name: "f", parameters: { type: "string" } }], toolChoice: "required" }, /parameters that are no object/],
    [
      { tools: [{ name: "f", parameters: { properties: { a: { uniqueItems: true } } } }], toolChoice: "required" },
      /tool 0, "f".*uniqueItems/,
    ],
    [{ constraint: { type: "regex", pattern: "(" } }, /invalid/],
    [{ constraint: { type: "json" }, numBeams: 2 }, /numBeams/],
    [{ constraint: { type: "xml" as never } }, /its type is one of/],
    [{ constraint: "json" as never }, /its type is one of/],
  ] as const)("%j is refused", async (options, message) => {
    await expect(runtime.chat(messages, { model: modelOf("tagged"), ...options })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringMatching(message) as string,
    });
  });

  it("an answer does not end within its thoughts", async () => {
    const { message } = await runtime.chat(messages, {
      model: modelOf("thinking"),
      constraint: { type: "choice", choices: ["yes"] },
      logitBias: { [endToken]: 50, [endOfThoughts]: 5 },
      seed: 1,
      temperature: 1,
    });
    expect(message).toMatchObject({ content: "yes", reasoning: expect.stringMatching(/./) as string });
  });

  it("answers stay as the constraint has them, whatever they look like", async () => {
    const choices = ["<think>no</think>", '<tool_call>{"name": "now", "arguments": {}}</tool_call>'];
    for (const text of choices) {
      const { message } = await runtime.chat(messages, {
        model: modelOf("tagged"),
        constraint: { type: "choice", choices: [text] },
      });
      expect(message).toEqual({ role: "assistant", content: text });
    }
  });
});
