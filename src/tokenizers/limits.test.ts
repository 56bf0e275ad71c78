/** A tokenizer.json is a stranger's file: what it asks for is bounded, and refused by name beyond that. */
import { describe, expect, it } from "vitest";
import { tokenizerOver } from "../../scripts/check-tokenizers/answers.ts";
import type { Tokenizer } from "./tokenizer.ts";

const letters = Array.from("abcdefghijklmnopqrstuvwxyz ▁#");
const vocab = Object.fromEntries(["<unk>", ...letters].map((token, id) => [token, id]));
const level = { type: "WordLevel", vocab, unk_token: "<unk>" };
const characters = { type: "Split", pattern: { Regex: "" }, behavior: "Isolated", invert: false };
const replace = (pattern: object, content: string): object => ({ type: "Replace", pattern, content });
const over = (parts: object): Tokenizer => tokenizerOver({ added_tokens: [], pre_tokenizer: characters, model: level, ...parts });
const codeOf = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

describe("what a normalizer makes of a text", () => {
  it("is refused where steps double it forty times, before the memory is spent", () => {
    const doubling = Array.from({ length: 40 }, () => replace({ String: "a" }, "aa"));
    const tokenizer = over({ normalizer: { type: "Sequence", normalizers: doubling } });
    expect(codeOf(() => tokenizer.encode("a"))).toMatchObject({
      code: "TOKENIZER_INVALID",
      message: expect.stringContaining("expands a text of"),
    });
    expect(tokenizer.encode("b").ids).toEqual([2]);
  });

  it.each([
    ["Replace with a long content", replace({ Regex: "" }, "a".repeat(100_000))],
    [
      "Prepend",
      { type: "Sequence", normalizers: Array.from({ length: 60 }, () => ({ type: "Prepend", prepend: "a".repeat(100_000) })) },
    ],
    ["ByteLevel", { type: "Sequence", normalizers: Array.from({ length: 60 }, () => ({ type: "ByteLevel" })) }],
  ])("is refused where one step writes too much: %s", (_name, normalizer) => {
    expect(codeOf(() => over({ normalizer }).encode("é".repeat(100)))).toMatchObject({ code: "TOKENIZER_INVALID" });
  });

  it("may be as long as Unicode's own forms make it", () => {
    const nfkd = over({ normalizer: { type: "NFKD" } });
    expect(nfkd.encode("\ufdfa".repeat(10_000)).ids).toHaveLength(180_000);
  });
});

describe("a tokenizer.json is refused", () => {
  const nested = (depth: number): object =>
    depth === 0 ? { type: "NFC" } : { type: "Sequence", normalizers: [nested(depth - 1)] };

  it.each([
    [
      "with many steps",
      { normalizer: { type: "Sequence", normalizers: Array.from({ length: 65 }, () => ({ type: "NFC" })) } },
      "64 steps",
    ],
    ["with steps nested deep", { normalizer: nested(2000) }, "64 steps"],
    ["with a long token", { model: { ...level, vocab: { ...vocab, ["a".repeat(1025)]: 99 } } }, "1025 characters"],
    ["with an expression that takes too much", { normalizer: replace({ Regex: "(?:a{1000}){1000}" }, "") }, "a{1000}"],
    ["with a special token without a name", template([{ SpecialToken: { type_id: 0 } }]), '"id" is missing'],
    [
      "with a special token without ids",
      template([{ SpecialToken: { id: "[X]", type_id: 0 } }]),
      '"special_tokens" states no "ids"',
    ],
    [
      "with a frame of other than tokens",
      { post_processor: { type: "BertProcessing", cls: ["[CLS]"], sep: ["[SEP]", 3] } },
      '"cls" ["[CLS]"]',
    ],
  ])("%s", (_name, parts, reason) => {
    const error = codeOf(() => over(parts)) as Error;
    expect(error.message).toContain(reason);
    expect(error.message).not.toContain("undefined");
  });

  function template(around: object[]): object {
    return {
      post_processor: { type: "TemplateProcessing", single: [...around, { Sequence: { id: "A", type_id: 0 } }], pair: [] },
    };
  }
});

describe("growth", () => {
  it("of windows with a stride close to their length is refused", () => {
    const tokenizer = over({});
    expect(codeOf(() => tokenizer.encode("a".repeat(100_000), { maxTokens: 512, stride: 511 }))).toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("a stride of 511"),
    });
    expect(tokenizer.encode("a".repeat(10_000), { maxTokens: 512, stride: 384 }).overflowing).toHaveLength(75);
  });

  it("of white space that an added token takes along is read once", { timeout: 20_000 }, () => {
    const token = { id: 27, content: " ", special: false, single_word: false, lstrip: false, rstrip: true, normalized: false };
    const tokenizer = over({ added_tokens: [token] });
    expect(tokenizer.encode(" ".repeat(300_000)).ids.length).toBeGreaterThan(0);
  });
});
