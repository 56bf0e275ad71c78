/** Routes and fields of other servers of language models: llama.cpp, vLLM, text-generation-inference, LM Studio, Ollama, and Hugging Face's tasks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatTemplates, writeChatModel, writeFillInModel } from "../fixtures/models/chat-models.ts";
import { readReport } from "../fixtures/reports.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("the routes of other servers");
const folder = mkdtempSync(join(tmpdir(), "inferyard-peers-"));
const models = {
  chat: join(folder, "chat"),
  filling: join(folder, "filling"),
  tiny: `${sharedData}tinyllm/tinyllm.gguf`,
  t5: `${sharedData}tiny-random-t5`,
};

type Json = Record<string, unknown>;

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  let handler: Handler;
  /** What the model continues "Once upon" with. */
  let written: { readonly text: string; readonly tokens: readonly number[] };

  beforeAll(async () => {
    writeChatModel(models.chat, chatTemplates.tagged);
    writeFillInModel(models.filling);
    runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    handler = createHandler(runtime, { defaultModel: "tiny", models });
    const { results } = await runtime.generate("Once upon", { model: models.tiny, maxNewTokens: 3 });
    written = results[0]!;
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const send = async (path: string, body?: object): Promise<Response> => {
    const headers = { host: "localhost", "content-type": "application/json" };
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    return handler(new Request(`http://localhost${path}`, init), { remoteAddress: "127.0.0.1", listenAddress: "127.0.0.1" });
  };
  const json = async (path: string, body?: object): Promise<Json> => (await (await send(path, body)).json()) as Json;
  const events = async (path: string, body: object): Promise<Json[]> =>
    (await (await send(path, body)).text())
      .split("\n\n")
      .filter((block) => block.startsWith("data: "))
      .map((block) => JSON.parse(block.slice(6)) as Json);

  describe("llama.cpp", () => {
    const request = { prompt: "Once upon", n_predict: 3, temperature: 0 };

    it("/completion: whole, of several prompts, and as a stream; what it does not know is named", async () => {
      const response = await send("/completion", { ...request, n_probs: 1, return_tokens: true, xtc_probability: 0.5 });
      expect(response.headers.get("x-inferyard-ignored")).toBe("/xtc_probability");
      expect(await response.json()).toMatchObject({
        content: written.text,
        tokens: written.tokens,
        stop: true,
        stop_type: "limit",
        tokens_evaluated: 3,
        completion_probabilities: [{ token: " a", top_logprobs: [{ id: written.tokens[0] }] }, {}, {}],
        timings: { predicted_n: 3 },
      });
      const list = (await json("/completion", {
        ...request,
        prompt: ["Once upon", [1, "a ", 5]],
        stop: [""],
      })) as unknown as Json[];
      expect(list.map(({ index, tokens_evaluated: read }) => [index, read])).toEqual([
        [0, 3],
        [1, 4],
      ]);
      expect(list[0]).toMatchObject({ content: written.text });
      const parts = await events("/completion", { ...request, stream: true });
      expect(parts.map(({ content }) => content).join("")).toBe(written.text);
      expect(parts.map(({ stop }) => stop)).toEqual([false, false, false, true]);
      const biased = await json("/completion", { ...request, logit_bias: [[written.tokens[0], false]] });
      expect(biased["content"]).not.toBe(written.text);
      const constrained = await json("/completion", { ...request, n_predict: -1, json_schema: { const: true } });
      expect(constrained).toMatchObject({ content: "true", stop_type: "eos" });
      expect((await send("/completion", { ...request, mirostat: 2 })).status).toBe(400);
    });

    it("/props, /health, /apply-template, /tokenize, /detokenize and /slots", async () => {
      expect(await json("/props")).toMatchObject({ default_generation_settings: { n_ctx: 128 }, model_alias: "tiny" });
      expect(await json("/health")).toMatchObject({ status: "ok" });
      const applied = await json("/apply-template", { model: "chat", messages: [{ role: "user", content: "a" }] });
      expect(applied).toEqual({ prompt: "user: a\nassistant:" });
      const { tokens } = await json("/tokenize", { content: "Once upon" });
      expect(tokens).toHaveLength(2);
      expect(await json("/tokenize", { content: "Once upon", add_special: true, with_pieces: true })).toMatchObject({
        tokens: [{ id: 1 }, { piece: expect.stringMatching(/Once$/) }, { piece: " upon" }],
      });
      expect(await json("/detokenize", { tokens })).toMatchObject({ content: "Once upon" });
      const slots = (await json("/slots")) as unknown as Json[];
      expect(slots[0]).toEqual({ id: 0, n_ctx: 128, speculative: false, is_processing: false });
    });

    it("/infill, and a suffix elsewhere, for models with such tokens alone", async () => {
      const { results } = await runtime.generate("def f", { model: models.filling, suffix: "end", maxNewTokens: 2 });
      const { text } = results[0]!;
      const infill = { model: "filling", input_prefix: "def f", input_suffix: "end", n_predict: 2 };
      expect(await json("/infill", infill)).toMatchObject({ content: text });
      const completion = { model: "filling", prompt: "def f", suffix: "end", max_tokens: 2 };
      expect(await json("/v1/completions", completion)).toMatchObject({ choices: [{ text }] });
      const generate = { model: "filling", prompt: "def f", suffix: "end", stream: false, options: { num_predict: 2 } };
      expect(await json("/api/generate", generate)).toMatchObject({ response: text });
      for (const [path, body] of [
        ["/infill", infill],
        ["/v1/completions", completion],
        ["/api/generate", generate],
      ] as const) {
        const refused = await send(path, { ...body, model: "tiny" });
        expect([path, refused.status, await refused.text()]).toEqual([path, 400, expect.stringContaining("suffix")]);
      }
    });
  });

  it("vLLM: /version, /tokenize and /detokenize of prompts, and fields of its own", async () => {
    expect(await json("/version")).toMatchObject({ version: expect.stringMatching(/^0\.\d+\.\d+$/) });
    expect(await json("/tokenize", { model: "tiny", prompt: "Once upon", return_token_strs: true })).toMatchObject({
      count: 3,
      max_model_len: 128,
      token_strs: ["<s>", "▁Once", "▁upon"],
    });
    const plain = await json("/tokenize", { model: "tiny", prompt: "Once upon", add_special_tokens: false });
    expect(plain).toMatchObject({ count: 2, token_strs: null });
    expect(await json("/detokenize", { model: "tiny", tokens: plain["tokens"] })).toMatchObject({ prompt: "Once upon" });
    const own = {
      prompt: "Once upon",
      max_tokens: 3,
      min_tokens: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      ignore_eos: true,
    };
    expect(await json("/v1/completions", { ...own, bad_words: ["a"] })).not.toMatchObject({ choices: [{ text: written.text }] });
    const messages = [{ role: "user", content: "a" }];
    const chat = { model: "chat", messages, max_tokens: 1 };
    expect(await json("/v1/chat/completions", { ...chat, add_generation_prompt: false })).toMatchObject({
      object: "chat.completion",
    });
    for (const field of [{ chat_template: "x" }, { continue_final_message: true }])
      expect((await send("/v1/chat/completions", { ...chat, ...field })).status).toBe(400);
  });

  describe("text-generation-inference and the tasks of Hugging Face", () => {
    const parameters = { max_new_tokens: 3 };

    it("/generate, with its details, and /generate_stream", async () => {
      expect(await json("/generate", { inputs: "Once upon", parameters })).toEqual({ generated_text: written.text });
      const asked = { ...parameters, details: true, decoder_input_details: true, top_n_tokens: 1, return_full_text: true };
      expect(await json("/generate", { inputs: "Once upon", parameters: asked })).toMatchObject({
        generated_text: `Once upon${written.text}`,
        details: {
          finish_reason: "length",
          generated_tokens: 3,
          prefill: [{ id: 1, logprob: null }, {}, { text: " upon", logprob: expect.any(Number) }],
          tokens: written.tokens.map((id) => ({ id, special: false })),
          top_tokens: [[{ id: written.tokens[0] }], {}, {}],
        },
      });
      const parts = await events("/generate_stream", { inputs: "Once upon", parameters: { ...parameters, details: true } });
      expect(parts.map(({ token }) => (token as Json)["text"]).join("")).toBe(written.text);
      expect(parts.map((part) => part["generated_text"])).toEqual([null, null, written.text]);
      expect(parts.at(-1)).toMatchObject({ index: 3, details: { finish_reason: "length", input_length: 3 } });
      const grammar = { type: "regex", value: "[xy]{2}" };
      expect(await json("/generate", { inputs: "a", parameters: { truncate: 1, grammar } })).toMatchObject({
        generated_text: expect.stringMatching(/^[xy]{2}$/),
      });
      const refused = await send("/generate", { inputs: "a", parameters: { watermark: true } });
      expect([refused.status, await refused.json()]).toMatchObject([422, { error_type: "Validation" }]);
      expect(await json("/info")).toMatchObject({
        model_id: "tiny",
        max_total_tokens: 128,
        model_pipeline_tag: "text-generation",
      });
    });

    it("text-generation, summarization, translation and text2text-generation, by their paths and by the model", async () => {
      const full = [{ generated_text: `Once upon${written.text}` }];
      for (const path of [
        "/",
        "/models/tiny",
        "/pipeline/text-generation/tiny",
        "/hf-inference/models/tiny/pipeline/text-generation",
      ])
        expect([path, await json(path, { inputs: "Once upon", parameters })]).toEqual([path, full]);
      const [first] = await events("/", { inputs: "Once upon", parameters, stream: true });
      expect(first).toMatchObject({ token: { id: written.tokens[0] } });
      const { results } = await runtime.rewrite("world", { model: models.t5, maxNewTokens: 3 });
      const { text } = results[0]!;
      const body = { inputs: "world", parameters: { generate_parameters: parameters } };
      for (const [task, field] of [
        ["summarization", "summary_text"],
        ["translation", "translation_text"],
        ["translation_en_to_fr", "translation_text"],
        ["text2text-generation", "generated_text"],
      ] as const)
        expect([task, await json(`/pipeline/${task}/t5`, body)]).toEqual([task, [{ [field]: text }]]);
      expect(await json("/models/t5", { ...body, inputs: ["world", "world"] })).toEqual(
        Array.from({ length: 2 }, () => ({ generated_text: text, summary_text: text, translation_text: text })),
      );
    });

    it("completions below a model's address, and with this address as the model", async () => {
      const body = { prompt: "Once upon", max_tokens: 3 };
      const choices = [{ text: written.text }];
      expect(await json("/models/tiny/v1/completions", { ...body, model: "http://localhost/models/tiny" })).toMatchObject({
        choices,
      });
      for (const model of ["http://localhost", "http://localhost/models/tiny/v1"]) {
        const response = await send("/v1/completions", { ...body, model });
        expect(await response.json()).toMatchObject({ choices });
      }
      expect((await send("/v1/completions", { ...body, model: "http://elsewhere/models/tiny" })).status).toBe(404);
    });
  });

  it("LM Studio: /api/v0, and ttl", async () => {
    const { data } = (await json("/api/v0/models")) as { data: Json[] };
    expect(data.find(({ id }) => id === "tiny")).toMatchObject({
      type: "llm",
      state: "loaded",
      max_context_length: 128,
      compatibility_type: "gguf",
    });
    expect(await json("/api/v0/models/chat")).toMatchObject({ id: "chat", type: "llm", capabilities: ["tool_use"] });
    expect((await send("/api/v0/models/nothing")).status).toBe(404);
    const completion = { prompt: "Once upon", max_tokens: 3, ttl: 3600 };
    expect(await json("/api/v0/completions", completion)).toMatchObject({ choices: [{ text: written.text }] });
    const kept = runtime.memory().models.find(({ reference }) => reference === models.tiny);
    expect(kept?.expiresAt).toBeGreaterThan(Date.now() + 3_500_000);
  });

  describe("Ollama", () => {
    const report = readReport("ollama-version");
    it.skipIf(report === undefined)("reports, ollama-version: /api/version is that of the protocol", async () => {
      const { input, expected } = report!;
      for (const [name, { path }] of Object.entries(input.requests!)) {
        const answer = await json(path);
        expect(JSON.stringify(answer)).not.toContain(expected[name]!["lacks"]);
        const [major = 0, minor = 0] = String(answer["version"]).split(".").map(Number);
        expect(major > 0 || minor > 6).toBe(true);
      }
    });

    const options = { num_predict: 3 };

    it("/api/show says what a model can do, its template, its sizes and its sampling", async () => {
      const shown = await json("/api/show", { model: "chat" });
      expect(shown).toMatchObject({
        template: chatTemplates.tagged,
        capabilities: expect.arrayContaining(["completion", "tools"]),
        model_info: { "general.architecture": "llama", "llama.context_length": 1024, "llama.block_count": 2 },
        details: { family: "llama" },
      });
      expect((await json("/api/show", { model: "filling" }))["capabilities"]).toContain("insert");
      const { models: all } = (await json("/api/tags")) as { models: { digest: string }[] };
      expect(all.map(({ digest }) => digest)).toEqual(all.map(() => expect.stringMatching(/^[0-9a-f]{64}$/)));
    });

    it("log probabilities, and a context that the next prompt continues", async () => {
      const request = { model: "tiny", prompt: "Once upon", stream: false, options, logprobs: true, top_logprobs: 2 };
      const answer = (await json("/api/generate", request)) as { context: number[]; logprobs: Json[] };
      expect(answer).toMatchObject({ response: written.text, context: [...answer.context.slice(0, 3), ...written.tokens] });
      expect(answer.logprobs[0]).toMatchObject({ token: " a", bytes: [32, 97], top_logprobs: [{}, {}] });
      const next = (await json("/api/generate", { ...request, prompt: " there", context: answer.context })) as typeof answer;
      expect(next.context.slice(0, answer.context.length)).toEqual(answer.context);
      const messages = [
        { role: "developer", content: null },
        { role: "user", content: [{ type: "text", text: "a" }] },
      ];
      const chat = await json("/api/chat", { model: "chat", messages, stream: false, options, logprobs: true });
      expect(chat["logprobs"]).toHaveLength(3);
    });

    it("options beside options, as the provider of the AI SDK writes them; unknown ones are named", async () => {
      const body = { model: "tiny", prompt: "Once upon", stream: false, max_output_tokens: 3, options: { num_gqa: 1 } };
      const response = await send("/api/generate", { ...body, tool_choice: "auto" });
      expect(response.headers.get("x-inferyard-ignored")?.split(",").toSorted()).toEqual(["/options/num_gqa", "/tool_choice"]);
      expect(await response.json()).toMatchObject({ response: written.text, eval_count: 3 });
    });
  });
});
