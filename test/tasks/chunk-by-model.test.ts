/** The strategies of chunk that run a model, held against the model's own token vectors and against recognize. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chunk, type ModelHandle, type Runtime, createRuntime } from "inferyard";
import { meanRows, tokenVectors } from "./fixtures/token-vectors.ts";
import { needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const [skip, name] = needsData("chunking by a model");
const page = readFileSync(fileURLToPath(new URL("../../docs/guide/embedding.md", import.meta.url)), "utf8");

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  let folder: string;
  beforeAll(async () => {
    runtime = await createRuntime({ target: "onnx:cpu", host: "inline", threads: 1 });
    folder = mkdtempSync(join(tmpdir(), "inferyard-late-"));
  });
  afterAll(async () => {
    await runtime?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const joined = (chunks: readonly Chunk[]): string => chunks.map(({ text }) => text).join("");

  /** A copy of tiny-random-bert that says how it pools, and has a prompt. */
  function poolingModel(pooling: object): string {
    const path = mkdtempSync(join(folder, "model-"));
    cpSync(`${sharedData}tiny-random-bert`, path, { recursive: true });
    const modules = ["Transformer", "Pooling"].map((type, idx) => ({
      path: idx === 0 ? "" : "1_Pooling",
      type: `sentence_transformers.models.${type}`,
    }));
    mkdirSync(join(path, "1_Pooling"));
    writeFileSync(join(path, "modules.json"), JSON.stringify(modules));
    writeFileSync(join(path, "1_Pooling/config.json"), JSON.stringify(pooling));
    writeFileSync(join(path, "config_sentence_transformers.json"), JSON.stringify({ prompts: { document: "the animal: " } }));
    return path;
  }

  describe("late", () => {
    const short = "The cat sat on the mat. A dog ran.\n\nBirds fly over the house, and the fish swims.";
    const dimensionsOf = (model: string): number => (model === "tiny-random-bert" ? 32 : 384);

    it.each(["tiny-random-bert", "all-MiniLM-L6-v2"])(
      "%s: a chunk that is the whole text has the vector of embed",
      async (name) => {
        const model = `${sharedData}${name}`;
        const { results, target } = await runtime.chunk([short, "", "  "], { model, strategy: "late" });
        const { embeddings } = await runtime.embed(short, { model, pooling: "mean" });
        expect(target).toBe("onnx:cpu");
        expect(results.map(({ chunks }) => chunks.length)).toEqual([1, 0, 1]);
        expect(worst(results[0]!.chunks[0]!.embedding!, embeddings[0]!)).toBeLessThan(1e-5);
      },
    );

    it.each(["tiny-random-bert", "all-MiniLM-L6-v2"])("%s: each chunk has the mean of its tokens' vectors", async (name) => {
      const model = await runtime.load(`${sharedData}${name}`);
      const { results } = await runtime.chunk(short, { model, strategy: "late", targetTokens: 9, overlapTokens: 2 });
      const { chunks } = results[0]!;
      expect(chunks.length).toBeGreaterThan(3);
      const { ids, offsets } = (await runtime.tokenizer(model)).encode(short);
      const vectors = await tokenVectors(model, ids);
      for (const { start, end, embedding } of chunks) {
        const own = ids.flatMap((_id, token) => (offsets[2 * token]! >= start && offsets[2 * token + 1]! <= end ? [token] : []));
        const inside = own.filter((token) => token > 0 && token < ids.length - 1);
        const from = start === 0 ? 0 : inside[0]!;
        const to = end === short.length ? ids.length : inside.at(-1)! + 1;
        const mean = meanRows(vectors, dimensionsOf(name), from, to);
        const length = name === "tiny-random-bert" ? 1 : Math.hypot(...mean);
        expect(
          worst(
            embedding!,
            mean.map((value) => value / length),
          ),
        ).toBeLessThan(1e-5);
      }
      await model.dispose();
    });

    it("a text longer than the model reads: a token has the vector of the first window it is in", async () => {
      const model: ModelHandle = await runtime.load(`${sharedData}tiny-random-bert`);
      const text = page.slice(0, 1500).replaceAll(/\s+/g, " ").trim();
      const [limit, stride] = [64, 16];
      const { results } = await runtime.chunk(text, { model, strategy: "late", stride, targetTokens: 40 });
      const { chunks } = results[0]!;
      expect(joined(chunks)).toBe(text);
      const { ids, offsets } = (await runtime.tokenizer(model)).encode(text, { maxTokens: Number.POSITIVE_INFINITY });
      const content = ids.slice(1, -1);
      const rows: number[][] = [];
      let prefix: number[] = [];
      let suffix: number[] = [];
      for (let from = 0; rows.length < content.length; from = rows.length - stride) {
        const own = content.slice(from, from + limit - 2);
        const vectors = await tokenVectors(model, [ids[0]!, ...own, ids.at(-1)!]);
        const row = (index: number): number[] => [...vectors.subarray(index * 32, (index + 1) * 32)];
        if (from === 0) prefix = row(0);
        for (let token = rows.length - from; token < own.length; token += 1) rows.push(row(token + 1));
        suffix = row(own.length + 1);
      }
      expect(content.length).toBeGreaterThan(limit * 3);
      for (const { start, end, embedding } of chunks) {
        const own = rows.filter((_row, token) => offsets[2 * token + 2]! >= start && offsets[2 * token + 3]! <= end);
        if (start === 0) own.unshift(prefix);
        if (end === text.length) own.push(suffix);
        expect(worst(embedding!, meanRows(Float32Array.from(own.flat()), 32, 0, own.length))).toBeLessThan(1e-5);
      }
      const [first] = (await runtime.chunk(text, { model, strategy: "late", stride, targetTokens: 40, maxChunks: 1 })).results;
      expect(first!.truncated).toBe(true);
      expect(worst(first!.chunks[0]!.embedding!, chunks[0]!.embedding!)).toBeLessThan(1e-5);
      await model.dispose();
    });

    it.each([true, false])(
      "with a prompt, pooled or not (%s), the whole text's vector is that of embed",
      async (includePrompt) => {
        const model = poolingModel({ pooling_mode_mean_tokens: true, include_prompt: includePrompt });
        const text = "the dog ran to the house";
        const { results } = await runtime.chunk(text, { model, strategy: "late", prompt: "document" });
        const { embeddings } = await runtime.embed(text, { model, prompt: "document" });
        expect(worst(results[0]!.chunks[0]!.embedding!, embeddings[0]!)).toBeLessThan(1e-5);
        const parts = (await runtime.chunk(text, { model, strategy: "late", prompt: "document", targetTokens: 4 })).results[0]!
          .chunks;
        expect(joined(parts)).toBe(text);
        expect(parts.map(({ embedding }) => embedding!.length)).toEqual(parts.map(() => 32));
      },
    );

    it("a chunk that cuts a token has what reaches into it; one of nothing but spaces has zeros", async () => {
      const model = `${sharedData}all-MiniLM-L6-v2`;
      const { chunks } = (await runtime.chunk("unquestionably", { model, strategy: "late", targetTokens: 1 })).results[0]!;
      for (const { embedding } of chunks) expect(Math.hypot(...embedding!)).toBeCloseTo(1, 5);
      const spaces = `one${" ".repeat(400)}two`;
      const cut = (await runtime.chunk(spaces, { model, strategy: "late", targetTokens: 1 })).results[0]!.chunks;
      expect(joined(cut)).toBe(spaces);
      for (const { text, embedding } of cut.slice(1, -1).filter(({ text: piece }) => piece.trim() === "")) {
        expect([text.length > 0, embedding!.length, Math.max(...embedding!.map(Math.abs))]).toEqual([true, 384, 0]);
      }
    });

    it("is refused for a model that pools otherwise, or gives other numbers for its tokens", async () => {
      await expect(runtime.chunk("a b", { model: `${sharedData}tiny-random-splade`, strategy: "late" })).rejects.toMatchObject({
        code: "MODEL_UNSUPPORTED",
        message: expect.stringContaining("is a model for fill-mask"),
      });
      const model = poolingModel({ pooling_mode_cls_token: true });
      await expect(runtime.chunk("a b", { model, strategy: "late" })).rejects.toMatchObject({
        code: "MODEL_UNSUPPORTED",
        message: expect.stringContaining('has pooling "cls", and late chunking needs "mean"'),
      });
    });
  });

  describe("token-classification", () => {
    const { items } = JSON.parse(readFileSync(`${sharedData}minilm-l3-ner/goldens.json`, "utf8")) as {
      items: { text: string; pipeline: { simple: { end: number }[] } | null }[];
    };
    const model = `${sharedData}minilm-l3-ner`;

    it("cuts where transformers' pipeline says that an entity ends, and loses nothing", async () => {
      const usual = items.filter(({ text, pipeline }) => pipeline !== null && text.length < 300);
      const texts = usual.map(({ text }) => text);
      const { results, target } = await runtime.chunk(texts, { model, strategy: "token-classification", offsets: "codepoints" });
      expect(target).toBe("onnx:cpu");
      let cuts = 0;
      for (const [index, { text, pipeline }] of usual.entries()) {
        const { chunks } = results[index]!;
        expect(joined(chunks)).toBe(text);
        const ends = pipeline!.simple.map(({ end }) => end).filter((end) => end < Array.from(text).length);
        expect(
          chunks.slice(0, -1).map(({ end }) => end),
          text,
        ).toEqual(ends);
        cuts += ends.length;
      }
      expect(cuts).toBeGreaterThan(20);
    });

    it("of a text longer than the model reads, everywhere", async () => {
      const text = "Angela Merkel met Barack Obama in Berlin yesterday. ".repeat(120);
      const { chunks } = (await runtime.chunk(text, { model, strategy: "token-classification", targetTokens: 30 })).results[0]!;
      expect(joined(chunks)).toBe(text);
      const { results } = await runtime.recognize(text, { model });
      const ends = new Set(chunks.map(({ end }) => end));
      expect(results[0]!.length).toBeGreaterThan(240);
      for (const { end } of results[0]!) expect(ends.has(end)).toBe(true);
      for (const { tokens } of chunks) expect(tokens).toBeLessThanOrEqual(30);
    });

    it.each(["builtin", `${sharedData}tiny-random-bert`])("is refused for a model without such a head: %s", async (other) => {
      const open = await createRuntime();
      await expect(open.chunk("a b", { model: other, strategy: "token-classification" })).rejects.toMatchObject({
        code: "MODEL_UNSUPPORTED",
        message: expect.stringContaining("no token-classification head"),
      });
      await open.dispose();
    });
  });
});
