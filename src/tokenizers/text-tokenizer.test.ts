/** What a caller gets from a tokenizer besides ids: places, pairs, windows, padding, text again; and texts made to break it. */
import { describe, expect, it } from "vitest";
import { amount } from "../../test/fixtures/slow.ts";
import { tokenizerOver } from "../../scripts/check-tokenizers/answers.ts";
import { convertOffsets } from "./index.ts";
import type { Tokenizer } from "./tokenizer.ts";

const vocab = Object.fromEntries(
  ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "zoe", "eats", "pizza", "##s", "a", "東", "京", "fi", "##ne", "."].map((token, id) => [
    token,
    id,
  ]),
);
const special = (id: string, ids: number[]): object => ({ id, ids, tokens: [id] });
const part = (kind: "SpecialToken" | "Sequence", id: string, typeId: number): object => ({ [kind]: { id, type_id: typeId } });
const template = {
  type: "TemplateProcessing",
  single: [part("SpecialToken", "[CLS]", 0), part("Sequence", "A", 0), part("SpecialToken", "[SEP]", 0)],
  pair: [
    part("SpecialToken", "[CLS]", 0),
    part("Sequence", "A", 0),
    part("SpecialToken", "[SEP]", 0),
    part("Sequence", "B", 1),
    part("SpecialToken", "[SEP]", 1),
  ],
  special_tokens: { "[CLS]": special("[CLS]", [2]), "[SEP]": special("[SEP]", [3]) },
};
const file = {
  added_tokens: ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map((content, id) => ({ id, content, special: true, normalized: false })),
  normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: template,
  decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, vocab },
};
const bert = (): Tokenizer => tokenizerOver(file);

describe("an encoding", () => {
  it("says for every token which part of the text it stands for, in any unit", () => {
    const text = "Zoë\u0301 eats 🍕 pizzas東京.";
    const encoding = bert().encode(text);
    expect(encoding.tokens).toEqual(["[CLS]", "zoe", "eats", "[UNK]", "pizza", "##s", "東", "京", ".", "[SEP]"]);
    const parts = encoding.ids.map((_id, index) => text.slice(...encoding.offsets.slice(2 * index, 2 * index + 2)));
    expect(parts).toEqual(["", "Zoë", "eats", "🍕", "pizza", "s", "東", "京", ".", ""]);
    expect(Array.from(convertOffsets(encoding.offsets, text, "codepoints").slice(6, 10))).toEqual([10, 11, 12, 17]);
    expect(Array.from(convertOffsets(encoding.offsets, text, "bytes").slice(6, 10))).toEqual([12, 16, 17, 22]);
    expect(encoding.wordIds).toEqual([null, 0, 1, 2, 3, 3, 4, 5, 6, null]);
    expect(encoding.specialTokensMask).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it("of a pair tells the texts apart", () => {
    const encoding = bert().encode("zoe eats", { pair: "pizza" });
    expect(encoding.ids).toEqual([2, 4, 5, 3, 6, 3]);
    expect(encoding.typeIds).toEqual([0, 0, 0, 0, 1, 1]);
    expect(encoding.sequenceIds).toEqual([null, 0, 0, null, 1, null]);
    expect([...encoding.offsets]).toEqual([0, 0, 0, 3, 4, 8, 0, 0, 0, 5, 0, 0]);
    expect(bert().encode("zoe", { pair: "pizza", addSpecialTokens: false }).ids).toEqual([4, 6]);
  });

  it("keeps what was cut, in windows that overlap by the stride, on either side", () => {
    const right = bert().encode("zoe eats a pizza .", { maxTokens: 5, stride: 1 });
    expect([right, ...right.overflowing].map(({ tokens }) => tokens.slice(1, -1).join(" "))).toEqual(["zoe eats a", "a pizza ."]);
    const left = bert().encode("zoe eats a pizza .", { maxTokens: 5, stride: 1, truncationSide: "left" });
    expect([left, ...left.overflowing].map(({ tokens }) => tokens.slice(1, -1).join(" "))).toEqual(["a pizza .", "zoe eats a"]);
    expect([right.truncated, right.wholeLength, [...(right.overflowing[0]?.offsets ?? [])].slice(2, 4)]).toEqual([
      true,
      7,
      [9, 10],
    ]);
    expect(bert().encode("zoe").overflowing).toEqual([]);
  });

  it("cuts the longer text of a pair first, or the one that is named", () => {
    const cut = (strategy: "longest_first" | "only_first" | "only_second", maxTokens: number): readonly string[] =>
      bert().encode("zoe eats a pizza", { pair: "a .", maxTokens, strategy }).tokens;
    expect(cut("longest_first", 7)).toEqual(["[CLS]", "zoe", "eats", "[SEP]", "a", ".", "[SEP]"]);
    expect(cut("longest_first", 5)).toEqual(["[CLS]", "zoe", "[SEP]", "a", "[SEP]"]);
    expect(cut("only_second", 8)).toEqual(["[CLS]", "zoe", "eats", "a", "pizza", "[SEP]", "a", "[SEP]"]);
    expect(() => cut("only_second", 7)).toThrow(/second text alone/);
    expect(() => bert().encode("zoe eats a", { maxTokens: 4, stride: 2 })).toThrow(/stride of 2/);
    expect(() => bert().encode("zoe eats", { maxTokens: 3, strategy: "only_second" })).toThrow(/needs a second text/);
  });

  it("is padded to one length and decoded again", () => {
    const tokenizer = bert();
    const rows = [tokenizer.encode("zoe"), tokenizer.encode("zoe eats pizzas.")];
    expect(tokenizer.pad(rows, { multipleOf: 4 }).ids).toEqual([
      [2, 4, 3, 0, 0, 0, 0, 0],
      [2, 4, 5, 6, 7, 13, 3, 0],
    ]);
    expect(tokenizer.pad(rows, { side: "left" }).attentionMask[0]).toEqual([0, 0, 0, 0, 1, 1, 1]);
    expect(tokenizer.decode(rows[1]?.ids ?? [])).toBe("zoe eats pizzas.");
    expect(tokenizer.decode([2, 4, 999, 3], { skipSpecialTokens: false })).toBe("[CLS] zoe [SEP]");
  });
});

const bytes = Array.from({ length: 256 }, (_token, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
const llama = (): Tokenizer => {
  const tokens = ["<unk>", ...bytes, "▁", "a", "aa", "aaaa", "aaaaaaaa", "▁a"];
  const model = {
    type: "BPE",
    unk_token: "<unk>",
    fuse_unk: true,
    byte_fallback: true,
    vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    merges: ["a a", "aa aa", "aaaa aaaa", "▁ a"],
  };
  const normalizers = [
    { type: "Prepend", prepend: "▁" },
    { type: "Replace", pattern: { String: " " }, content: "▁" },
  ];
  return tokenizerOver({ normalizer: { type: "Sequence", normalizers }, model });
};
const unigram = (): Tokenizer =>
  tokenizerOver({
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    model: {
      type: "Unigram",
      unk_id: 0,
      vocab: [
        ["<unk>", 0],
        ["a", -2],
        ["aa", -3],
        ["aaaa", -5],
        ["▁", -2],
      ],
    },
  });
const gpt2 = (): Tokenizer => {
  return tokenizerOver({
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
    model: { type: "BPE", vocab: { a: 0, Ġ: 1, aa: 2, aaaa: 3, ĠĠ: 4, "!": 5 }, merges: ["a a", "aa aa", "Ġ Ġ"] },
  });
};

describe("texts made to break a tokenizer", () => {
  /** Were any of this quadratic, it would take minutes, and the test would be ended. */
  it.each([
    ["WordPiece", bert],
    ["BPE with byte fallback", llama],
    ["BPE of bytes", gpt2],
    ["Unigram", unigram],
  ])("a megabyte of one character: %s", (_name, make) => {
    const tokenizer = make();
    const others = amount(1_000_000, 50_000);
    for (const [character, length] of [
      ["a", 1_000_000],
      [" ", others],
      ["!", others],
      ["\u0301\u0323", others],
      ["[", others],
      ["▁", others],
    ] as const) {
      const { ids, offsets } = tokenizer.encode(character.repeat(length / character.length));
      expect(offsets.every((offset) => offset >= 0 && offset <= length)).toBe(true);
      expect(character === "a" ? ids.length : 0).toBeLessThan(300_000);
    }
  });

  it("nothing, lone surrogates, NUL, joined emoji and text of added tokens alone", () => {
    expect(bert().encode("").ids).toEqual([2, 3]);
    expect(Array.from(bert().encode("a\ud800 a").offsets.slice(2))).toEqual([0, 1, 3, 4, 0, 0]);
    expect([...llama().encode("\ud83d").ids]).toEqual([257, 0xef + 1, 0xbf + 1, 0xbd + 1]);
    expect(bert().encode("\0a\0").tokens).toEqual(["[CLS]", "a", "[SEP]"]);
    expect(bert().encode("👩‍👩‍👧").tokens).toEqual(["[CLS]", "[UNK]", "[SEP]"]);
    const added = bert().encode("[SEP][CLS] [UNK]");
    expect([added.ids, [...added.offsets]]).toEqual([
      [2, 3, 2, 1, 3],
      [0, 0, 0, 5, 5, 10, 11, 16, 0, 0],
    ]);
  });

  it("each byte of a character stands for the whole of it", () => {
    const encoding = llama().encode("a 🍕");
    expect(encoding.tokens).toEqual(["▁a", "▁", "<0xF0>", "<0x9F>", "<0x8D>", "<0x95>"]);
    expect([...encoding.offsets]).toEqual([0, 1, 1, 2, 2, 4, 2, 4, 2, 4, 2, 4]);
  });
});

describe("a tokenizer.json that is not understood is refused by name", () => {
  it.each<[string, object, RegExp]>([
    ["a normalizer", { normalizer: { type: "Rot13" } }, /normalizer "Rot13"/],
    ["a pre-tokenizer inside others", { pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Tarot" }] } }, /"Tarot"/],
    ["a model", { model: { type: "Oracle", vocab } }, /model "Oracle"/],
    ["a post-processor", { post_processor: { type: "Frill" } }, /post_processor "Frill"/],
    ["a decoder", { decoder: { type: "Enigma" } }, /decoder "Enigma"/],
    ["a behavior", { pre_tokenizer: { type: "Punctuation", behavior: "Sideways" } }, /"Sideways"/],
    [
      "a part of a regular expression",
      { pre_tokenizer: { type: "Split", pattern: { Regex: "(?~a)" }, behavior: "Isolated" } },
      /\(\?~a/,
    ],
    [
      "an id that a table of tokens cannot reach",
      { model: { ...file.model, vocab: { ...vocab, "<far>": 2 ** 26 - 1 } } },
      /id 67108863.*may be below/,
    ],
    ["dropout", { model: { type: "BPE", vocab, merges: [], dropout: 0.1 } }, /dropout/],
    ["a character map that is cut short", { normalizer: { type: "Precompiled", precompiled_charsmap: "AAAA" } }, /cut short/],
  ])("%s", (_what, change, message) => {
    expect(() => tokenizerOver({ ...file, ...change })).toThrow(message);
  });
});
