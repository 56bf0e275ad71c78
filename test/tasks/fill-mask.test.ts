/** fill-mask on a real masked-language model: its golden logits, and a softmax that is made here. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime, pipeline } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const splade = `${sharedData}tiny-random-splade`;

interface Encoded {
  readonly shape: number[];
  readonly data: string;
}

interface Item {
  readonly text: string;
  readonly input_ids: number[];
  readonly logits_first_token: Encoded;
}

const floats = ({ data }: Encoded): number[] => {
  const bytes = Buffer.from(data, "base64");
  return Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
};

const softmax = (logits: readonly number[]): number[] => {
  const highest = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
};

const ranked = (scores: readonly number[]): number[] => [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!);

const [skip, name] = needsData("masks");

describe.skipIf(skip).each(["onnx:cpu", "wasm:cpu"])(`${name} on %s`, (target) => {
  let runtime: Runtime;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-mask-"));
    runtime = await createRuntime({ target, host: "inline", threads: 1 });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The model with another mask token in its tokenizer_config.json; null: none is named. */
  const withMask = (place: string, mask: unknown): string => {
    const copy = join(folder, place);
    cpSync(splade, copy, { recursive: true, mode: 0 });
    const path = join(copy, "tokenizer_config.json");
    const config = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    rmSync(path, { force: true });
    if (mask === null) delete config["mask_token"];
    else config["mask_token"] = mask;
    writeFileSync(path, JSON.stringify(config));
    return copy;
  };

  it("the softmax of the logits PyTorch gave: the goldens have those of the first token, so it is made the mask", async () => {
    const { items } = JSON.parse(readFileSync(`${splade}/goldens.json`, "utf8")) as { items: Item[] };
    expect(items.length).toBeGreaterThan(4);
    const model = withMask("first", { content: "[CLS]", special: true });
    const { results } = await runtime.fillMask(
      items.map(({ text }) => text),
      { model, topK: 400 },
    );
    for (const [index, item] of items.entries()) {
      const expected = softmax(floats(item.logits_first_token));
      const [fills = []] = results[index] ?? [];
      expect(fills).toHaveLength(400);
      expect(fills[0]?.token).toBe(ranked(expected)[0]);
      for (const { token, score } of fills) expect(Math.abs(score - expected[token]!), item.text).toBeLessThan(1e-5);
      expect(fills.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 5);
    }
  });

  it("each mask of a text has its own list: what the model says at its place", async () => {
    const texts = ["Paris is the [MASK] of France.", "a [MASK] and a [MASK] [MASK]"];
    const { results, tokens } = await runtime.fillMask(texts, { model: splade, topK: 3 });
    expect(results.map((masks) => masks.length)).toEqual([1, 3]);
    const handle = await runtime.load(splade);
    const tokenizer = await runtime.tokenizer(handle);
    for (const [index, text] of texts.entries()) {
      const { ids } = tokenizer.encode(text);
      expect(tokens[index]).toBe(ids.length);
      const int64 = (values: readonly number[]) => ({
        dataType: "int64" as const,
        shape: [1, values.length],
        data: BigInt64Array.from(values, BigInt),
      });
      const { logits } = await handle.run({
        input_ids: int64(ids),
        attention_mask: int64(ids.map(() => 1)),
        token_type_ids: int64(ids.map(() => 0)),
      });
      const places = ids.flatMap((id, place) => (id === tokenizer.tokenToId("[MASK]") ? [place] : []));
      for (const [number, place] of places.entries()) {
        const expected = softmax([...(logits!.data as Float32Array).subarray(place * 400, (place + 1) * 400)]);
        const fills = results[index]![number]!;
        expect(fills.map(({ token }) => token)).toEqual(ranked(expected).slice(0, 3));
        for (const { token, score, tokenText, sequence } of fills) {
          expect(Math.abs(score - expected[token]!)).toBeLessThan(1e-5);
          expect(tokenText).toBe(tokenizer.decode([token], { skipSpecialTokens: false }));
          const filled = tokenizer.decode(ids.with(place, token), { skipSpecialTokens: places.length === 1 });
          expect(sequence).toBe(filled);
        }
      }
    }
    // The other masks stay to be seen, as transformers shows them.
    expect(results[1]?.[0]?.[0]?.sequence.match(/\[MASK\]/g)).toHaveLength(2);
    expect(results[0]?.[0]?.[0]?.sequence).not.toContain("[");
    await handle.dispose();
  });

  it("targets alone are considered, and their scores stay shares of the whole vocabulary", async () => {
    const text = "the little [MASK] was there";
    const all = (await runtime.fillMask(text, { model: splade, topK: 400 })).results[0]![0]!;
    const { results, targets } = await runtime.fillMask(text, { model: splade, targets: ["Girl", "time", "ever", "girl"] });
    expect(targets).toEqual([
      { target: "Girl", token: 390, tokenText: "girl", whole: true },
      { target: "time", token: 252, tokenText: "ti", whole: false },
      { target: "ever", token: 211, tokenText: "ever", whole: true },
      { target: "girl", token: 390, tokenText: "girl", whole: true },
    ]);
    const fills = results[0]![0]!;
    expect(fills).toHaveLength(3);
    for (const fill of fills) expect(fill).toEqual(all.find(({ token }) => token === fill.token));
    expect(fills.map(({ score }) => score)).toEqual(fills.map(({ score }) => score).toSorted((a, b) => b - a));
  });

  it("where the model's files name no mask token, the usual names are looked for", async () => {
    const { results } = await runtime.fillMask("the [MASK]", { model: withMask("silent", null), topK: 1 });
    expect(results[0]?.[0]).toHaveLength(1);
  });

  it("all at once gives what one by one gives", async () => {
    const texts = ["the [MASK]", "[MASK] [MASK]", `${"a girl ".repeat(20)}[MASK]`, "[MASK]"];
    const together = await runtime.fillMask(texts, { model: splade });
    for (const [index, text] of texts.entries()) {
      const alone = (await runtime.fillMask(text, { model: splade })).results[0]!.flat();
      const own = together.results[index]!.flat();
      expect(own.map(({ token }) => token)).toEqual(alone.map(({ token }) => token));
      for (const [place, { score }] of alone.entries()) expect(Math.abs(own[place]!.score - score)).toBeLessThan(1e-5);
    }
  });

  it("a text that is cut keeps its mask, or is refused where the mask would be cut away", async () => {
    const long = "a little girl ".repeat(40);
    const { truncated, results } = await runtime.fillMask(`[MASK] ${long}`, { model: splade });
    expect([truncated, results[0]?.length]).toEqual([[0], 1]);
    for (const text of [`${long}[MASK]`, `[MASK] ${long}[MASK]`])
      await expect(runtime.fillMask(text, { model: splade })).rejects.toMatchObject({
        code: "INPUT_TOO_LONG",
        message: expect.stringContaining("a mask lies beyond it") as string,
      });
  });

  it("nothing for nothing; a lone surrogate and a NUL are read as the tokenizer reads them", async () => {
    expect((await runtime.fillMask([], { model: splade })).results).toEqual([]);
    expect((await runtime.fillMask("\ud800 [MASK] \u0000", { model: splade })).results[0]).toHaveLength(1);
  });

  it.each([
    ["a text without a mask", "no mask here", {}, "INPUT_INVALID", "text 0 has no mask token; that of this model is [MASK]"],
    ["an empty text", "", {}, "INPUT_INVALID", "has no mask"],
    ["no targets", "[MASK]", { targets: [] }, "INPUT_INVALID", "targets"],
    ["a target without a token", "[MASK]", { targets: ["🍕"] }, "INPUT_INVALID", 'no token for the target "🍕"'],
    ["an empty target", "[MASK]", { targets: [""] }, "INPUT_INVALID", "no token for the target"],
    ["topK 0", "[MASK]", { topK: 0 }, "INPUT_INVALID", "topK is 0"],
    ["an unknown option", "[MASK]", { topk: 1 }, "INPUT_INVALID", '"topk"'],
    ["a text that is none", 3, {}, "INPUT_INVALID", "texts must be"],
    [
      "another kind of model",
      "[MASK]",
      { model: `${sharedData}tiny-random-bert` },
      "MODEL_UNSUPPORTED",
      "no masked-language-model head",
    ],
  ])("%s is refused", async (_what, text, options, code, words) => {
    await expect(runtime.fillMask(text as string, { model: splade, ...options })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words) as string,
    });
  });
});

describe.skipIf(skip)(`${name}: pipeline("fill-mask")`, () => {
  it("fields are named as transformers names them; several masks give several lists", async () => {
    const fill = await pipeline("fill-mask", splade, { target: "onnx:cpu" });
    const one = await fill("the [MASK]", { topK: 2 });
    expect(one).toEqual([expect.anything(), expect.anything()]);
    expect(Object.keys(one[0] ?? {})).toEqual(["score", "token", "token_str", "sequence"]);
    expect(await fill(["the [MASK]", "[MASK] [MASK]"], { topK: 1 })).toEqual([
      [expect.anything()],
      [[expect.anything()], [expect.anything()]],
    ]);
    await fill.dispose();
  });
});
