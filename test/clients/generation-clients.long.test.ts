/** Clients of language models that nobody here wrote, unchanged, against `inferyard serve`; skipped with the reason where they cannot be installed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { createInferyard } from "inferyard/ai-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { installNpm, installPython, installedModule, needsInstalled, runPython } from "../fixtures/installed.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { npmClients, pythonClients } from "./fixtures/client-packages.ts";

const [skip, title] = needsData("clients of language models");
const qwen = `${sharedData}tiny-random-qwen2`;
const folder = mkdtempSync(join(tmpdir(), "inferyard-generation-clients-"));
/** A model with a longer context. */
const long = join(folder, "long");
const servers = new ServerProcesses();
let server: ServerProcess;
/** What the library answers. */
let content = "";
const messages = [{ role: "user", content: "Hello world!" }] as const;
const maxTokens = 6;

/** The part of the packages that is used here. They are called as their own documentation calls them. */
type Client = new (options: object) => any; // oxlint-disable-line typescript/no-explicit-any -- types of packages that are not installed
type Package = Readonly<Record<string, any>>; // oxlint-disable-line typescript/no-explicit-any -- as above

beforeAll(async () => {
  if (skip) return;
  writeChatModel(long, chatTemplates.tagged);
  server = await servers.serve(["--model", qwen], { models: { qwen, long } });
  await using runtime = await createRuntime();
  content = (await runtime.chat(messages, { model: qwen, maxNewTokens: maxTokens })).message.content;
});
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe.skipIf(skip)(`${title}, npm: ${npmClients.join(", ")}`, () => {
  needsInstalled(() => installNpm(folder, npmClients));

  it("openai: chat, streams, completions, responses, an abort", async () => {
    const { default: OpenAI } = await installedModule<{ default: Client }>(folder, "openai");
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
    const request = { model: "qwen", messages, max_tokens: maxTokens };
    const whole = await client.chat.completions.create(request);
    expect(whole.choices[0].message.content).toBe(content);
    const chunks = await all<Package>(await client.chat.completions.create({ ...request, stream: true }));
    expect(chunks.map(({ choices }) => choices[0].delta.content ?? "").join("")).toBe(content);
    const final = await client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion();
    expect([final.choices[0].message.content, final.usage.completion_tokens]).toEqual([content, maxTokens]);
    const response = await client.responses
      .stream({ model: "qwen", input: "Hello world!", max_output_tokens: maxTokens })
      .finalResponse();
    expect(response.output_text).toBe(content);
    const aborted = await client.chat.completions.create({ ...request, stream: true });
    aborted.controller.abort();
    await expect(client.chat.completions.create({ ...request, response_format: { type: "xml" } })).rejects.toMatchObject({
      status: 400,
    });
  });

  it("openai: structured output by zod, and a call that is asked for", async () => {
    const { default: OpenAI } = await installedModule<{ default: Client }>(folder, "openai");
    const { zodResponseFormat, zodFunction } = await installedModule<Package>(folder, "openai/helpers/zod");
    const { z } = await installedModule<Package>(folder, "zod");
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
    const request = { model: "long", messages, temperature: 1, seed: 5 };
    const schema = z.object({ name: z.string().max(5), tags: z.array(z.enum(["a", "b"])).max(2) });
    const completion = await client.chat.completions.parse({ ...request, response_format: zodResponseFormat(schema, "person") });
    expect(schema.safeParse(completion.choices[0].message.parsed).success).toBe(true);
    const parameters = z.object({ days: z.number().int().min(1).max(9) });
    const tools = [zodFunction({ name: "forecast", parameters })];
    const calling = await client.chat.completions.parse({ ...request, tools, tool_choice: "required" });
    expect(parameters.safeParse(calling.choices[0].message.tool_calls[0].function.parsed_arguments).success).toBe(true);
  });

  it("@anthropic-ai/sdk: messages, streams, counting", async () => {
    const { default: Anthropic } = await installedModule<{ default: Client }>(folder, "@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: server.url, apiKey: "none" });
    const request = { model: "qwen", max_tokens: maxTokens, messages };
    const whole = await client.messages.create(request);
    expect(whole.content[0].text).toBe(content);
    const final = await client.messages.stream(request).finalMessage();
    expect([final.content, final.stop_reason, final.usage.output_tokens]).toEqual([whole.content, "max_tokens", maxTokens]);
    expect(await client.messages.countTokens({ model: "qwen", messages })).toMatchObject({
      input_tokens: whole.usage.input_tokens,
    });
  });

  it("@anthropic-ai/sdk: the tool runner, turn by turn", async () => {
    const { default: Anthropic } = await installedModule<{ default: Client }>(folder, "@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: server.url, apiKey: "none" });
    const given: unknown[] = [];
    const tool = {
      name: "f",
      description: "d",
      input_schema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false },
      parse: (input: unknown) => input,
      run: (input: unknown) => `got ${given.push(input)}`,
    };
    const request = { model: "long", max_tokens: 60, messages, tools: [tool], tool_choice: { type: "any" }, max_iterations: 2 };
    const last = await client.beta.messages.toolRunner(request);
    expect(given[0]).toEqual({ a: expect.any(Number) });
    expect(last).toMatchObject({ role: "assistant", usage: { output_tokens: expect.any(Number) } });
  });

  it("ollama: chat and generate, whole and in lines", async () => {
    const { Ollama } = await installedModule<{ Ollama: Client }>(folder, "ollama");
    const client = new Ollama({ host: server.url });
    const options = { num_predict: maxTokens };
    expect((await client.chat({ model: "qwen", messages, options })).message.content).toBe(content);
    const lines = await all<Package>(await client.generate({ model: "qwen", prompt: "Hello world!", options, stream: true }));
    expect(lines.map(({ response }) => response).join("")).toBe(content);
    expect((await client.show({ model: "qwen" })).capabilities).toContain("completion");
  });

  it("ai: generateText and streamText", async () => {
    const { generateText, streamText } = await installedModule<Package>(folder, "ai");
    const { createOpenAICompatible } = await installedModule<Package>(folder, "@ai-sdk/openai-compatible");
    const model = createOpenAICompatible({ name: "inferyard", baseURL: `${server.url}/v1` })("qwen");
    const request = { model, prompt: "Hello world!", maxOutputTokens: maxTokens };
    const { text, finishReason } = await generateText(request);
    expect([text, finishReason]).toEqual([content, "length"]);
    expect((await all(streamText(request).textStream as AsyncIterable<string>)).join("")).toBe(content);
  });

  it("ai with inferyard/ai-sdk: text, streams, embeddings, reranking", async () => {
    const { generateText, streamText, embed, embedMany, rerank } = await installedModule<Package>(folder, "ai");
    await using runtime = await createRuntime();
    const inferyard = createInferyard(runtime);
    const request = { model: inferyard(qwen), messages, maxOutputTokens: maxTokens, temperature: 0 };
    const whole = await generateText(request);
    expect([whole.text, whole.finishReason, whole.usage.outputTokens]).toEqual([content, "length", maxTokens]);
    const stream = streamText(request);
    expect((await all<string>(stream.textStream)).join("")).toBe(content);
    expect((await stream.totalUsage).outputTokens).toBe(maxTokens);
    const values = ["a cat sits", "a dog barks"];
    const { embeddings } = await embedMany({ model: inferyard.embeddingModel(), values });
    expect(embeddings).toEqual((await runtime.embed(values)).embeddings.map((vector) => [...vector]));
    expect((await embed({ model: inferyard.textEmbeddingModel(), value: values[0] })).usage.tokens).toBeGreaterThan(1);
    const { ranking } = await rerank({ model: inferyard.rerankingModel(), query: "barking", documents: values, topN: 1 });
    expect(ranking).toMatchObject([{ originalIndex: 1, document: values[1] }]);
    const aborted = AbortSignal.abort();
    await expect(generateText({ ...request, abortSignal: aborted, maxRetries: 0 })).rejects.toBeDefined();
  });

  it("ai with inferyard/ai-sdk: objects and tools", async () => {
    const { generateText, Output, tool, stepCountIs } = await installedModule<Package>(folder, "ai");
    const { z } = await installedModule<Package>(folder, "zod");
    await using runtime = await createRuntime({ target: "native" });
    const request = { model: createInferyard(runtime)(long), messages, temperature: 1, seed: 5 };
    const schema = z.object({ name: z.string().max(5), tags: z.array(z.enum(["a", "b"])).max(2) });
    const { output } = await generateText({ ...request, output: Output.object({ schema }) });
    expect(schema.safeParse(output).success).toBe(true);
    const days: number[] = [];
    const forecast = tool({
      description: "the weather",
      inputSchema: z.object({ days: z.number().int().min(1).max(9) }),
      execute: (given: { days: number }) => {
        days.push(given.days);
        return "sunny";
      },
    });
    const { toolResults } = await generateText({
      ...request,
      tools: { forecast },
      toolChoice: { type: "tool", toolName: "forecast" },
      stopWhen: stepCountIs(1),
    });
    expect(days).toHaveLength(1);
    expect(toolResults).toMatchObject([{ toolName: "forecast", output: "sunny" }]);
  });

  it("@langchain/openai: invoke and stream", async () => {
    const { ChatOpenAI } = await installedModule<{ ChatOpenAI: Client }>(folder, "@langchain/openai");
    const options = { model: "qwen", maxTokens, apiKey: "none", configuration: { baseURL: `${server.url}/v1` } };
    const model = new ChatOpenAI(options);
    expect((await model.invoke("Hello world!")).content).toBe(content);
    const parts = await all<Package>(await model.stream("Hello world!"));
    expect(parts.map((part) => part["content"]).join("")).toBe(content);
  });
});

describe.skipIf(skip)(`${title}, PyPI: ${pythonClients.join(", ")}`, () => {
  needsInstalled(() => installPython(folder, pythonClients));

  it("openai, anthropic and ollama: whole and as streams", () => {
    const printed = runPython(
      folder,
      [
        "import json, os, openai, anthropic, ollama",
        'url = os.environ["URL"]',
        'messages = [{"role": "user", "content": "Hello world!"}]',
        'client = openai.OpenAI(base_url=url + "/v1", api_key="none")',
        `request = dict(model="qwen", messages=messages, max_tokens=${maxTokens})`,
        "a = client.chat.completions.create(**request).choices[0].message.content",
        'b = "".join(c.choices[0].delta.content or "" for c in client.chat.completions.create(**request, stream=True))',
        'claude = anthropic.Anthropic(base_url=url, api_key="none")',
        "c = claude.messages.create(**request).content[0].text",
        "with claude.messages.stream(**request) as stream:",
        '    d = "".join(stream.text_stream)',
        "local = ollama.Client(host=url)",
        `options = dict(num_predict=${maxTokens})`,
        'e = local.chat(model="qwen", messages=messages, options=options).message.content',
        'f = "".join(p.response for p in local.generate(model="qwen", prompt="Hello world!", options=options, stream=True))',
        "print(json.dumps([a, b, c, d, e, f]))",
      ],
      { URL: server.url },
    );
    expect(printed).toEqual(Array.from({ length: 6 }, () => content));
  });
});
