/** Conversations with models as they are published: ends of turns, templates, the prompt as it is shown and tokenized. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { askedMembers, readReport } from "../fixtures/reports.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("conversations with models as they are published");
const reports = `${sharedData}reports`;
const toolModel = `${reports}/tool-use-template/model`;

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  /** One for all requests, since making one builds the schemas of all routes. */
  let handler: Handler;
  const folder = mkdtempSync(join(tmpdir(), "published-"));
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
    handler = createHandler(runtime, {
      models: { ...reportModels(), tools: toolModel, refusing: join(folder, "refusing"), variables: join(folder, "variables") },
    });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  async function post(path: string, body: object): Promise<{ readonly status: number } & Record<string, unknown>> {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await handler(new Request(`http://localhost${path}`, init));
    return { status: response.status, ...((await response.json()) as object) };
  }

  const folders = [
    "eos-tokenizer",
    "gguf-im-end-type",
    "mistral-tool-ids",
    "tool-call-forms",
    "tool-use-template",
    "typed-content-template",
    "xml-argument-types",
  ];

  /** The models of the folders, each under the folder's name and its own. */
  function reportModels(): Readonly<Record<string, string>> {
    const all = folders.flatMap((name) => {
      const { folder: place, input } = readReport(name)!;
      return Object.entries(input.models ?? {}).map(([model, path]) => [`${name}/${model}`, join(place, path)] as const);
    });
    return Object.fromEntries(all);
  }

  it.each(folders)("%s", async (name) => {
    const { input, expected } = readReport(name)!;
    for (const [request, { path, body }] of Object.entries(input.requests ?? {})) {
      const { reference: _, contains = "", lacks, ...right } = expected[request]!;
      const answer = await post(path, {
        max_tokens: name === "xml-argument-types" ? 100 : 12,
        ...body,
        model: `${name}/${String(body["model"])}`,
      });
      expect(askedMembers(answer, right), request).toEqual(right);
      const text = JSON.stringify(answer);
      expect(text.includes(String(contains)) && !(typeof lacks === "string" && text.includes(lacks)), text).toBe(true);
    }
  });

  it.each(["jinja-break-continue", "jinja-null-argument"])("%s", async (name) => {
    const { input, expected } = readReport(name)!;
    for (const [request, { template, context }] of Object.entries(input.templates ?? {})) {
      expect(await shown(template, JSON.stringify(context))).toEqual({ prompt: expected[request]!["text"], tokens: null });
    }
  });

  let files = 0;
  /** Writes a file, and returns its path. */
  function written(text: string): string {
    files += 1;
    const path = join(folder, `${files}.txt`);
    writeFileSync(path, text);
    return path;
  }

  /** What `chat --show-prompt --json` prints for a template and the text of a file; undefined where it refuses or fails. */
  async function shown(template: string, conversation: string): Promise<unknown> {
    const flags = ["--template", written(template), "--messages", written(conversation), "--date", "2026-11-26T12:00", "--json"];
    const { code, stdout } = await inferyard(["chat", "--show-prompt", ...flags]);
    return code === 0 ? JSON.parse(stdout) : undefined;
  }

  it("published templates are shown as Jinja2 renders them: one conversation of each", async () => {
    const lines = readFileSync(`${sharedData}chat-templates/templates.jsonl`, "utf8").trim().split("\n");
    for (const [index, line] of lines.entries()) {
      const { template, cases } = JSON.parse(line) as {
        template: string;
        cases: readonly { readonly context: object; readonly expected?: string }[];
      };
      const { context, expected } = cases[index % cases.length]!;
      const right = expected === undefined ? undefined : { prompt: expected, tokens: null };
      expect(await shown(template, JSON.stringify(context))).toEqual(right);
    }
  });

  it("the prompt is shown as it is written: numbers, keys, bare tools", async () => {
    const list = '[{"role": "user", "content": "a", "extra": {"10": 1.0, "9": 12345678901234567890}}]';
    expect(await shown("{{ messages[0].extra | tojson }}{{ tools is none }}{{ bos_token }}{{ eos_token }}", list)).toEqual({
      prompt: '{"10": 1.0, "9": 12345678901234567890}True<s></s>',
      tokens: null,
    });
    const bare = '{"messages": [], "tools": [{"name": "f", "parameters": {"maximum": 1.0}}], "bos_token": "B"}';
    const template = "{{ bos_token }}{{ tools[0].function.name }}{{ tools | tojson }}{{ strftime_now('%d.%m.%Y %H') }}";
    expect(await shown(template, bare)).toMatchObject({
      prompt: 'Bf[{"type": "function", "function": {"name": "f", "parameters": {"maximum": 1.0}}}]26.11.2026 12',
    });
  });

  it("a refusal of the template exits with 1 and has a code of its own, and a failure names the line", async () => {
    const conversation = written('[{"role": "user", "content": "a"}]');
    const show = (template: string) =>
      inferyard(["chat", "--show-prompt", "--template", written(template), "--messages", conversation]);
    expect(await show("{{ raise_exception('no') }}")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("refuses the conversation: no [TEMPLATE_REFUSED]"),
    });
    expect(await show("a\n{{ nothing.at.all }}")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/fails in line 2.*MODEL_INVALID/s),
    });
    expect(await show("{{ messages[0].content }}")).toEqual({ code: 0, stdout: "a\n", stderr: "" });
  });

  const tools = [{ type: "function", function: { name: "forecast", parameters: { type: "object", properties: {} } } }];

  it("the prompt of a model is shown with its tokens, and nothing is loaded", async () => {
    const file = written(JSON.stringify({ messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }], tools }));
    const { code, stdout } = await inferyard(["chat", "--show-prompt", toolModel, "--messages", file, "--json"]);
    const { prompt, tokens } = JSON.parse(stdout) as { prompt: string; tokens: number[] };
    expect(code).toBe(0);
    expect(prompt).toMatch(
      /^<\|im_start\|>system\nTools:\{"type": "function", "function": \{"name": "forecast", "parameters".*<\|im_start\|>user\nhi<\|im_end\|>\n<\|im_start\|>assistant\n$/s,
    );
    expect(tokens.slice(0, 2)).toEqual([258, 115]); // <|im_start|>s
    const said = await inferyard(["chat", "--show-prompt", "--model", toolModel, "hi", "--system", "Be brief"]);
    expect(said.stdout).toBe("<|im_start|>system\nBe brief<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n\n");
    const own = ["--template", written("{{ messages[0].content }}!{{ strftime_now('%Y') }}"), "--date", "2001-02-03"];
    expect((await inferyard(["chat", "--show-prompt", toolModel, "hi", ...own])).stdout).toBe("hi!2001\n");
  });

  it.each([
    [["--messages", "x.json"], "--messages has an effect with --show-prompt alone"],
    [["--show-prompt"], "there is no conversation"],
    [["--show-prompt", "--messages", "nowhere.json", "--template", "x"], "cannot be read"],
    [["--show-prompt", "a", "b", "--date", "today"], "no date"],
  ])("%j is refused", async (flags, problem) => {
    expect(await inferyard(["chat", ...flags])).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  });

  it("POST /tokenize gives the tokens of a conversation, as vLLM does", async () => {
    const request = { model: "tools", messages: [{ role: "user", content: "hi" }] };
    const plain = await post("/tokenize", request);
    const { text, tokens } = await runtime.chatPrompt([{ role: "user", content: "hi" }], { model: toolModel });
    expect(plain).toEqual({ status: 200, count: tokens.length, max_model_len: 2048, tokens, token_strs: null });
    const texts = await post("/tokenize", { ...request, return_token_strs: true, add_generation_prompt: false });
    expect((texts["token_strs"] as string[]).join("").replaceAll("Ċ", "\n")).toBe(text.replace(/<\|im_start\|>assistant\n$/, ""));
    const withTools = await post("/tokenize", { ...request, tools });
    expect(withTools["count"]).toBeGreaterThan(plain["count"] as number);
    const begun = { ...request, messages: [...request.messages, { role: "assistant", content: "So" }] };
    const open = { add_generation_prompt: false, continue_final_message: true, return_token_strs: true };
    const continued = await post("/tokenize", { ...begun, ...open });
    expect((continued["token_strs"] as string[]).slice(-2)).toEqual(["S", "o"]);
    expect(await post("/tokenize", { ...begun, continue_final_message: true })).toMatchObject({ status: 422 });
    expect(await post("/tokenize", { ...request, chat_template: "x" })).toMatchObject({ status: 422 });
    expect(await post("/tokenize", { model: "tools", messages: [] })).toMatchObject({ status: 422 });
  });

  it("parts of a message reach a template that reads parts, from every protocol", async () => {
    const texts = ["one", "two"].map((text) => ({ type: "text" as const, text }));
    const message = { role: "user" as const, content: texts };
    const typed = { model: "typed-content-template/m", max_tokens: 1 };
    const { text, tokens } = await runtime.chatPrompt([message], { model: `${reports}/typed-content-template/model` });
    expect(text).toBe("<|im_start|>user\nonetwo<|im_end|>\n<|im_start|>assistant\n");
    const messages = [message];
    const inputs = [{ role: "user", content: texts.map((part) => ({ ...part, type: "input_text" })) }];
    expect(await post("/v1/chat/completions", { ...typed, messages })).toMatchObject({ usage: { prompt_tokens: tokens.length } });
    expect(await post("/v1/messages", { ...typed, messages })).toMatchObject({ usage: { input_tokens: tokens.length } });
    const response = { model: typed.model, max_output_tokens: 1, input: inputs };
    expect(await post("/v1/responses", response)).toMatchObject({ usage: { input_tokens: tokens.length } });
  });

  it("further variables reach the template from every protocol", async () => {
    modelWith("variables", { "chat_template.jinja": "{{ mood }}{{ messages[0].content }}" });
    const given = { model: "variables", chat_template_kwargs: { mood: "calm" } };
    const messages = [{ role: "user", content: "hi" }];
    expect(await post("/v1/chat/completions", { ...given, messages, max_tokens: 1 })).toMatchObject({
      usage: { prompt_tokens: 6 },
    });
    expect(await post("/v1/messages", { ...given, messages, max_tokens: 1 })).toMatchObject({ usage: { input_tokens: 6 } });
    expect(await post("/v1/messages/count_tokens", { ...given, messages })).toMatchObject({ input_tokens: 6 });
    const response = { ...given, input: "hi", max_output_tokens: 1 };
    expect(await post("/v1/responses", response)).toMatchObject({ usage: { input_tokens: 6 } });
    expect(await post("/tokenize", { ...given, messages })).toMatchObject({ count: 6 });
  });

  it("a refusal of the template is 400 over HTTP, a failure 422", async () => {
    modelWith("refusing", {
      "chat_template.jinja":
        "{% if messages[1] %}{{ raise_exception('one message only') }}{% endif %}{{ messages[0].content + 1 }}",
    });
    const message = { role: "user", content: "hi" };
    const ask = (count: number) =>
      post("/v1/chat/completions", {
        model: "refusing",
        max_tokens: 1,
        messages: Array.from({ length: count }, () => message),
      });
    expect(await ask(2)).toMatchObject({
      status: 400,
      error: { code: "template_refused", message: expect.stringContaining("one message only") },
    });
    expect(await ask(1)).toMatchObject({ status: 422, error: { code: "model_invalid" } });
  });

  /** A copy of the model that says "Hello you", <|im_end|> (260) and again, with other files. */
  function modelWith(name: string, changes: Readonly<Record<string, string | Readonly<Record<string, unknown>>>>): string {
    const own = join(folder, name);
    mkdirSync(own);
    for (const file of [
      "config.json",
      "generation_config.json",
      "model.safetensors",
      "tokenizer.json",
      "tokenizer_config.json",
    ]) {
      cpSync(`${reports}/eos-tokenizer/model/${file}`, join(own, file));
    }
    for (const [file, change] of Object.entries(changes)) {
      const path = join(own, file);
      if (typeof change === "string") {
        writeFileSync(path, change);
        continue;
      }
      const before = JSON.parse(readFileSync(path, "utf8")) as object;
      rmSync(path); // copies of files that cannot be written
      writeFileSync(path, JSON.stringify({ ...before, ...change }));
    }
    return own;
  }

  const nowhere = { "config.json": { eos_token_id: null }, "generation_config.json": { eos_token_id: 258 } };
  const withoutEos = { "tokenizer_config.json": { eos_token: "<|endoftext|>" } };

  it.each([
    ["generation_config.json", { ...nowhere, ...withoutEos, "generation_config.json": { eos_token_id: [258, 260] } }],
    ["config.json", { ...nowhere, ...withoutEos, "config.json": { eos_token_id: [260] } }],
    [
      "the text part of config.json",
      { ...nowhere, ...withoutEos, "config.json": { eos_token_id: null, text_config: { eos_token_id: 260 } } },
    ],
    ["tokenizer_config.json", { ...nowhere }],
    ["the template", { ...nowhere, ...withoutEos }],
  ])("a turn ends where %s says", async (source, changes) => {
    const model = modelWith(source.replaceAll(/\W/g, "-"), changes);
    const { results } = await runtime.chat([{ role: "user", content: "hi" }], { model, maxNewTokens: 12 });
    expect(results[0]).toMatchObject({ message: { content: "Hello you" }, finishReason: "stop", stop: 260 });
  });

  it("an end is no text where it does not end the turn, and no word of config.json is an end", async () => {
    const word = "l".charCodeAt(0);
    const model = modelWith("ignored", { "config.json": { eos_token_id: word } });
    const { results } = await runtime.chat([{ role: "user", content: "hi" }], { model, maxNewTokens: 5, ignoreEndTokens: true });
    expect(results[0]).toMatchObject({ message: { content: "Hello youHello you" }, finishReason: "length" });
    const stopped = await runtime.chat([{ role: "user", content: "hi" }], { model, maxNewTokens: 12 });
    expect(stopped.results[0]).toMatchObject({ message: { content: "Hello you" }, stop: 260 });
    const gguf = `${reports}/gguf-im-end-type/imend-normal.gguf`;
    const ignored = await runtime.chat([{ role: "user", content: "hi" }], {
      model: gguf,
      maxNewTokens: 5,
      ignoreEndTokens: true,
    });
    expect(ignored.results[0]!.message.content).toBe("Hello youHello you");
  });
});
