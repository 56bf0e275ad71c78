import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amount } from "../../test/fixtures/slow.ts";
import type { TextSettings } from "../models/manifest.ts";
import { loadTokenizer } from "./index.ts";
import type { Tokenizer } from "./index.ts";

const shared = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const absent = existsSync(shared) ? "" : ` (skipped: ${shared} is not there)`;

const settingsOf = (tokenizerPath: string, more: Partial<TextSettings> = {}): TextSettings => ({
  tokenizerPath,
  tokenizerShown: tokenizerPath,
  tokenizerConfig: {},
  specialTokens: true,
  dropUnknown: false,
  lowercase: false,
  poolPrompt: true,
  normalize: false,
  prompts: {},
  ...more,
});

const inShared = (folder: string, more: Partial<TextSettings> = {}): Promise<Tokenizer> =>
  loadTokenizer(settingsOf(join(shared, folder, "tokenizer.json"), more));

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(shared, path), "utf8"));

describe.skipIf(absent)(`real tokenizers${absent}`, () => {
  it("gives the token ids of all 46 MiniLM goldens, cut to the model's 256 and not to its file's own 128", async () => {
    interface Golden {
      text: string;
      input_ids: number[];
      n_tokens_untruncated: number;
    }
    const { items } = readJson("all-MiniLM-L6-v2/goldens.json") as { items: Golden[] };
    const tokenizer = await inShared("all-MiniLM-L6-v2", { maxTokens: 256 });
    expect(items).toHaveLength(46);
    for (const { text, input_ids: ids, n_tokens_untruncated: tokens } of items) {
      expect(tokenizer.encode(text), text).toEqual({ ids, wholeLength: tokens, truncated: tokens > 256, promptTokens: 0 });
      expect(tokenizer.count(text)).toBe(tokens);
    }
  });

  /** Its merges of no-break spaces are merges of spaces in this copy, so these two texts cannot come out right; the Rust library refuses the file. */
  const brokenInFile = ["TEXT_WITH_ESCAPE_CHARACTERS", "TEXT_WITH_ESCAPE_CHARACTERS_2"];

  it.each([
    ["all-minilm-l6-v2", "Xenova/bert-base-uncased", 30, []],
    ["clip", "Xenova/clip-vit-base-patch16", 25, []],
    ["t5-small", "Xenova/t5-small", 29, []],
    ["llama2", "Xenova/llama-tokenizer", 37, brokenInFile],
  ])("passes the published vectors of %s", async (folder, model, count, known) => {
    const vectors = (readJson("tokenizers/vectors.json") as Record<string, Record<string, { text: string; ids: number[] }>>)[
      model
    ];
    // The one vector of a pair of texts is left out: a single text is all this interface takes.
    const entries = Object.entries(vectors ?? {}).filter(([name]) => name !== "TEXT_PAIR");
    expect(entries).toHaveLength(count);
    const tokenizer = await inShared(`tokenizers/${folder}`);
    const failed = entries.filter(([, { text, ids }]) => tokenizer.encode(text).ids.join() !== ids.join());
    expect(failed.map(([name]) => name)).toEqual(known);
  });

  it.each([
    "tiny-random-bart",
    "tiny-random-bert",
    "tiny-random-clip",
    "tiny-random-deberta-v3",
    "tiny-random-gemma",
    "tiny-random-gpt2",
    "tiny-random-llama",
    "tiny-random-modernbert",
    "tiny-random-qwen2",
    "tiny-random-t5",
    "tiny-random-whisper",
  ])("frames and encodes like transformers 4.48: %s", async (folder) => {
    interface Probe {
      text: string;
      input_ids: number[];
    }
    const { tokenizer_probes: probes } = readJson(`${folder}/goldens.json`) as { tokenizer_probes: Probe[] };
    const tokenizer = await inShared(folder);
    expect(probes.length).toBeGreaterThan(5);
    for (const { text, input_ids: ids } of probes) expect(tokenizer.encode(text).ids, text).toEqual(ids);
  });

  it("takes the frame's ids from the post-processor, as the Rust library does, even where the vocabulary has moved", async () => {
    const tokenizer = await inShared("static-embeddings/test-model-float32");
    expect(tokenizer.frame).toEqual({ prefix: [101], suffix: [102] });
  });

  it("knows its vocabulary", async () => {
    const tokenizer = await inShared("all-MiniLM-L6-v2");
    expect(tokenizer).toMatchObject({ vocabularySize: 30522, padId: 0, unknownId: 100, frame: { prefix: [101], suffix: [102] } });
    expect([tokenizer.idToToken(7592), tokenizer.idToToken(30522)]).toEqual(["hello", undefined]);
    expect((await inShared("tiny-random-bart", { tokenizerConfig: { pad_token: { content: "<pad>" } } })).padId).toBe(1);
  });

  it("takes any text whatever, unpaired surrogates included, and any limit that leaves room for the frame", async () => {
    const tokenizers = await Promise.all(
      ["all-MiniLM-L6-v2", "tiny-random-gpt2", "tiny-random-t5"].map((folder) => inShared(folder)),
    );
    const anyText = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
      fc.array(fc.constantFrom("[SEP]", "</s>", "𠮷", "Σ", "a", " ", "\u200d", "\ud800")).map((parts) => parts.join("")),
    );
    const property = fc.property(anyText, fc.nat(12), fc.constantFrom(...tokenizers), (text, spare, tokenizer) => {
      const frame = tokenizer.frame.prefix.length + tokenizer.frame.suffix.length;
      const whole = tokenizer.encode(text);
      const cut = tokenizer.encode(text, { maxTokens: frame + spare });
      expect(whole.ids.every((id) => Number.isInteger(id) && id < tokenizer.vocabularySize)).toBe(true);
      expect(cut).toMatchObject({ wholeLength: whole.ids.length, truncated: whole.ids.length > frame + spare });
      expect(cut.ids.length).toBe(Math.min(whole.ids.length, frame + spare));
      expect(cut.ids.slice(0, tokenizer.frame.prefix.length)).toEqual(tokenizer.frame.prefix);
      expect(cut.ids.slice(cut.ids.length - tokenizer.frame.suffix.length)).toEqual(tokenizer.frame.suffix);
    });
    fc.assert(property, { numRuns: amount(300, 75) });
  });

  it("leaves unknown tokens and the frame out for static embeddings", async () => {
    const settings = { specialTokens: false, dropUnknown: true, maxTokens: 3 };
    const tokenizer = await inShared("all-MiniLM-L6-v2", settings);
    const { ids } = await inShared("all-MiniLM-L6-v2").then((plain) => plain.encode("a 🍕 cat sits"));
    expect(ids).toEqual([101, 1037, 100, 4937, 7719, 102]);
    expect(tokenizer.encode("a 🍕 cat sits")).toEqual({ ids: [1037, 4937], wholeLength: 4, truncated: true, promptTokens: 0 });
    expect(tokenizer.encode("a cat sits")).toMatchObject({ ids: [1037, 4937, 7719], wholeLength: 3, truncated: false });
  });
});

describe("a small tokenizer", () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-tokenizer-"))));
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  const vocab = { "[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, query: 4, ":": 5, one: 6, two: 7, three: 8, Two: 9 };
  const special = (id: string, ids: number[]) => ({ id, ids, tokens: [id] });
  const small = {
    added_tokens: [],
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [
        { SpecialToken: { id: "[CLS]", type_id: 0 } },
        { Sequence: { id: "A", type_id: 0 } },
        { SpecialToken: { id: "[SEP]", type_id: 0 } },
      ],
      special_tokens: { "[CLS]": special("[CLS]", [2]), "[SEP]": special("[SEP]", [3]) },
    },
    model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, vocab },
  };

  async function load(json: unknown, more: Partial<TextSettings> = {}): Promise<Tokenizer> {
    const path = join(folder, "tokenizer.json");
    await writeFile(path, typeof json === "string" ? json : JSON.stringify(json));
    return await loadTokenizer(settingsOf(path, { tokenizerShown: "./model/tokenizer.json", ...more }));
  }

  it("cuts content on the right, or on the side tokenizer_config.json names, and keeps the frame", async () => {
    expect((await load(small, { maxTokens: 4 })).encode("one two three").ids).toEqual([2, 6, 7, 3]);
    const left = await load(small, { maxTokens: 4, tokenizerConfig: { truncation_side: "left" } });
    expect(left.encode("one two three")).toEqual({ ids: [2, 7, 8, 3], wholeLength: 5, truncated: true, promptTokens: 0 });
    expect(left.encode("one two three", { maxTokens: Infinity }).ids).toEqual([2, 6, 7, 8, 3]);
  });

  it("refuses a limit that leaves no room for the frame", async () => {
    const tokenizer = await load(small);
    expect(tokenizer.encode("one", { maxTokens: 2 }).ids).toEqual([2, 3]);
    expect(() => tokenizer.encode("one", { maxTokens: 1 })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }) as Error);
  });

  it("counts the prompt as the reference does: frame and prompt, without the closing token", async () => {
    const tokenizer = await load(small);
    expect(tokenizer.encode("one two", { prompt: "query: " })).toEqual({
      ids: [2, 4, 5, 6, 7, 3],
      wholeLength: 6,
      truncated: false,
      promptTokens: 3,
    });
    expect(tokenizer.encode("one two", { prompt: "query: ", maxTokens: 3 })).toMatchObject({ ids: [2, 4, 3], promptTokens: 2 });
    const left = await load(small, { tokenizerConfig: { truncation_side: "left" } });
    expect(left.encode("one two", { prompt: "query: ", maxTokens: 5 })).toMatchObject({ ids: [2, 5, 6, 7, 3], promptTokens: 2 });
  });

  it("lets tokenizer_config.json win over tokenizer.json where transformers does", async () => {
    const cased = { tokenizer_class: "BertTokenizer", do_lower_case: false };
    expect((await load(small)).encode("Two").ids).toEqual([2, 7, 3]);
    expect((await load(small, { tokenizerConfig: cased })).encode("Two").ids).toEqual([2, 9, 3]);
    expect((await load(small, { tokenizerConfig: { ...cased, tokenizer_class: "RobertaTokenizer" } })).encode("Two").ids).toEqual(
      [2, 7, 3],
    );
    expect((await load(small, { tokenizerConfig: cased, lowercase: true })).encode("Two").ids).toEqual([2, 7, 3]);
    expect((await load({ ...small, normalizer: null }, { lowercase: true })).encode("Two").ids).toEqual([2, 7, 3]);
  });

  it("frames by Bert, Roberta and sequences of processors alike", async () => {
    const pairs = { cls: ["[CLS]", 2], sep: ["[SEP]", 3] };
    const processors = [{ type: "ByteLevel" }, { type: "RobertaProcessing", ...pairs }];
    for (const step of [
      { type: "BertProcessing", ...pairs },
      { type: "Sequence", processors },
    ]) {
      expect((await load({ ...small, post_processor: step })).frame).toEqual({ prefix: [2], suffix: [3] });
    }
    expect((await load({ ...small, post_processor: null })).encode("one").ids).toEqual([6]);
  });

  const { model } = small;
  it.each<[string, unknown, RegExp]>([
    ["an empty file", "", /is empty/],
    ["broken JSON", "{", /is not JSON/],
    ["a list", "[]", /no JSON object/],
    ["no model", {}, /no "model"/],
    ["no vocabulary", { ...small, model: { type: "BPE" } }, /without "vocab"/],
    ["an empty vocabulary", { ...small, model: { ...model, vocab: {} } }, /empty vocabulary/],
    ["an id that is no number", { ...small, model: { ...model, vocab: { a: "b" } } }, /not a whole number/],
    ["no merges", { ...small, model: { type: "BPE", vocab } }, /without "merges"/],
    ["scores that are none", { ...small, model: { type: "Unigram", unk_id: 0, vocab: [["a"]] } }, /a text and a score/],
    ["no unknown token", { ...small, model: { ...model, unk_token: "[WHAT]" } }, /unknown token "\[WHAT\]"/],
    ["broken added tokens", { ...small, added_tokens: [{ id: 1 }] }, /added_tokens/],
    ["a step that is no object", { ...small, normalizer: 3 }, /"normalizer"/],
    ["a step nobody knows", { ...small, pre_tokenizer: { type: "Tarot" } }, /Tarot/],
    ["a frame without ids", { ...small, post_processor: { type: "BertProcessing", cls: ["[X]"], sep: ["[Y]"] } }, /"\[X\]"/],
    [
      "a frame without the text",
      { ...small, post_processor: { type: "TemplateProcessing", single: [], pair: [] } },
      /exactly once/,
    ],
    [
      "an id behind the vocabulary",
      { ...small, post_processor: { type: "BertProcessing", cls: ["a", 99], sep: ["b", 1] } },
      /the id 99 /,
    ],
    ["a negative id", { ...small, post_processor: { type: "BertProcessing", cls: ["a", -1], sep: ["b", 1] } }, /the id -1 /],
    [
      "a special token of more ids than tokens",
      {
        ...small,
        post_processor: {
          type: "TemplateProcessing",
          single: [{ Sequence: { id: "A" } }, { SpecialToken: { id: "x" } }],
          special_tokens: { x: { id: "x", ids: [1, 2, 3], tokens: ["x"] } },
        },
      },
      /states 3 ids and 1 tokens for "x"/,
    ],
    [
      "a broken regular expression",
      { ...small, pre_tokenizer: { type: "Split", pattern: { Regex: "(" }, behavior: "Isolated" } },
      /cannot be used/,
    ],
  ])("reports %s as one error with the path as the user wrote it", async (_what, json, message) => {
    const error = await load(json).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "TOKENIZER_INVALID", remedy: expect.stringContaining("tokenizer.json") as string });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toContain("./model/tokenizer.json");
  });

  it("reports a missing file and a folder in its place", async () => {
    const missing = loadTokenizer(settingsOf(join(folder, "nowhere.json")));
    await expect(missing).rejects.toMatchObject({
      code: "TOKENIZER_INVALID",
      message: expect.stringContaining("is missing") as string,
    });
    await expect(loadTokenizer(settingsOf(folder))).rejects.toMatchObject({
      code: "TOKENIZER_INVALID",
      message: expect.stringContaining("is a folder") as string,
    });
  });

  it("reports a tokenizer that fails on a text, and never gives an id that is none", async () => {
    const noUnknown = { ...small, normalizer: null, post_processor: null, model: { vocab: { one: 0 } } };
    const tokenizer = await load(noUnknown);
    expect(tokenizer.encode("one").ids).toEqual([0]);
    expect(() => tokenizer.encode("two")).toThrow(expect.objectContaining({ code: "TOKENIZER_INVALID" }) as Error);
    expect(() => tokenizer.encode(undefined as never)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }) as Error);
  });
});
