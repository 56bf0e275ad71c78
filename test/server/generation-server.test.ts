/** The routes that generate text: what each protocol answers, streams in order, readers that leave, processes that die. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { type ServerHere, ServersHere } from "../fixtures/processes/server-here.ts";
import { ServerProcesses } from "../fixtures/processes/server-process.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("the server's language models");
const qwen = `${sharedData}tiny-random-qwen2`;
const t5 = `${sharedData}tiny-random-t5`;
const messages = [{ role: "user", content: "Hello world!" }] as const;
const settings = { models: { qwen, t5 } };

type Json = Record<string, unknown>;

describe.skipIf(skip)(title, () => {
  const servers = new ServersHere();
  let server: ServerHere;
  let text = "";
  beforeAll(async () => {
    server = await servers.serve(["--model", qwen], settings);
    await using runtime = await createRuntime({ host: "inline", threads: 1 });
    text = (await runtime.chat(messages, { model: qwen, maxNewTokens: 6 })).message.content;
  });
  afterAll(async () => {
    await servers.endAll();
    servers.remove();
  });

  const ask = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  const json = async (path: string, body: object): Promise<Json> => (await ask(path, body)).json() as Promise<Json>;
  /** The data of server-sent events, with their names. */
  const events = async (path: string, body: object): Promise<{ event: string | undefined; data: string }[]> =>
    (await (await ask(path, { ...body, stream: true })).text())
      .split("\n\n")
      .filter((block) => block !== "")
      .map((block) => ({ event: /^event: (.*)$/m.exec(block)?.[1], data: /^data: (.*)$/ms.exec(block)?.[1] ?? "" }));

  it("answers chat completions, whole and in chunks, as OpenAI does", async () => {
    const body = { messages, max_tokens: 6 };
    const whole = await json("/v1/chat/completions", { ...body, logprobs: true, top_logprobs: 2 });
    expect(whole).toMatchObject({
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: text, refusal: null }, finish_reason: "length" }],
      usage: { prompt_tokens: 23, completion_tokens: 6, total_tokens: 29 },
    });
    const [{ logprobs }] = whole["choices"] as [{ logprobs: { content: { top_logprobs: unknown[] }[] } }];
    expect(logprobs.content.map(({ top_logprobs: top }) => top.length)).toEqual([2, 2, 2, 2, 2, 2]);
    const chunks = await events("/v1/chat/completions", {
      ...body,
      n: 2,
      temperature: 0,
      stream_options: { include_usage: true },
    });
    expect(chunks.at(-1)?.data).toBe("[DONE]");
    const parsed = chunks.slice(0, -1).map(({ data }) => JSON.parse(data) as { choices: Json[]; usage: Json | null });
    expect(parsed.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 23, completion_tokens: 12 } });
    for (const index of [0, 1]) {
      const own = parsed.flatMap(({ choices }) => choices).filter((choice) => choice["index"] === index);
      const deltas = own.map(({ delta }) => delta as { role?: string; content?: string });
      expect(deltas[0]?.role).toBe("assistant");
      expect(deltas.map(({ content = "" }) => content).join("")).toBe(text);
      expect(own.map((choice) => choice["finish_reason"]).filter((reason) => reason !== null)).toEqual(["length"]);
    }
  });

  it("answers completions of texts and token ids, with echo, log probabilities and several texts", async () => {
    const body = {
      prompt: ["Hello", "world"],
      max_tokens: 3,
      n: 2,
      seed: 1,
      temperature: 1,
      logprobs: 1,
      echo: true,
      ignore_eos: true,
    };
    const { choices, usage } = (await json("/v1/completions", body)) as {
      choices: { text: string; index: number }[];
      usage: Json;
    };
    expect(choices.map((choice) => [choice.index, choice.text.slice(0, 5)])).toEqual([
      [0, "Hello"],
      [1, "Hello"],
      [2, "world"],
      [3, "world"],
    ]);
    expect(usage).toMatchObject({ completion_tokens: 12 });
    expect(await json("/v1/completions", { prompt: [[5, 6], [7]] })).toMatchObject({ usage: { prompt_tokens: 3 } });
    // As lm-evaluation-harness scores texts: batches of token ids, of which nothing or one token is generated.
    const scored = {
      prompt: [
        [5, 6, 7],
        [8, 9],
      ],
      echo: true,
      logprobs: 1,
      temperature: 0,
      seed: 1234,
    };
    type Scored = { text: string; logprobs: Record<"tokens" | "token_logprobs" | "top_logprobs" | "text_offset", never[]> }[];
    for (const [limit, lengths] of [
      [0, [3, 2]],
      [1, [4, 3]],
    ] as const) {
      const answer = (await json("/v1/completions", { ...scored, max_tokens: limit })) as { choices: Scored };
      const lists = answer.choices.map(({ logprobs }) => logprobs);
      expect(lists.map((list) => list.token_logprobs.length)).toEqual(lengths);
      expect(lists.map((list) => list.token_logprobs[0])).toEqual([null, null]);
      expect(lists.map((list) => list.top_logprobs[0])).toEqual([null, null]);
      for (const [index, { text, logprobs }] of answer.choices.entries()) {
        expect(logprobs.tokens).toHaveLength(lengths[index]!);
        expect(logprobs.text_offset[0]).toBe(0);
        expect(text.startsWith(logprobs.tokens.slice(0, 2).join(""))).toBe(true);
        for (const [place, top] of logprobs.top_logprobs.slice(1).entries())
          expect(Math.max(...Object.values<number>(top))).toBeGreaterThanOrEqual(logprobs.token_logprobs[place + 1]!);
      }
    }
    const lines = await events("/v1/completions", { ...scored, prompt: [5, 6, 7], max_tokens: 0 });
    expect(JSON.parse(lines[0]!.data)).toMatchObject({
      choices: [{ finish_reason: "length", logprobs: { tokens: { length: 3 } } }],
    });
    const chunks = await events("/v1/completions", { prompt: "Hello", max_tokens: 3 });
    const whole = (await json("/v1/completions", { prompt: "Hello", max_tokens: 3 })) as { choices: { text: string }[] };
    const streamed = chunks
      .slice(0, -1)
      .map(({ data }) => (JSON.parse(data) as { choices: { text: string }[] }).choices[0]!.text);
    expect(streamed.join("")).toBe(whole.choices[0]!.text);
  });

  it("answers responses, whose events are in order and numbered", async () => {
    const body = { input: [{ role: "user", content: [{ type: "input_text", text: "Hello world!" }] }], max_output_tokens: 6 };
    expect(await json("/v1/responses", body)).toMatchObject({
      status: "incomplete",
      output: [{ type: "message", status: "completed", content: [{ type: "output_text", text }] }],
      usage: { input_tokens: 23, output_tokens: 6 },
    });
    const all = (await events("/v1/responses", body)).map(({ event, data }) => ({ event, ...(JSON.parse(data) as Json) }));
    expect(all.map((each) => (each as Json)["sequence_number"])).toEqual(all.map((_, index) => index));
    const order = all.map(({ event }) => event).filter((event, index, list) => event !== list[index - 1]);
    expect(order).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.incomplete",
    ]);
    expect(await json("/v1/responses", { ...body, previous_response_id: "x" })).toMatchObject({
      error: { code: "previous_response_not_found", param: "previous_response_id" },
    });
  });

  it("answers messages and counts their tokens, as Anthropic does", async () => {
    const body = { messages, max_tokens: 6 };
    expect(await json("/v1/messages", body)).toMatchObject({
      type: "message",
      content: [{ type: "text", text }],
      stop_reason: "max_tokens",
      usage: { input_tokens: 23, output_tokens: 6 },
    });
    expect(await json("/v1/messages/count_tokens", { messages })).toEqual({ input_tokens: 23 });
    const names = (await events("/v1/messages", body)).map(({ event }) => event);
    expect([names.slice(0, 3), names.slice(-3)]).toEqual([
      ["message_start", "ping", "content_block_start"],
      ["content_block_stop", "message_delta", "message_stop"],
    ]);
    const refused = await json("/v1/messages", { ...body, messages: [{ role: "user", content: [{ type: "image" }] }] });
    expect(refused).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    expect(await json("/v1/messages", { messages })).toMatchObject({ type: "error", error: { message: /max_tokens/ } });
  });

  it("answers Ollama's chat and generate in lines, and names what models can do", async () => {
    const lines = async (path: string, body: object): Promise<Json[]> =>
      (await (await ask(path, body)).text())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Json);
    const chat = await lines("/api/chat", { model: "qwen:latest", messages, options: { num_predict: 6 } });
    expect(chat.map(({ message }) => (message as { content: string }).content).join("")).toBe(text);
    expect(chat.at(-1)).toMatchObject({ model: "qwen:latest", done: true, done_reason: "length", eval_count: 6 });
    const body = { model: "qwen", prompt: "Hello world!", stream: false, options: { num_predict: 6 } };
    expect(await json("/api/generate", body)).toMatchObject({ response: text, done: true, prompt_eval_count: 23 });
    const [raw] = await lines("/api/generate", { ...body, raw: true });
    expect(raw).toMatchObject({ done: true, prompt_eval_count: 8 });
    expect(await json("/api/chat", { model: "qwen" })).toMatchObject({ done_reason: "load" });
    expect(await json("/api/show", { model: "qwen" })).toMatchObject({ capabilities: ["chunk", "completion", "chat"] });
    expect(await json("/api/generate", { ...body, suffix: "x" })).toMatchObject({ code: "INPUT_INVALID" });
  });

  it("rewrites texts, and says what a model cannot do", async () => {
    const rewritten = await json("/api/rewrite", {
      model: "t5",
      texts: ["Hello", "world"],
      num_beams: 2,
      n: 2,
      max_new_tokens: 4,
    });
    expect((rewritten["texts"] as string[][]).map((list) => list.length)).toEqual([2, 2]);
    expect(await json("/api/rewrite", { model: "qwen", texts: ["Hello"] })).toMatchObject({
      error: { code: "MODEL_UNSUPPORTED" },
    });
    expect(await json("/v1/chat/completions", { model: "t5", messages })).toMatchObject({ error: { code: "model_unsupported" } });
    expect(await json("/v1/chat/completions", { model: "builtin", messages })).toMatchObject({
      error: { code: "model_unsupported" },
    });
    const long = [{ role: "user", content: "word ".repeat(200) }];
    expect(await json("/v1/chat/completions", { messages: long })).toMatchObject({ error: { code: "context_length_exceeded" } });
  });

  it("ends a text within a token when its reader leaves, and counts what was written", async () => {
    await json("/v1/chat/completions", { messages, max_tokens: 2 }); // the model of the metrics below
    const controller = new AbortController();
    const endless = { model: "t5", prompt: "Hello", max_tokens: 1_000_000, ignore_eos: true, stream: true };
    const response = await ask("/v1/completions", endless, controller.signal);
    await response.body!.getReader().read();
    const metric = async (name: string): Promise<number> => {
      const lines = (await (await fetch(`${server.url}/metrics`)).text())
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    };
    expect(await metric("vllm:num_requests_running")).toBe(1);
    expect(await metric("inferyard_cache_bytes")).toBeGreaterThan(0);
    const use = /^vllm:kv_cache_usage_perc\{model_name="qwen"\} (\S+)$/m.exec(
      await (await fetch(`${server.url}/metrics`)).text(),
    );
    expect(Number(use?.[1])).toBeGreaterThanOrEqual(0);
    expect(Number(use?.[1])).toBeLessThan(1);
    controller.abort();
    for (let tries = 0; (await metric("inferyard_sequences_running")) > 0; tries += 1) {
      expect(tries).toBeLessThan(100);
      await sleep(50);
    }
    expect(await metric("vllm:generation_tokens_total")).toBeGreaterThan(2);
    expect(await metric("vllm:time_to_first_token_seconds_count")).toBeGreaterThan(1);
  });
});

describe.skipIf(skip)("a server with room for one request and one that waits", () => {
  const servers = new ServersHere();
  afterAll(async () => {
    await servers.endAll();
    servers.remove();
  });

  it("lets a text wait for the one before it, and refuses a third with 429", async () => {
    const { url } = await servers.serve(["--model", t5], { maxConcurrentRequests: 1, maxQueue: 1 });
    const ask = (body: object, signal?: AbortSignal): Promise<Response> =>
      fetch(`${url}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ prompt: "Hello", ignore_eos: true, ...body }),
        ...(signal === undefined ? {} : { signal }),
      });
    const controller = new AbortController();
    const endless = await ask({ max_tokens: 1_000_000, stream: true }, controller.signal);
    await endless.body!.getReader().read();
    // Whichever comes first waits, and the other is told at once.
    const both = [ask({ max_tokens: 3 }), ask({ max_tokens: 3 })] as const;
    const busy = await Promise.race(both);
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(await busy.json()).toMatchObject({ error: { code: "queue_full", retryable: true } });
    controller.abort();
    const waited = (await Promise.all(both)).find(({ status }) => status === 200);
    expect(await waited?.json()).toMatchObject({ usage: { completion_tokens: 3 } });
  });
});

describe.skipIf(skip)("a client beside one that takes all of a model", () => {
  const servers = new ServersHere();
  afterAll(async () => {
    await servers.endAll();
    servers.remove();
  });

  it("has its answer while the other's are unfinished; metrics count what was parked for it", async () => {
    const keys = ["greedy", "lone"].map((name) => ({
      name,
      sha256: createHash("sha256").update(`key-of-${name}`).digest("hex"),
      role: "reader",
    }));
    const { url } = await servers.serve(["--model", t5], { keys });
    const headersOf = (name: string) => ({ "content-type": "application/json", authorization: `Bearer key-of-${name}` });
    const ask = (name: string, body: object, signal?: AbortSignal): Promise<Response> =>
      fetch(`${url}/v1/completions`, {
        method: "POST",
        headers: headersOf(name),
        body: JSON.stringify({ prompt: "Hello", ignore_eos: true, ...body }),
        ...(signal === undefined ? {} : { signal }),
      });
    const controller = new AbortController();
    let ended = 0;
    const greedy = Array.from({ length: 24 }, async () => {
      const stream = await ask("greedy", { max_tokens: 1_000_000, stream: true }, controller.signal);
      await stream.text().catch(() => {});
      ended += 1;
    });
    const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`, { headers: headersOf("lone") })).text();
    while (!/^inferyard_sequences_waiting\{.*\} 8$/m.test(await metrics())) await sleep(20);
    expect(await (await ask("lone", { max_tokens: 3 })).json()).toMatchObject({ usage: { completion_tokens: 3 } });
    expect(ended).toBe(0);
    expect(await metrics()).toMatch(/^vllm:num_preemptions_total\{.*\} [1-9]\d*$/m);
    expect(await metrics()).toMatch(/^inferyard_sequences_parked\{.*\} \d+$/m);
    controller.abort();
    await Promise.allSettled(greedy);
    while (!/^inferyard_sequences_running\{.*\} 0$/m.test(await metrics())) await sleep(20);
    expect(await metrics()).toMatch(/^inferyard_sequences_parked\{.*\} 0$/m);
  });
});

describe.skipIf(skip)("a language model in a process of its own", () => {
  const processes = new ServerProcesses();
  afterAll(() => {
    processes.killAll();
    processes.remove();
  });

  it("that is killed ends each stream with an error, and answers the next request", async () => {
    const { url, child } = await processes.serve(["--model", t5, "--host", "process"]);
    const ask = (body: object): Promise<Response> =>
      fetch(`${url}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ prompt: "Hello", ignore_eos: true, ...body }),
      });
    const streams = await Promise.all([0, 1, 2].map(() => ask({ max_tokens: 1_000_000, stream: true })));
    const texts = streams.map((stream) => stream.text());
    for (const pid of childrenOf(child.pid!)) process.kill(pid, "SIGKILL");
    for (const text of await Promise.all(texts)) {
      const [error, done] = text.trim().split("\n\n").slice(-2);
      expect(JSON.parse(error!.slice(6))).toMatchObject({ error: { code: "host_died" } });
      expect(done).toBe("data: [DONE]");
    }
    expect(await (await ask({ max_tokens: 3 })).json()).toMatchObject({ usage: { completion_tokens: 3 } });
  });
});
