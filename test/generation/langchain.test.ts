/** `inferyard/langchain` with the real `@langchain/core`: answers, streams, tools, structure. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, type AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { tool } from "@langchain/core/tools";
import { type Runtime, createRuntime } from "inferyard";
import { ChatInferyard } from "inferyard/langchain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { needsData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("LangChain.js");

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "langchain-"));
  let runtime: Runtime;
  let model: ChatInferyard;

  beforeAll(async () => {
    writeChatModel(folder, chatTemplates.tagged);
    runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    model = new ChatInferyard({ runtime, model: folder, maxNewTokens: 8 });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  it("invoke and stream give what `chat` gives, with usage", async () => {
    const { results } = await runtime.chat([{ role: "user", content: "Hi" }], { model: folder, maxNewTokens: 8 });
    const [{ message, tokens, promptTokens, finishReason }] = results as [(typeof results)[number]];
    const answer = await model.invoke("Hi");
    expect(answer.text).toBe(message.content);
    expect(answer.usage_metadata).toMatchObject({ input_tokens: promptTokens, output_tokens: tokens.length });
    expect(answer.response_metadata).toEqual({ finish_reason: finishReason, model_name: folder });
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream("Hi")) whole = whole === undefined ? chunk : whole.concat(chunk);
    expect(whole?.text).toBe(message.content);
    expect(whole?.usage_metadata).toMatchObject({ output_tokens: tokens.length });
    const chain = ChatPromptTemplate.fromMessages([["user", "{word}"]])
      .pipe(model)
      .pipe(new StringOutputParser());
    expect(await chain.invoke({ word: "Hi" })).toBe(message.content);
    const given = await model.invoke("Hi", { maxNewTokens: 2 });
    expect(given.usage_metadata).toMatchObject({ output_tokens: 2 });
    expect((await model.batch(["Hi", "Ho"])).map(({ text }) => text)[0]).toBe(message.content);
  });

  it("calls tools that are asked for, and reads their results", async () => {
    const forecast = tool(({ days }: { days: number }) => `sunny for ${days} days`, {
      name: "forecast",
      description: "the weather",
      schema: z.object({ days: z.number().int().min(1).max(9) }),
    });
    const calling = new ChatInferyard({ runtime, model: folder, temperature: 1, seed: 4 });
    for (const choice of ["any", "forecast"]) {
      const answer = await calling.bindTools([forecast], { tool_choice: choice }).invoke("Hi");
      expect(answer.tool_calls).toMatchObject([{ name: "forecast", type: "tool_call" }]);
      const days = answer.tool_calls![0]!.args["days"] as number;
      expect(Number.isInteger(days) && days >= 1 && days <= 9).toBe(true);
    }
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await calling.bindTools([forecast], { tool_choice: "any" }).stream("Hi"))
      whole = whole === undefined ? chunk : whole.concat(chunk);
    expect(whole?.tool_calls).toMatchObject([{ name: "forecast" }]);
    const call = { id: "a1b2c3d4e", name: "forecast", args: { days: 2 }, type: "tool_call" as const };
    const messages = [
      new SystemMessage("Be brief"),
      new HumanMessage("Hi"),
      new AIMessage({ content: "", tool_calls: [call] }),
      new ToolMessage({ content: "sunny", tool_call_id: call.id }),
    ];
    expect((await model.bindTools([forecast]).invoke(messages)).usage_metadata).toMatchObject({ output_tokens: 8 });
  });

  it("gives structured output by zod and by JSON Schema", async () => {
    const drawing = new ChatInferyard({ runtime, model: folder, temperature: 1, seed: 4 });
    const person = z.object({ name: z.string().max(6), age: z.number().int().min(0).max(99) });
    const { name, age } = await drawing.withStructuredOutput(person).invoke("Hi");
    expect([typeof name, Number.isInteger(age)]).toEqual(["string", true]);
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"], additionalProperties: false };
    const { raw, parsed } = await drawing.withStructuredOutput(schema, { includeRaw: true }).invoke("Hi");
    expect(JSON.parse(raw.text)).toEqual(parsed);
    await expect(drawing.withStructuredOutput({ uniqueItems: true }).invoke("Hi")).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });

  it("refuses what it does not read, and ends with an abort", async () => {
    const image = new HumanMessage({ content: [{ type: "image_url", image_url: { url: "data:," } }] });
    await expect(model.invoke([image])).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(model.invoke("Hi", { maxNewToken: 3 } as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const controller = new AbortController();
    const endless = new ChatInferyard({ runtime, model: folder, ignoreEndTokens: true });
    const reading = (async () => {
      for await (const _chunk of await endless.stream("Hi", { signal: controller.signal })) controller.abort();
    })();
    await expect(reading).rejects.toThrow(/abort/i);
  });
});
