/** `runtime.chat`, `runtime.rewrite` and the pipelines of language models. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatEvent, TextStreamer, createRuntime, pipeline } from "inferyard";
import { afterAll, describe, expect, it } from "vitest";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("chatting and rewriting");
const qwen = `${sharedData}tiny-random-qwen2`;
const t5 = `${sharedData}tiny-random-t5`;
const messages = [{ role: "user", content: "Hello world!" }] as const;

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "chat-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("answers what `generate` gives for the rendered prompt, whole and as a stream", async () => {
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    await using model = await runtime.load(qwen, { kind: "language" });
    const prompt = "<|im_start|>user\nHello world!<|im_end|>\n<|im_start|>assistant\n";
    const { results } = await runtime.generate(prompt, { model, maxNewTokens: 12, addSpecialTokens: false });
    const { message, results: answers } = await runtime.chat(messages, { model, maxNewTokens: 12 });
    expect(answers[0]).toMatchObject({
      tokens: results[0]!.tokens,
      finishReason: "length",
      promptTokens: results[0]!.promptTokens,
    });
    expect(message).toEqual({ role: "assistant", content: results[0]!.text });
    const stream = await runtime.chat(messages, { model, maxNewTokens: 12, n: 2, seed: 3, temperature: 1, stream: true });
    const texts = ["", ""];
    const ends: ChatEvent[] = [];
    for await (const event of stream) {
      if (event.type === "text") texts[event.index] += event.text;
      if (event.type === "finish") ends.push(event);
    }
    const whole = await runtime.chat(messages, { model, maxNewTokens: 12, n: 2, seed: 3, temperature: 1 });
    expect(texts).toEqual(whole.results.map((answer) => answer.message.content));
    expect(ends).toHaveLength(2);
    const longest = await runtime.chat(messages, { model, ignoreEndTokens: true });
    expect(longest.results[0]!.tokens.length + longest.results[0]!.promptTokens).toBe(model.language.limits.contextLength);
  });

  it("takes the template of chat_template.jinja, and tools where it has a place for them", async () => {
    const [own, unknown] = [join(folder, "own"), join(folder, "unknown")];
    const template = "{{ tools | tojson if tools }}{% for m in messages %}{{ m.content }}{% endfor %}";
    for (const [to, teaches] of [
      [own, "{% set form = '<tool_call>' %}"],
      [unknown, ""],
    ] as const) {
      cpSync(qwen, to, { recursive: true });
      writeFileSync(join(to, "chat_template.jinja"), template + teaches);
    }
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const tools = [{ name: "f" }];
    const [plain, withTools] = [
      await runtime.chat(messages, { model: own, maxNewTokens: 1 }),
      await runtime.chat(messages, { model: own, maxNewTokens: 1, tools, toolChoice: "auto" }).catch((error: unknown) => error),
    ];
    const tokens = (await runtime.generate("Hello world!", { model: own, maxNewTokens: 1, addSpecialTokens: false })).results[0]!;
    expect(plain.results[0]!.promptTokens).toBe(tokens.promptTokens);
    expect(withTools).toMatchObject({ code: "INPUT_TOO_LONG" }); // the tool's schema is longer than this model's context
    for (const [model, problem] of [
      [qwen, /no place for tools/],
      [unknown, /form in which the model calls them is not known/],
    ] as const)
      await expect(runtime.chat(messages, { model, tools })).rejects.toMatchObject({
        code: "MODEL_UNSUPPORTED",
        message: expect.stringMatching(problem),
      });
    await expect(runtime.chat(messages, { model: `${sharedData}tiny-random-llama` })).rejects.toThrow(/no chat template/);
    await expect(runtime.chat([{ role: "x" as never, content: "" }], { model: qwen })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });

  it("rewrites texts with prefixes, tasks of config.json and languages of the vocabulary", async () => {
    const own = join(folder, "t5");
    cpSync(t5, own, { recursive: true });
    const config = JSON.parse(readFileSync(join(own, "config.json"), "utf8")) as object;
    const tasks = { summarization: { prefix: "sum: ", num_beams: 2, max_length: 6 } };
    writeFileSync(join(own, "config.json"), JSON.stringify({ ...config, task_specific_params: tasks }));
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const tokensOf = async (text: string, options: object): Promise<readonly number[]> =>
      (await runtime.rewrite(text, { model: own, ...options })).results[0]!.tokens;
    const wanted = (await runtime.generate("sum: Hello", { model: own, numBeams: 2, maxNewTokens: 6 })).results[0]!.tokens;
    expect(await tokensOf("Hello", { task: "summarization" })).toEqual(wanted);
    expect(await tokensOf("Hello", { prefix: "sum: ", numBeams: 2, maxNewTokens: 6 })).toEqual(wanted);
    expect(await tokensOf("Hello", { targetLanguage: "a", maxNewTokens: 4 })).toHaveLength(4);
    await expect(tokensOf("Hello", { task: "magic" })).rejects.toThrow(/its tasks|states no task/);
    await expect(tokensOf("Hello", { targetLanguage: "xx_XX" })).rejects.toThrow(/no token for the language/);
    await expect(runtime.rewrite("Hello", { model: qwen })).rejects.toThrow(/has no encoder/);
  });

  it("has the pipelines of transformers.js, with its names and its streamer", async () => {
    const generate = await pipeline("text-generation", qwen, { target: "native", host: "inline" });
    const parts: string[] = [];
    const streamer = new TextStreamer(generate.tokenizer!, { skip_prompt: true, callback_function: (text) => parts.push(text) });
    const [text] = await generate("Hello", { max_new_tokens: 8, streamer });
    expect(`Hello${parts.join("")}`).toBe(text!.generated_text);
    const [only] = await generate("Hello", { maxNewTokens: 8, return_full_text: false });
    expect(`Hello${only!.generated_text}`).toBe(text!.generated_text);
    const lists = await generate(["Hello", "world"], { max_new_tokens: 2, num_return_sequences: 2, do_sample: true });
    expect(lists.map((list) => list.length)).toEqual([2, 2]);
    const [talk] = await generate(messages, { max_new_tokens: 4 });
    expect(talk!.generated_text.map(({ role }) => role)).toEqual(["user", "assistant"]);
    await expect(generate("Hello", { max_newtokens: 4 } as object)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await generate.dispose();
    const summarize = await pipeline("summarization", t5, { target: "native", host: "inline" });
    expect(Object.keys((await summarize("Hello", { max_new_tokens: 4 }))[0]!)).toEqual(["summary_text"]);
    await summarize.dispose();
  });

  it("has the commands, whose answers go to stdout alone", async () => {
    const chat = await inferyard(["chat", qwen, "Hello world!", "--max-new-tokens", "4", "--target", "native"]);
    expect(chat.stdout).toMatch(/^.+\n$/s);
    expect(chat.stderr).toContain("4 tokens in");
    const json = await inferyard(["chat", qwen, "Hello world!", "--max-new-tokens", "4", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ results: [{ finish_reason: "length", message: { role: "assistant" } }] });
    const rewritten = await inferyard([
      "rewrite",
      "--model",
      t5,
      "--max-new-tokens",
      "4",
      "--n",
      "2",
      "--num-beams",
      "2",
      "Hello",
    ]);
    expect(rewritten.stdout.split("\n").filter((line) => /^\[[12]\] /.test(line))).toHaveLength(2);
    const generated = await inferyard(["generate", "--model", qwen, "--max-new-tokens", "4", "--stop", "a,b", "--json", "Hello"]);
    expect(JSON.parse(generated.stdout)).toMatchObject({ results: [{ finish_reason: "length", prompt_tokens: 4 }] });
  });
});
