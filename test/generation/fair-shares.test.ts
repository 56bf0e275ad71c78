/** Texts of several clients on one model: who gets the next tokens, and that a text which was parked is the one that it is alone. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DecodeScheduler, type DecodeLimits } from "../../src/tasks/generation/decode-scheduler.ts";
import type { GenerationOptions } from "../../src/tasks/generation/sampling/generated-generation-options.ts";
import { type GenerateCall, TextGenerator } from "../../src/tasks/generation/text-generator.ts";
import { type LanguageScript, type ScriptedLanguageModel, scriptedLanguageModel } from "./fixtures/scripted-language-model.ts";

const client = (name: string, priority: "high" | "normal" = "normal") => ({ client: name, priority });

function start(limits: Partial<DecodeLimits>, script: LanguageScript = {}) {
  const model = scriptedLanguageModel(script);
  const scheduler = new DecodeScheduler(model, { maxSequences: 4, chunkTokens: 8, turnTokens: 8, ...limits });
  const generator = new TextGenerator({
    limits: model.limits,
    scheduler,
    tokenizer: undefined,
    config: { endTokens: [] },
    maxPrefixBytes: 1,
  });
  const generate = async (prompt: readonly number[], options: GenerationOptions, call: Partial<GenerateCall> = {}) =>
    generator.generate(await generator.prepare([prompt], options), { started: performance.now(), ...call });
  return { model, scheduler, generate };
}

/** Waits until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate();
}

/** The tokens of a text alone on the model. */
async function alone(prompt: readonly number[], options: GenerationOptions): Promise<readonly (readonly number[])[]> {
  const texts = await start({}).generate(prompt, options);
  return texts.map(({ tokens }) => tokens);
}

/** Number of tokens that a model computed from a call on, for the sequences whose first token is `first`. */
function servedBy(model: ScriptedLanguageModel, first: number, from = 0): number {
  const firstTokens = new Map<number, number>();
  let served = 0;
  for (const [call, steps] of model.calls.entries()) {
    for (const { sequence, tokens } of steps) {
      if (!firstTokens.has(sequence)) firstTokens.set(sequence, tokens[0]!);
      if (call >= from && firstTokens.get(sequence) === first) served += tokens.length;
    }
  }
  return served;
}

describe("a client beside others", () => {
  it.each([
    ["one with 16 texts", 1],
    ["16 with a text each", 16],
  ])("has its text while those of %s go on", async (_, clients) => {
    const { model, scheduler, generate } = start({});
    const ended: string[] = [];
    const greedy = Array.from({ length: 16 }, (_each, index) =>
      generate([1, index], { maxNewTokens: 300 }, { client: client(`greedy ${index % clients}`) }).then(() =>
        ended.push("greedy"),
      ),
    );
    await until(() => model.calls.length > 200);
    const before = model.calls.length;
    await generate([60, 61], { maxNewTokens: 4 }, { client: client("lone") });
    expect(ended).toEqual([]);
    // The call in progress, one of single tokens, the prompt, and its tokens between calls for prompts.
    expect(model.calls.length - before).toBeLessThan(12);
    expect(scheduler.preemptions).toBeGreaterThan(0);
    await Promise.all(greedy);
    expect(scheduler.parkedSequences + scheduler.runningSequences + scheduler.waitingSequences).toBe(0);
    expect(model.heldTokens).toBe(0);
  });

  it("gets as many tokens as another one that came before, and four times as many with a high priority", async () => {
    for (const [priority, share] of [
      ["normal", 1],
      ["high", 4],
    ] as const) {
      const { model, generate } = start({ maxSequences: 5 });
      const abort = new AbortController();
      const texts = (name: string, first: number, by: "high" | "normal") =>
        Array.from({ length: 8 }, () =>
          generate([first], { maxNewTokens: 5000 }, { client: client(name, by), signal: abort.signal }),
        );
      const all = texts("before", 1, "normal");
      await until(() => model.calls.length > 30);
      all.push(...texts("after", 2, priority));
      await until(() => model.calls.length > 60);
      const from = model.calls.length;
      await until(() => model.calls.length > from + 200);
      const [before, after] = [servedBy(model, 1, from), servedBy(model, 2, from)];
      // Five slots are two and three, or one and four.
      expect(after / before).toBeGreaterThanOrEqual(share * 0.6);
      expect(after / before).toBeLessThanOrEqual(share * 1.6);
      abort.abort();
      await Promise.allSettled(all);
    }
  });

  it("waits for no prompt of another one but the chunk in progress", async () => {
    const { model, generate } = start({ chunkTokens: 8 });
    const long = Array.from({ length: 4000 }, (_, index) => index % 50);
    const abort = new AbortController();
    const greedy = Array.from({ length: 3 }, () =>
      generate(long, { maxNewTokens: 1 }, { client: client("greedy"), signal: abort.signal }),
    );
    await until(() => model.calls.length > 10);
    const before = model.calls.length;
    await generate([60, 61], { maxNewTokens: 1 }, { client: client("lone") });
    expect(model.calls.length - before).toBeLessThan(6);
    abort.abort();
    await Promise.allSettled(greedy);
  });

  it("that is one of more than there are slots takes turns with the others", async () => {
    const { model, generate } = start({ maxSequences: 2, turnTokens: 5, reservedSequences: 0 });
    const abort = new AbortController();
    const texts = Array.from({ length: 6 }, (_, index) =>
      generate([index], { maxNewTokens: 5000 }, { client: client(String(index)), signal: abort.signal }),
    );
    await until(() => model.calls.length > 300);
    const served = texts.map((_, index) => servedBy(model, index));
    expect(Math.max(...served) - Math.min(...served)).toBeLessThan(30);
    abort.abort();
    await Promise.allSettled(texts);
    expect(model.heldTokens).toBe(0);
  });
});

describe("a text that was parked", () => {
  const prompt = Array.from({ length: 20 }, (_, index) => (index * 7) % 50);
  const cases: readonly (readonly [string, GenerationOptions])[] = [
    ["greedy", { temperature: 0 }],
    ["drawn", { seed: 5, temperature: 1.5 }],
    ["several drawn ones", { n: 3, seed: 6, temperature: 1.5 }],
    ["with penalties", { temperature: 0, repetitionPenalty: 1.4, noRepeatNgramSize: 2 }],
    ["by beam search", { numBeams: 3 }],
    ["with prompt look-up", { temperature: 0, promptLookup: 6 }],
  ];
  it.each(
    cases.flatMap(([name, options]) => [
      [`${name}, its cache kept`, options, 2 ** 30] as const,
      [`${name}, its cache computed again`, options, 1] as const,
    ]),
  )("is the same: %s", async (_, options, maxParkedBytes) => {
    const { model, scheduler, generate } = start({ turnTokens: 3, maxParkedBytes });
    const wanted = { maxNewTokens: 40, ...options };
    const names = ["a", "b", "c", "d", "e", "f"];
    const texts = await Promise.all(names.map((name) => generate(prompt, wanted, { client: client(name) })));
    const expected = await alone(prompt, wanted);
    for (const each of texts) expect(each.map(({ tokens }) => tokens)).toEqual(expected);
    expect(scheduler.preemptions).toBeGreaterThan(6);
    expect(model.heldTokens).toBe(0);
    const computed = model.calls.flat().reduce((sum, { tokens }) => sum + tokens.length, 0);
    if (options.promptLookup !== undefined || options.numBeams !== undefined) return;
    const once = names.length * (prompt.length + (options.n ?? 1) * (wanted.maxNewTokens - 1));
    expect(computed).toBeGreaterThanOrEqual(once);
    expect(computed > once).toBe(maxParkedBytes === 1);
  });

  it("leaves when it is aborted, and gives its memory back", async () => {
    const { model, scheduler, generate } = start({ maxSequences: 1, turnTokens: 1000 });
    const [first, second] = [new AbortController(), new AbortController()];
    const parked = generate([1], { maxNewTokens: 5000 }, { client: client("a"), signal: first.signal });
    await until(() => model.calls.length > 5);
    const running = generate([2], { maxNewTokens: 5000 }, { client: client("b"), signal: second.signal });
    await until(() => scheduler.parkedSequences === 1);
    first.abort();
    await expect(parked).rejects.toMatchObject({ code: "ABORTED" });
    expect([scheduler.parkedSequences, scheduler.runningSequences]).toEqual([0, 1]);
    second.abort();
    await expect(running).rejects.toMatchObject({ code: "ABORTED" });
    expect([scheduler.runningSequences, scheduler.cacheBytes, model.heldTokens]).toEqual([0, 0, 0]);
  });

  it.each([
    ["kept", 2 ** 30],
    ["dropped", 1],
  ])("ends with the model when that is disposed, its cache %s", async (_, maxParkedBytes) => {
    const { model, scheduler, generate } = start({ maxSequences: 1, maxParkedBytes });
    const texts = ["a", "b", "c"].map((name) => generate([1], { maxNewTokens: 5000 }, { client: client(name) }));
    const outcomes = Promise.allSettled(texts);
    await until(() => scheduler.parkedSequences === 2);
    await model.dispose();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: { code: "DISPOSED" } });
    expect([scheduler.runningSequences, scheduler.parkedSequences, scheduler.waitingSequences]).toEqual([0, 0, 0]);
  });

  it("fails alone if the model fails while it goes on", async () => {
    const seen = new Set<number>();
    const { scheduler, generate } = start(
      { maxSequences: 1, turnTokens: 3, maxParkedBytes: 1 },
      {
        onDecode: (steps) => {
          // The prompt of the first client, a second time.
          for (const { sequence, tokens } of steps) {
            if (tokens[0] !== 40 || tokens.length === 1) continue;
            seen.add(sequence);
            if (seen.size > 1) throw new Error("the model failed");
          }
        },
      },
    );
    const failing = generate([40, 41], { maxNewTokens: 30 }, { client: client("a") });
    const sound = generate([50, 51], { maxNewTokens: 30 }, { client: client("b") });
    await expect(failing).rejects.toThrow("the model failed");
    expect((await sound).map(({ tokens }) => tokens)).toEqual(await alone([50, 51], { maxNewTokens: 30 }));
    expect([scheduler.runningSequences, scheduler.parkedSequences, scheduler.cacheBytes]).toEqual([0, 0, 0]);
  });
});

describe("a text whose reader does not read", () => {
  it.each(["the same client", "another one"])("makes room for those of %s, and goes on when it is read", async (other) => {
    const { scheduler, generate } = start({ maxSequences: 2, reservedSequences: 0, turnTokens: 100_000 });
    const options = { maxNewTokens: 10 };
    let read = (): void => {};
    const reading = new Promise<void>((resolve) => (read = resolve));
    let events = 0;
    const unread = generate(
      [1, 2],
      { ...options, n: 2 },
      {
        client: client("slow"),
        emit: async () => {
          events += 1;
          if (events > 4) await reading;
        },
      },
    );
    await until(() => events === 6);
    await setImmediate();
    expect([scheduler.runningSequences, scheduler.parkedSequences]).toEqual([2, 0]);
    const name = other === "the same client" ? "slow" : "other";
    const others = await Promise.all([3, 4].map((first) => generate([first, 2], options, { client: client(name) })));
    expect(others.flat().map(({ tokens }) => tokens)).toEqual(
      (await Promise.all([3, 4].map((first) => alone([first, 2], options)))).flat(),
    );
    expect(scheduler.parkedSequences).toBe(2);
    read();
    expect((await unread).map(({ tokens }) => tokens)).toEqual(await alone([1, 2], { ...options, n: 2 }));
    expect([scheduler.runningSequences, scheduler.parkedSequences]).toEqual([0, 0]);
  });
});
