/** Speculative decoding with a draft model: the same texts in fewer calls of the model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const [skip, title] = needsData("draft models");
const tinyllm = `${sharedData}tinyllm/tinyllm.gguf`;
const prompts = ["Once upon a time", "Lily saw a big red ball. She"];

describe.skipIf(skip)(title, () => {
  let folder = "";
  let quantized = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-draft-"));
    quantized = join(folder, "small.gguf");
    const { code, stderr } = await inferyard(["quantize", tinyllm, "--to", "q4_0", "--out", quantized]);
    if (code !== 0) throw new Error(stderr);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(["native", "llamacpp"])("on %s: the text is that of plain decoding, greedy and drawn", async (target) => {
    await using runtime = await createRuntime({ target, host: "inline", threads: 1 });
    await using model = await runtime.load(tinyllm, { kind: "language" });
    const settings: Omit<Parameters<typeof runtime.generate>[1], "model" | "stream">[] = [
      { temperature: 0 },
      { temperature: 0.8, seed: 3 },
      { temperature: 0, repetitionPenalty: 1.2 },
      { temperature: 0, promptLookup: 4 },
      { temperature: 0, constraint: { type: "regex", pattern: "[a-z ,.]{1,60}" } },
    ];
    const maxNewTokens = 20;
    // What follows the choice of a token is the same on every engine: llamacpp has the first two.
    for (const options of runsAll || target === "native" ? settings : settings.slice(0, 2)) {
      const plain = await runtime.generate(prompts, { model, maxNewTokens, ...options });
      const drafted = await runtime.generate(prompts, {
        model,
        maxNewTokens,
        ...options,
        draftModel: quantized,
        draftTokens: 5,
      });
      expect(drafted.results.map(({ tokens }) => tokens)).toEqual(plain.results.map(({ tokens }) => tokens));
      expect(drafted.target).toBe(model.target);
      for (const { draftModel } of drafted.results) expect(draftModel!.accepted).toBeLessThanOrEqual(draftModel!.drafted);
    }
  });

  it("drafts of a good model are kept, and the texts of one call may differ in length", async () => {
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const { results } = await runtime.generate(prompts, {
      model: tinyllm,
      maxNewTokens: 60,
      temperature: 0,
      draftModel: quantized,
    });
    const [drafted, accepted] = (["drafted", "accepted"] as const).map((name) =>
      results.reduce((sum, { draftModel }) => sum + draftModel![name], 0),
    );
    expect(accepted! / drafted!).toBeGreaterThan(0.5);
    // A text as its own draft: all is kept but what is left over at the end of a text.
    const own = await runtime.generate(prompts, { model: tinyllm, maxNewTokens: 60, temperature: 0, draftModel: tinyllm });
    for (const { draftModel } of own.results) expect(draftModel!.accepted / draftModel!.drafted).toBeGreaterThan(0.9);
    // The beginnings of prompts are kept for later texts; no other sequence is left.
    expect(runtime.sequences().map(({ running, waiting }) => [running, waiting])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it("a text that is aborted ends both", async () => {
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const aborted = new AbortController();
    const stream = await runtime.generate("Once upon a time", {
      model: tinyllm,
      draftModel: quantized,
      signal: aborted.signal,
      stream: true,
    });
    const reading = (async () => {
      for await (const _event of stream) aborted.abort();
    })();
    await expect(reading).rejects.toMatchObject({ code: "ABORTED" });
    expect(runtime.sequences().map(({ running }) => running)).toEqual([0, 0]);
  });

  it("is refused for other tokens, for models with an encoder, with beams, and without a draft model", async () => {
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const llama = `${sharedData}tiny-random-llama`;
    for (const [model, draftModel, options] of [
      [tinyllm, llama, {}],
      [`${sharedData}tiny-random-t5`, llama, {}],
      [llama, `${sharedData}tiny-random-t5`, {}],
      [llama, llama, { numBeams: 2 }],
      [llama, undefined, { draftTokens: 4 }],
      [llama, llama, { draftTokens: 0 }],
      [llama, llama, { draftTokens: 65 }],
    ] as const) {
      const asked = { model, ...options, ...(draftModel === undefined ? {} : { draftModel }) };
      await expect(runtime.generate("a b", asked)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
  });

  it("is a flag of generate", async () => {
    const flags = ["--target", "native", "--max-new-tokens", "20", "--temperature", "0"];
    const plain = await inferyard(["generate", "--model", tinyllm, ...flags, "Once upon a time"]);
    const drafted = await inferyard(["generate", "--model", tinyllm, ...flags, "--draft-model", quantized, "Once upon a time"]);
    expect(drafted.stdout).toBe(plain.stdout);
    expect(drafted.stderr).toMatch(/ · \d+ of \d+ drafted tokens kept/);
  });
});
