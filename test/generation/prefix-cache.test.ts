/** Kept prompts: what they save, that texts have the same bits with them, and that they are bounded. */
import { createRuntime } from "inferyard";
import { describe, expect, it } from "vitest";
import { DecodeScheduler } from "../../src/tasks/generation/decode-scheduler.ts";
import { PrefixCache } from "../../src/tasks/generation/prefix-cache.ts";
import { TextGenerator } from "../../src/tasks/generation/text-generator.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("kept prompts");
const chunkTokens = 8;

describe.skipIf(skip)(title, () => {
  it.each(["native", "onnx"])("are read once on %s, and change no bit of a text", async (target) => {
    await using runtime = await createRuntime({ target, host: "inline", threads: 1 });
    await using model = await runtime.load(`${sharedData}tiny-random-llama`, { kind: "language" });
    const { language } = model;
    const generator = (): TextGenerator =>
      new TextGenerator({
        limits: language.limits,
        scheduler: new DecodeScheduler(language, { maxSequences: 16, chunkTokens }),
        tokenizer: undefined,
        config: { endTokens: [] },
      });
    const shared = generator();
    const prompt = Array.from({ length: 30 }, (_, index) => 10 + index * 7);
    const options = { maxNewTokens: 12, seed: 3, temperature: 1.2, logprobs: 1 };
    const texts = async (by: TextGenerator, tokens: readonly number[]) =>
      by.generate(await by.prepare([tokens], options), { started: performance.now() });
    const prompts = [prompt, prompt, [...prompt.slice(0, 20), 5, 6, 7], [...prompt, 9, 9, 9], prompt.slice(0, 16), [400, 401]];
    const cached: number[] = [];
    for (const tokens of prompts) {
      const [[kept], [fresh]] = [await texts(shared, tokens), await texts(generator(), tokens)];
      expect([kept!.tokens, kept!.logprobs]).toEqual([fresh!.tokens, fresh!.logprobs]);
      expect(fresh!.cachedTokens).toBe(0);
      cached.push(kept!.cachedTokens);
    }
    expect(cached).toEqual([0, 24, 16, 24, 8, 0]);
  });

  it("are bounded, the least recently used go first, and what a longer one contains is not kept twice", async () => {
    let created = 0;
    const alive = new Map<number, number>();
    const sequences = {
      chunkTokens: 4,
      create: async () => (alive.set((created += 1), 0), created),
      fork: async (from: number) => (alive.set((created += 1), alive.get(from)!), created),
      truncate: async (id: number, length: number) => void alive.set(id, length),
      release: async (id: number) => void alive.delete(id),
    };
    const cache = new PrefixCache(sequences, 10, 120);
    const read = async (prompt: readonly number[]): Promise<number> => {
      const { sequence, length } = await cache.open(prompt);
      alive.set(sequence, prompt.length + 5);
      await cache.close(sequence, prompt);
      return length;
    };
    const prompt = (first: number, length: number) => Array.from({ length }, (_, index) => first + index);
    expect(await read(prompt(0, 5))).toBe(0);
    expect(await read(prompt(0, 9))).toBe(4);
    expect(cache.keptTokens).toBe(8);
    expect(await read(prompt(100, 6))).toBe(0);
    expect(await read(prompt(0, 9))).toBe(8);
    expect(await read(prompt(200, 4))).toBe(0);
    expect(cache.keptTokens).toBe(12);
    expect(await read(prompt(100, 6))).toBe(0);
    expect(await read(prompt(300, 3))).toBe(0);
    expect([...alive.values()].reduce((sum, length) => sum + length, 0)).toBe(cache.keptTokens);
    expect(await read(prompt(500, 400))).toBe(0);
    expect(cache.keptTokens).toBeLessThanOrEqual(12);
  });

  it("that died with their process are read anew", async () => {
    const gone = async (): Promise<never> => Promise.reject(new Error("the process died"));
    let created = 0;
    const cache = new PrefixCache(
      { chunkTokens: 2, create: async () => (created += 1), fork: gone, truncate: async () => {}, release: async () => {} },
      1,
    );
    await cache.close(7, [1, 2, 3, 4]);
    expect(await cache.open([1, 2, 3, 4, 5])).toEqual({ sequence: 1, length: 0 });
    expect(cache.keptTokens).toBe(0);
  });
});
