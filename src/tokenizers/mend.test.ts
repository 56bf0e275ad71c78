/** Expected pieces and texts were recorded from Hugging Face's Rust library, tokenizers 0.21.4 (Python). */
import { Tokenizer } from "@huggingface/tokenizers";
import { describe, expect, it } from "vitest";
import { mendForLibrary } from "./mend.ts";
import type { Step, TokenizerJson } from "./tokenizer-json.ts";

const preTokenizers: [Step, string, string[]][] = [
  [{ type: "Whitespace" }, "naïve café, 東京の1½ (e\u0301)", ["naïve", "café", ",", "東京の1", "½", "(", "e\u0301", ")"]],
  [{ type: "Digits", individual_digits: false }, "v2½٣x", ["v", "2½٣", "x"]],
  [{ type: "Digits", individual_digits: true }, "v2½٣x", ["v", "2", "½", "٣", "x"]],
  [{ type: "Punctuation", behavior: "Isolated" }, "wait--what?", ["wait", "-", "-", "what", "?"]],
  [{ type: "Punctuation", behavior: "Removed" }, "wait--what?", ["wait", "what"]],
  [{ type: "Punctuation", behavior: "MergedWithPrevious" }, "wait--what?", ["wait-", "-", "what?"]],
  [{ type: "Punctuation", behavior: "MergedWithNext" }, "wait--what?", ["wait", "-", "-what", "?"]],
  [{ type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true }, "the cat  sat", ["▁the", "▁cat", "▁", "▁sat"]],
  [{ type: "Metaspace", replacement: "▁", prepend_scheme: "never", split: true }, "the cat", ["the", "▁cat"]],
  [{ type: "Metaspace", replacement: "▁", add_prefix_space: false }, "the cat", ["the", "▁cat"]],
  [{ type: "Split", pattern: { String: "." }, behavior: "Removed", invert: false }, "a.b", ["a", "b"]],
  [{ type: "Split", pattern: { Regex: "\\d|[a-c]+" }, behavior: "Isolated", invert: true }, "1ab xy2", ["1", "ab", " xy", "2"]],
  [{ type: "Split", pattern: { String: "." }, behavior: "Contiguous", invert: false }, "a..b.c", ["a", "..", "b", ".", "c"]],
  [{ type: "Split", pattern: { Regex: "\\d" }, behavior: "MergedWithPrevious", invert: false }, "a1b22c", ["a1", "b2", "2", "c"]],
  [{ type: "Split", pattern: { Regex: "\\d" }, behavior: "MergedWithNext", invert: false }, "a1b22c", ["a", "1b", "2", "2c"]],
  [
    { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, { type: "Punctuation", behavior: "Isolated" }] },
    "well-known… yes!!",
    ["well", "-", "known", "…", "yes", "!", "!"],
  ],
];

const bert = { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null };

const normalizers: [Step, string, string][] = [
  [{ ...bert, lowercase: true }, "𠮷野家と𩸽 ΟΔΟΣ", " 𠮷  野  家 と 𩸽  οδοσ"],
  [{ ...bert, lowercase: false }, "a𪛖b", "a 𪛖 b"],
  [{ type: "Lowercase" }, "ΟΔΟΣ", "οδοσ"],
  [{ type: "Sequence", normalizers: [{ type: "NFKD" }, { type: "StripAccents" }, { type: "Lowercase" }] }, "ΚΌΣΜΟΣ", "κοσμοσ"],
  [{ type: "Replace", pattern: { String: "$" }, content: "$$ $&" }, "a$b", "a$$ $&b"],
];

describe("mended for the library, the steps give what the Rust library gives, and without it they do not", () => {
  it.each(preTokenizers)("pre-tokenizer %j on %s", (step, text, pieces) => {
    expect(split(mendForLibrary(tokenizerWith({ pre_tokenizer: step })), text)).toEqual(pieces);
    expect(split(tokenizerWith({ pre_tokenizer: step }), text)).not.toEqual(pieces);
  });

  it.each(normalizers)("normalizer %j on %s", (step, text, normalized) => {
    expect(normalize(mendForLibrary(tokenizerWith({ normalizer: step })), text)).toBe(normalized);
    expect(normalize(tokenizerWith({ normalizer: step }), text)).not.toBe(normalized);
  });

  it("a step that the library lacks", () => {
    const step = { type: "CharDelimiterSplit", delimiter: "-" };
    expect(split(mendForLibrary(tokenizerWith({ pre_tokenizer: step })), "a-b--c")).toEqual(["a", "b", "c"]);
  });

  it("a behaviour that cannot be mended is refused", () => {
    const step = { type: "Split", pattern: { String: "." }, behavior: "Contiguous", invert: true };
    expect(() => mendForLibrary(tokenizerWith({ pre_tokenizer: step }))).toThrow(/inverted/);
    expect(() => mendForLibrary(tokenizerWith({ pre_tokenizer: { type: "Punctuation", behavior: "Sideways" } }))).toThrow(
      /Sideways/,
    );
  });
});

function tokenizerWith(steps: Partial<TokenizerJson>): TokenizerJson {
  const model = { type: "WordLevel", vocab: { "[UNK]": 0 }, unk_token: "[UNK]" };
  const none = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, padding: null };
  return { model, ...none, added_tokens: [], ...steps };
}

function split(json: TokenizerJson, text: string): string[] {
  const { pre_tokenizer: step } = new Tokenizer(json, { unk_token: "[UNK]" });
  return step!.pre_tokenize(text, { section_index: 0 });
}

function normalize(json: TokenizerJson, text: string): string {
  return new Tokenizer(json, { unk_token: "[UNK]" }).normalizer!.normalize(text);
}
