/** What HTTP requests say a text must be, in the forms of OpenAI, vLLM, llama.cpp, Anthropic and Ollama; and calls that they ask for. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { needsData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("constrained requests");
const parameters = {
  type: "object",
  properties: { days: { type: "integer", minimum: 1, maximum: 9 } },
  required: ["days"],
  additionalProperties: false,
};
/** A response, of one of several APIs. */
type Body = any; // oxlint-disable-line typescript/no-explicit-any -- each API has its own
const messages = [{ role: "user", content: "Hi" }];
const schema = { type: "array", items: { type: "boolean" }, minItems: 2, maxItems: 2 };
const sampling = { temperature: 1, seed: 3 };

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "constrained-routes-"));
  let runtime: Runtime;
  let handler: Handler;

  beforeAll(async () => {
    writeChatModel(folder, chatTemplates.tagged);
    runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    handler = createHandler(runtime, { models: { tagged: folder }, defaultModel: "tagged" });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  async function ask(path: string, body: object): Promise<{ readonly status: number; readonly body: Body }> {
    const headers = { "content-type": "application/json" };
    const response = await handler(
      new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
    );
    return { status: response.status, body: await response.json() };
  }

  const isPair = (text: string): boolean => {
    const value = JSON.parse(text) as unknown;
    return Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === "boolean");
  };

  it.each([
    { response_format: { type: "json_schema", json_schema: { name: "pair", schema, strict: true } } },
    { response_format: { type: "json_object", schema } },
    { guided_json: schema },
    { guided_json: JSON.stringify(schema) },
    { structured_outputs: { json: schema } },
    { json_schema: schema },
  ])("chat completions: %j", async (fields) => {
    const { body } = await ask("/v1/chat/completions", { messages, ...sampling, ...fields });
    expect(isPair(body.choices[0].message.content)).toBe(true);
    expect(body.choices[0].finish_reason).toBe("stop");
  });

  it.each([
    [{ guided_regex: "a{3}b" }, /^aaab$/],
    [{ structured_outputs: { regex: "a{3}b" } }, /^aaab$/],
    [{ guided_choice: ["red", "green"] }, /^(?:red|green)$/],
    [{ guided_grammar: 'root ::= "x" "y"+ "z"' }, /^xy+z$/],
    [{ grammar: 'root ::= "x" "y"+ "z"' }, /^xy+z$/],
    [{ structured_outputs: { choice: ["red"], whitespace_pattern: null } }, /^red$/],
    [{ response_format: { type: "text" }, max_tokens: 3 }, /^.*$/s],
  ])("completions: %j", async (fields, pattern) => {
    const { body } = await ask("/v1/completions", { prompt: "Hello", max_tokens: 200, ...sampling, ...fields });
    expect(body.choices[0].text).toMatch(pattern);
  });

  it("responses, messages and Ollama's routes", async () => {
    const response = await ask("/v1/responses", {
      input: "Hi",
      temperature: 1,
      text: { format: { type: "json_schema", name: "pair", schema } },
    });
    expect(isPair(response.body.output[0].content[0].text)).toBe(true);
    for (const fields of [
      { output_format: { type: "json_schema", schema } },
      { output_config: { format: { type: "json_schema", schema } } },
    ]) {
      const { body } = await ask("/v1/messages", { messages, max_tokens: 200, temperature: 1, ...fields });
      expect(isPair(body.content[0].text)).toBe(true);
    }
    const chat = await ask("/api/chat", { messages, stream: false, format: schema, options: { temperature: 1 } });
    expect(isPair(chat.body.message.content)).toBe(true);
    const generated = await ask("/api/generate", { prompt: "Hi", stream: false, format: schema, options: { temperature: 1 } });
    expect(isPair(generated.body.response)).toBe(true);
  });

  it("calls that are asked for", async () => {
    const isDays = (text: string): boolean => {
      const { days } = JSON.parse(text) as { days: number };
      return Number.isInteger(days) && days >= 1 && days <= 9;
    };
    const tools = [{ type: "function", function: { name: "forecast", parameters } }];
    for (const choice of ["required", { type: "function", function: { name: "forecast" } }]) {
      const { body } = await ask("/v1/chat/completions", { messages, tools, tool_choice: choice, ...sampling });
      const [{ message, finish_reason: reason }] = body.choices;
      expect([message.content, reason, message.tool_calls[0].function.name]).toEqual([null, "tool_calls", "forecast"]);
      expect(isDays(message.tool_calls[0].function.arguments)).toBe(true);
    }
    const response = await ask("/v1/responses", {
      input: "Hi",
      tools: [{ type: "function", name: "forecast", parameters }],
      tool_choice: { type: "function", name: "forecast" },
    });
    expect(response.body.output).toMatchObject([{ type: "function_call", name: "forecast" }]);
    for (const choice of [{ type: "any" }, { type: "tool", name: "forecast" }]) {
      const { body } = await ask("/v1/messages", {
        messages,
        max_tokens: 200,
        tools: [{ name: "forecast", input_schema: parameters }],
        tool_choice: choice,
      });
      expect(body).toMatchObject({ stop_reason: "tool_use", content: [{ type: "tool_use", name: "forecast" }] });
      expect(isDays(JSON.stringify(body.content[0].input))).toBe(true);
    }
  });

  it.each([
    ["/v1/chat/completions", { response_format: "json" }, "response_format"],
    ["/v1/chat/completions", { response_format: { type: "json_schema" } }, "response_format"],
    ["/v1/chat/completions", { guided_regex: "a", guided_choice: ["b"] }, "guided_choice"],
    ["/v1/chat/completions", { structured_outputs: { structural_tag: "x" } }, "structured_outputs.structural_tag"],
    ["/v1/chat/completions", { guided_json: "{" }, "guided_json"],
    ["/v1/chat/completions", { tool_choice: "any" }, "tool_choice"],
    ["/v1/chat/completions", { tool_choice: "required" }, null],
    ["/v1/chat/completions", { guided_regex: "(" }, null],
    ["/v1/chat/completions", { guided_json: { uniqueItems: true } }, null],
    ["/v1/responses", { text: { format: { type: "json_schema" } }, input: "a" }, "text.format"],
  ])("%s with %j is refused", async (path, fields, param) => {
    const { status, body } = await ask(path, { ...(path === "/v1/responses" ? {} : { messages }), ...fields });
    expect([status, body.error.param, body.error.retryable]).toEqual([400, param, false]);
  });
});
