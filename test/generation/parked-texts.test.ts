/** Texts of more clients than run at once, on real engines: each is the one that it is alone, whatever its options and however often it was parked. */
import { type GenerateRequest, type ModelHandle, type Runtime, createRuntime } from "inferyard";
import { describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";

const [noData, described] = needsData("parked texts");
const tinyllm = "tinyllm/tinyllm.gguf";
const prompt = "Once upon a time there was a";

type Options = Omit<GenerateRequest, "model">;
const options: readonly Options[] = [
  { temperature: 0 },
  { temperature: 1.2, seed: 7 },
  { temperature: 1.2, seed: 7, n: 2, logprobs: 2 },
  { temperature: 0, repetitionPenalty: 1.3, stop: [" a", "\n"], minNewTokens: 4 },
  { temperature: 1, seed: 3, constraint: { type: "regex", pattern: "[a-z ,.]{1,60}" } },
  { temperature: 0, promptLookup: 4 },
  { numBeams: 2 },
];

async function generate(runtime: Runtime, model: ModelHandle, own: Options, client: string) {
  const { results } = await runtime.use(
    model.reference,
    { kind: "language" },
    (handle) => runtime.generate(prompt, { model: handle, maxNewTokens: 12, ...own }),
    { client, priority: "normal" },
  );
  return results.map(({ tokens, text, finishReason, logprobs = [] }) => ({
    tokens,
    text,
    finishReason,
    logprobs: logprobs.map(({ logprob }) => logprob),
  }));
}

describe.skipIf(noData)(described, () => {
  const rows = [
    [tinyllm, "native", "1GiB"],
    [tinyllm, "native", 1],
    ["tiny-random-llama", "onnx", "1GiB"],
    ["tiny-random-llama", "onnx", 1],
    [tinyllm, "llamacpp", "1GiB"],
    [tinyllm, "llamacpp", 1],
  ] as const;
  const ofSample = new Set<(typeof rows)[number]>([rows[1], rows[2]]);
  const title = "of %s on %s, with %s of memory for their caches";
  const tables = sampled(title, rows, (row) => ofSample.has(row));
  for (const [skip, name, some] of tables) it.skipIf(skip).each(some)(name, expectSameTexts);

  it("hold no memory of the sequences that they ran with, on onnx", async () => {
    await using runtime = await createRuntime({ target: "onnx", host: "inline", threads: 1 });
    await using model = await runtime.load(`${sharedData}tiny-random-llama`, { kind: "language" });
    const { language } = model;
    const before = model.memory.bytes;
    const sequences: number[] = [];
    for (let count = 0; count < 8; count += 1) sequences.push(await language.createSequence());
    await language.decode(sequences.map((sequence) => ({ sequence, tokens: [1, 2, 3, 4] })));
    // One after the other stays behind.
    for (let count = 7; count > 0; count -= 1)
      await language.decode(sequences.slice(0, count).map((sequence) => ({ sequence, tokens: [5] })));
    const tokens = 8 * 4 + (7 * 8) / 2;
    expect(model.memory.bytes - before).toBe(tokens * language.limits.cacheBytesPerToken);
    const [last] = await language.decode([{ sequence: sequences[7]!, tokens: [6] }]);
    const fresh = await language.createSequence();
    const [expected] = await language.decode([{ sequence: fresh, tokens: [1, 2, 3, 4, 6] }]);
    for (const [token, logit] of last!.entries()) expect(Math.abs(logit - expected![token]!)).toBeLessThan(1e-4);
  });
});

async function expectSameTexts(name: string, target: string, maxParkedMemory: string | number): Promise<void> {
  await using runtime = await createRuntime({ target, host: "inline", threads: 1, turnTokens: 3, maxParkedMemory });
  await using model = await runtime.load(`${sharedData}${name}`, { kind: "language" });
  // 16 sequences run at once.
  const clients = Array.from({ length: 18 }, (_, index) => ({ client: String(index), own: options[index % options.length]! }));
  const texts = await Promise.all(clients.map(({ client, own }) => generate(runtime, model, own, client)));
  const [counts] = runtime.sequences();
  expect(counts).toMatchObject({ running: 0, waiting: 0, parked: 0 });
  expect(counts!.preemptions).toBeGreaterThan(10);
  const alone: Awaited<ReturnType<typeof generate>>[] = [];
  for (const own of options) alone.push(await generate(runtime, model, own, "alone"));
  const bare = (each: (typeof alone)[number]) => each.map(({ tokens, text, finishReason }) => ({ tokens, text, finishReason }));
  const logprobsOf = (each: (typeof alone)[number]): readonly number[] => each.flatMap(({ logprobs }) => logprobs);
  // Beside other sequences engines round otherwise, `native` does not.
  const tolerance = target === "native" ? 0 : 1e-4;
  for (const [index, each] of texts.entries()) {
    const expected = alone[index % options.length]!;
    expect(bare(each)).toEqual(bare(expected));
    const wanted = logprobsOf(expected);
    for (const [place, logprob] of logprobsOf(each).entries())
      expect(Math.abs(logprob - wanted[place]!)).toBeLessThanOrEqual(tolerance);
  }
}
