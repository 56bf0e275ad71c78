/** `runtime.generate` on every engine: the texts of transformers, batches, seeds, streams, stops and aborts. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GenerationEvent, type InferyardError, type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const [skip, title] = needsData("generate");

interface Goldens {
  readonly max_new_tokens: number;
  readonly items: readonly {
    readonly text: string;
    readonly input_ids: readonly number[];
    readonly generated_ids: readonly number[];
    readonly generated_text: string;
    readonly decoder_start_token_id?: number;
  }[];
  readonly beam_search_3?: { readonly text: string; readonly max_new_tokens: number; readonly sequence: readonly number[] };
  readonly repetition_penalty_1_3?: {
    readonly text: string;
    readonly max_new_tokens: number;
    readonly sequence: readonly number[];
  };
}

const goldensOf = (name: string): Goldens => JSON.parse(readFileSync(`${sharedData}${name}/goldens.json`, "utf8")) as Goldens;
const names = ["gpt2", "llama", "qwen2", "gemma", "t5", "bart"].map((name) => `tiny-random-${name}`);
const llama = `${sharedData}tiny-random-llama`;

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    if (!skip) await runtime.load(llama, { kind: "language" });
  });
  afterAll(() => runtime.dispose());

  // Each model on one engine, with and without an encoder on native and on onnx; onnx and wasm are one implementation beside the session. On native
  // the long suite has all of them (language-models.long.test.ts).
  describe.each([
    ["native", runsAll ? names : ["tiny-random-llama", "tiny-random-gemma", "tiny-random-t5"]],
    ["onnx", runsAll ? names : ["tiny-random-gpt2", "tiny-random-bart"]],
    ["wasm", runsAll ? names : ["tiny-random-qwen2"]],
  ])("on %s", (target, models) => {
    it.each(models)("%s: greedy, a batch, beams and the repetition penalty as transformers has them", async (name) => {
      await using own = await createRuntime({ target, host: "inline", threads: 1 });
      await using model = await own.load(`${sharedData}${name}`, { kind: "language" });
      const goldens = goldensOf(name);
      const { items, max_new_tokens: maxNewTokens } = goldens;
      const { results } = await own.generate(
        items.map(({ text }) => text),
        { model, maxNewTokens },
      );
      expect(results.map(({ tokens }) => tokens)).toEqual(items.map((item) => item.generated_ids));
      // What a text continues is decoded with it: alone, SentencePiece leaves out its first space, as in the recorded texts.
      const tokenizer = await own.tokenizer(model);
      const continued = (item: Goldens["items"][number]): string => {
        if (item.decoder_start_token_id !== undefined) return item.generated_text;
        const { length } = tokenizer.decode(item.input_ids);
        return tokenizer.decode([...item.input_ids, ...item.generated_ids]).slice(length);
      };
      expect(results.map(({ text }) => text)).toEqual(items.map(continued));
      expect(results.map(({ text }) => text.trimStart())).toEqual(items.map((item) => item.generated_text.trimStart()));
      expect(results.map(({ promptTokens }) => promptTokens)).toEqual(items.map((item) => item.input_ids.length));
      for (const [options, golden] of [
        [{ numBeams: 3 }, goldens.beam_search_3],
        [{ repetitionPenalty: 1.3 }, goldens.repetition_penalty_1_3],
      ] as const) {
        if (golden === undefined) continue;
        const one = await own.generate(golden.text, { model, maxNewTokens: golden.max_new_tokens, ...options });
        const start = items[0]?.decoder_start_token_id === undefined ? one.results[0]!.promptTokens : 1;
        expect(one.results[0]!.tokens).toEqual(golden.sequence.slice(start));
      }
    });
  });

  it.each(runsAll ? ["native", "onnx", "wasm"] : ["native"])(
    "folders of onnxruntime-genai on %s give the tokens that its own tests state",
    async (target) => {
      await using own = await createRuntime({ target, host: "inline", threads: 1 });
      const tokensOf = async (name: string, prompts: number[][], options: object): Promise<readonly (readonly number[])[]> => {
        const { results } = await own.generate(prompts, { model: `${sharedData}${name}`, ...options });
        return results.map(({ tokens }) => tokens);
      };
      const [first, second] = [
        [0, 0, 0, 52],
        [0, 0, 195, 731],
      ];
      expect(await tokensOf("gpt2-tiny-random", [first, second], { maxNewTokens: 6 })).toEqual([
        [204, 204, 204, 204, 204, 204],
        [731, 114, 114, 114, 114, 114],
      ]);
      // onnxruntime's BeamSearchTest.GptBeamSearchFp32.
      const prompts = [
        [0, 0, 0, 0, 0, 52, 195, 731, 321, 301, 734, 620],
        [41, 554, 74, 622, 206, 222, 75, 223, 221, 198, 224, 572],
        [0, 0, 0, 52, 328, 219, 328, 206, 288, 227, 896, 328],
      ];
      expect(await tokensOf("gpt2-tiny-random", prompts, { maxNewTokens: 8, numBeams: 4 })).toEqual([
        [131, 131, 131, 181, 638, 638, 638, 638],
        [292, 292, 292, 292, 292, 292, 292, 292],
        [328, 669, 669, 669, 669, 669, 669, 669],
      ]);
      // Its graph takes two rows of three tokens, and computes the number of tokens of the source.
      for (const numBeams of [1, 4]) {
        expect(await tokensOf("marian-tiny-random", [[7, 8, 9], [5, 6], [4]], { maxNewTokens: 4, numBeams })).toEqual([
          [3, 3, 3, 3],
          [2, 2, 2, 2],
          [1, 1, 1, 1],
        ]);
      }
      await expect(tokensOf("marian-tiny-random", [[1, 2, 3, 4]], {})).rejects.toMatchObject({ code: "INPUT_TOO_LONG" });
    },
  );

  it("gives eight texts with seeds at once as one after another", async () => {
    await using model = await runtime.load(llama, { kind: "language" });
    const texts = goldensOf("tiny-random-llama").items.map(({ text }) => text);
    const options = (seed: number) =>
      ({ model, maxNewTokens: 10 + seed, seed, temperature: 1.5, topP: 0.98, logprobs: 2 }) as const;
    const prompt = (seed: number) => texts[seed % texts.length]!.slice(0, 5 + (seed % 5) * 4);
    const seeds = Array.from({ length: 8 }, (_, seed) => seed);
    const together = await Promise.all(seeds.map((seed) => runtime.generate(prompt(seed), options(seed))));
    for (const seed of seeds) {
      const { results } = await runtime.generate(prompt(seed), options(seed));
      const { timings: _, ...alone } = results[0]!;
      expect(together[seed]!.results[0]).toMatchObject(alone);
    }
  });

  it("gives n texts, each with its own random numbers, and the same again for the same seed", async () => {
    const call = () => runtime.generate(["Hello", "world"], { model: llama, n: 3, seed: 7, temperature: 1, maxNewTokens: 10 });
    const { results } = await call();
    expect(results).toHaveLength(6);
    expect(new Set(results.map(({ tokens }) => tokens.join())).size).toBe(6);
    expect(results.every(({ seed }) => seed === 7)).toBe(true);
    expect((await call()).results.map(({ tokens }) => tokens)).toEqual(results.map(({ tokens }) => tokens));
  });

  it("streams the text token by token, ends it at a stop string, and says why it ended", async () => {
    const { results } = await runtime.generate("Hello", { model: llama, maxNewTokens: 40 });
    const { text } = results[0]!;
    const stop = text.slice(12, 15);
    const stream = await runtime.generate("Hello", { model: llama, maxNewTokens: 40, stop, stream: true });
    const events: GenerationEvent[] = [];
    for await (const event of stream) events.push(event);
    const last = events.at(-1)!;
    expect(events.map((event) => event.text).join("")).toBe(text.slice(0, text.indexOf(stop)));
    expect(last).toMatchObject({ type: "finish", index: 0, result: { finishReason: "stop", stop } });
    expect((await stream.finish()).results[0]!.text).toBe(text.slice(0, text.indexOf(stop)));
    const web = await runtime.generate("Hello", { model: llama, maxNewTokens: 3, stream: true });
    const seen: string[] = [];
    for await (const { type } of web.toReadableStream() as unknown as AsyncIterable<GenerationEvent>) seen.push(type);
    expect(seen).toEqual(["text", "text", "text", "finish"]);
  });

  it("ends a text at tokens, at the context's end, and never before minNewTokens", async () => {
    await using model = await runtime.load(llama, { kind: "language" });
    const [whole] = (await runtime.generate("Hello", { model, maxNewTokens: 8 })).results;
    const stopTokens = [whole!.tokens[3]!];
    const [ended] = (await runtime.generate("Hello", { model, stopTokens })).results;
    expect(ended).toMatchObject({ finishReason: "stop", stop: stopTokens[0], tokens: whole!.tokens.slice(0, 4) });
    const [longer] = (await runtime.generate("Hello", { model, stopTokens, minNewTokens: 6, maxNewTokens: 6 })).results;
    expect(longer).toMatchObject({ finishReason: "length" });
    expect(longer!.tokens).toHaveLength(6);
    const { contextLength } = model.language.limits;
    const [full] = (await runtime.generate([Array(contextLength! - 2).fill(5)], { model, ignoreEndTokens: true })).results;
    expect(full).toMatchObject({ finishReason: "length" });
    expect(full!.tokens).toHaveLength(2);
    const tooLong = runtime.generate([Array(contextLength).fill(5)], { model });
    await expect(tooLong).rejects.toMatchObject({ code: "INPUT_TOO_LONG" });
  });

  it("ends within a token when the reader leaves or the signal aborts, and frees the model", async () => {
    const long = { model: llama, maxNewTokens: 1500, ignoreEndTokens: true } as const;
    const left = await runtime.generate("Hello", { ...long, stream: true });
    for await (const { type } of left) if (type === "text") break;
    const [controller, other] = [new AbortController(), new AbortController()];
    const stream = await runtime.generate("Hello", { ...long, signal: controller.signal, stream: true });
    let texts = 0;
    let stopped: Promise<unknown> | undefined;
    // Both share the steps of the model, and the stream waits for its reader: after four of 1500 tokens neither has ended.
    const read = async () => {
      for await (const { type } of stream) {
        if (type !== "text") continue;
        stopped ??= runtime.generate("Hello", { ...long, signal: other.signal });
        if (++texts !== 4) continue;
        other.abort();
        await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
        controller.abort();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: "ABORTED" });
    expect(texts).toBe(4);
    expect((await runtime.generate("Hello", { model: llama, maxNewTokens: 2 })).results[0]!.tokens).toHaveLength(2);
  });

  it("constrains what follows a token that the model's files force, and cuts where they force the end", async () => {
    const folder = mkdtempSync(join(tmpdir(), "forced-"));
    try {
      cpSync(`${sharedData}tiny-random-bart`, folder, { recursive: true });
      const path = join(folder, "generation_config.json");
      const config = JSON.parse(readFileSync(path, "utf8")) as object;
      writeFileSync(path, JSON.stringify({ ...config, forced_bos_token_id: 0, forced_eos_token_id: 2 }));
      const constraint = { type: "regex", pattern: "a{9}" } as const;
      const whole = await runtime.generate("Hello", { model: folder, constraint });
      expect([whole.results[0]!.tokens[0], whole.results[0]!.text, whole.results[0]!.finishReason]).toEqual([
        0,
        "aaaaaaaaa",
        "stop",
      ]);
      const cut = await runtime.generate("Hello", { model: folder, constraint, maxNewTokens: 4 });
      expect([cut.results[0]!.text, cut.results[0]!.finishReason]).toEqual(["aaa", "length"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("promptLogprobs scores a prompt as its tokens would be generated, with maxNewTokens 0 alone", async () => {
    const tiny = mkdtempSync(join(tmpdir(), "inferyard-scores-"));
    onTestFinished(() => rmSync(tiny, { recursive: true, force: true }));
    writeChatModel(tiny, chatTemplates.tagged); // with a longer context
    const prompt = Array.from({ length: 150 }, (_, index) => 5 + ((index * 37) % 200)); // two calls of the model
    const written = await runtime.generate([prompt], { model: tiny, maxNewTokens: 4, logprobs: 2, ignoreEndTokens: true });
    const { tokens, logprobs } = written.results[0]!;
    const whole = [...prompt, ...tokens];
    const options = { model: tiny, maxNewTokens: 0, promptLogprobs: 2, n: 2 };
    const { results } = await runtime.generate([whole, prompt.slice(0, 1)], options);
    const [first, second, single] = results;
    expect(results.map((result) => [result.text, result.tokens, result.finishReason])).toEqual(
      Array.from({ length: 4 }, () => ["", [], "length"]),
    );
    expect(second!.promptLogprobs).toEqual(first!.promptLogprobs);
    expect(first!.promptLogprobs!.map(({ token }) => token)).toEqual(whole);
    expect(first!.promptLogprobs![0]).toEqual({ token: whole[0], logprob: null, top: [] });
    const tail = first!.promptLogprobs!.slice(-4);
    for (const [index, { logprob, top }] of tail.entries()) {
      expect(logprob).toBeCloseTo(logprobs![index]!.logprob, 4);
      expect(top).toHaveLength(2);
    }
    expect(single!.promptLogprobs).toHaveLength(1);
    const both = await runtime.generate([whole], { model: tiny, maxNewTokens: 1, promptLogprobs: 0, stream: true });
    const events = [];
    for await (const event of both) events.push(event);
    expect(events[0]).toMatchObject({ type: "text", promptLogprobs: { length: whole.length } });
    await expect(
      runtime.generate("a", { model: `${sharedData}tiny-random-t5`, promptLogprobs: 0, maxNewTokens: 0 }),
    ).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("refuses what is not possible, by name", async () => {
    const refused = async (options: object, prompts: unknown = "Hello") =>
      runtime.generate(prompts as string, { model: llama, maxNewTokens: 1, ...options }).then(
        () => "done",
        (error: InferyardError) => `${error.code}: ${error.message}`,
      );
    expect(await refused({ temperatur: 1 })).toContain("temperatur");
    expect(await refused({ temperature: -1 })).toContain("INPUT_INVALID: temperature is -1");
    expect(await refused({ topP: 0 })).toContain("topP is 0");
    expect(await refused({ stop: [""] })).toContain("stop is");
    expect(await refused({ numBeams: 2, temperature: 1 })).toContain("temperature has no effect on beam search");
    expect(await refused({ logitBias: { 99999: 1 } })).toContain("logitBias");
    expect(await refused({ n: 1000 })).toContain("1000 texts at once");
    expect(await refused({ kind: "tensor" })).toContain("kind");
    expect(await refused({ stream: "yes" })).toContain("stream");
    expect(await refused({}, { text: "Hello" })).toContain("prompts must be");
    expect(await refused({}, [[1.5]])).toContain("the token 1.5");
    expect(await refused({}, [[-1]])).toContain("the token -1");
    expect(await refused({ model: `${sharedData}tiny-random-bert` })).toContain("cannot write text");
  });
});
