/** Prompt look-up: the same texts in fewer calls of the model. */
import { createRuntime } from "inferyard";
import { describe, expect, it } from "vitest";
import type { DecodeStep } from "inferyard/backend";
import { DecodeScheduler } from "../../src/tasks/generation/decode-scheduler.ts";
import { PromptLookup } from "../../src/tasks/generation/speculation/prompt-lookup.ts";
import { Speculation } from "../../src/tasks/generation/speculation/speculation.ts";
import { TextGenerator } from "../../src/tasks/generation/text-generator.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("prompt look-up");
const repeated = [5, 9, 30, 12, 7, 44, 5, 9, 30, 12, 7, 44, 5, 9, 30];

describe.skipIf(skip)(title, () => {
  it.each([
    ["tiny-random-gpt2", "native"],
    ["tiny-random-llama", "native"],
    ["tiny-random-llama", "onnx"],
    ["tiny-random-qwen2", "wasm"],
    ["tiny-random-t5", "onnx"],
    ["tiny-random-t5/model.safetensors", "native"],
  ])("%s on %s: the text is that of plain decoding, greedy and drawn, in fewer calls", async (name, target) => {
    await using runtime = await createRuntime({ target, host: "inline", threads: 1 });
    await using model = await runtime.load(`${sharedData}${name}`, { kind: "language" });
    const { language } = model;
    const calls: DecodeStep[] = [];
    const counting: typeof language = {
      kind: language.kind,
      library: language.library,
      memory: language.memory,
      limits: language.limits,
      decode: async (steps: readonly DecodeStep[], options?: object) => (calls.push(...steps), language.decode(steps, options)),
      createSequence: language.createSequence.bind(language),
      forkSequence: language.forkSequence.bind(language),
      truncateSequence: language.truncateSequence.bind(language),
      releaseSequence: language.releaseSequence.bind(language),
      saveSequence: language.saveSequence.bind(language),
      restoreSequence: language.restoreSequence.bind(language),
      evidence: language.evidence.bind(language),
    };
    const generator = new TextGenerator({
      limits: language.limits,
      scheduler: new DecodeScheduler(counting),
      tokenizer: undefined,
      config: { endTokens: [], decoderStartToken: 0 },
    });
    const generate = async (options: object) => {
      calls.length = 0;
      const [text] = await generator.generate(await generator.prepare([repeated], { maxNewTokens: 24, ...options }), {
        started: performance.now(),
      });
      return { ...text!, calls: calls.length };
    };
    for (const settings of [{ temperature: 0 }, { temperature: 0.7, seed: 4 }, { temperature: 0, repetitionPenalty: 1.3 }]) {
      const plain = await generate(settings);
      expect(plain).not.toHaveProperty("promptLookup");
      for (const promptLookup of [1, 10]) {
        const fast = await generate({ ...settings, promptLookup });
        expect(fast.tokens).toEqual(plain.tokens);
        expect(fast.promptLookup!.accepted).toBeLessThanOrEqual(fast.promptLookup!.drafted);
        // Each kept token saves a call; a close choice costs one.
        expect(fast.calls).toBeLessThanOrEqual(plain.calls + fast.promptLookup!.drafted);
      }
    }
    const free = await generate({ temperature: 0, promptLookup: 10, maxNewTokens: 40 });
    expect(free.promptLookup!.drafted).toBeGreaterThan(0);
  });

  it("is refused with beams, and beyond its bound", async () => {
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const model = `${sharedData}tiny-random-gpt2`;
    for (const options of [{ promptLookup: 5, numBeams: 2 }, { promptLookup: 65 }, { promptLookup: -1 }, { promptLookup: 1.5 }])
      await expect(runtime.generate([1, 2], { model, ...options })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("tokens that were tried and not chosen", () => {
  it("are removed from the sequence before the next call, and tries that fail become rarer", async () => {
    const kept: number[] = [];
    const drafts: number[] = [];
    const scheduler = {
      chunkTokens: 8,
      append: async (_sequence: number, tokens: readonly number[], _signal: AbortSignal | undefined, count = 1) => {
        drafts.push(tokens.length - 1);
        kept.push(...tokens);
        return new Float32Array(count * 4);
      },
      truncate: async (_sequence: number, length: number) => void (kept.length = length),
    };
    const text: number[] = [];
    const lookup = new PromptLookup(20, []);
    const speculation = new Speculation({ scheduler, sequence: 1, drafters: [lookup] });
    for (let step = 0; step < 300; step += 1) {
      text.push([1, 2, 100 + step][step % 3]!); // what follows 1, 2 is always new
      await speculation.after(text, 100, undefined);
      expect(kept.slice(0, text.length)).toEqual(text);
      expect(kept.length).toBe(text.length + drafts.at(-1)!);
    }
    const tries = (from: number, to: number): number => drafts.slice(from, to).filter((count) => count > 0).length;
    expect(Math.max(...drafts)).toBe(7);
    expect(tries(0, 60)).toBeGreaterThan(tries(240, 300));
    expect(speculation.getCounts(lookup).accepted).toBe(0);
  });
});
