import { describe, expect, it } from "vitest";
import { withConfiguredTokens } from "./configured-tokens.ts";
import { parseTokenizerJson } from "./tokenizer-json.ts";

const json = parseTokenizerJson(
  JSON.stringify({
    model: { type: "BPE", vocab: { a: 0, "[STOP]": 1 }, merges: [] },
    added_tokens: [{ id: 2, content: "<s>", special: true }],
  }),
  "tokenizer.json",
);
const tokensOf = (config: Readonly<Record<string, unknown>>) =>
  withConfiguredTokens(json, config).added_tokens.map(({ content, special, lstrip, normalized }) => ({
    content,
    special,
    lstrip,
    normalized,
  }));
const bos = { content: "<s>", special: true, lstrip: false, normalized: false };

describe("tokens of tokenizer_config.json", () => {
  it("are added by ascending id, and replace those of the same content", () => {
    const decoder = {
      5: { content: "y" },
      3: { content: "x", special: true },
      2: { content: "<s>", special: true, lstrip: true },
    };
    expect(tokensOf({ added_tokens_decoder: decoder })).toEqual([
      { ...bos, lstrip: true },
      { ...bos, content: "x" },
      { content: "y", special: false, lstrip: false, normalized: true },
    ]);
  });

  it("with a role are special, also as a word of the vocabulary", () => {
    expect(tokensOf({ eos_token: "[STOP]", bos_token: { content: "<s>", lstrip: true } })).toEqual([
      bos,
      { ...bos, content: "[STOP]" },
    ]);
    expect(tokensOf({ eos_token: "y", added_tokens_decoder: { 5: { content: "y" } } })[1]).toMatchObject({
      content: "y",
      special: true,
    });
  });

  it("are those of additional_special_tokens, or of extra_special_tokens in both forms", () => {
    const contents = (config: object) => tokensOf({ ...config }).map(({ content }) => content);
    expect(contents({ additional_special_tokens: ["u", { content: "v" }], extra_special_tokens: [] })).toEqual(["<s>", "u", "v"]);
    expect(contents({ additional_special_tokens: ["u"], extra_special_tokens: ["w"] })).toEqual(["<s>", "w"]);
    expect(contents({ extra_special_tokens: { image_token: "<image>" } })).toEqual(["<s>", "<image>"]);
  });

  it("do not include a padding token that is nowhere else, whose id no model has", () => {
    expect(tokensOf({ pad_token: "[PAD]" })).toEqual([bos]);
    expect(tokensOf({ pad_token: "a" })).toHaveLength(2);
  });

  it("throw for an entry without content", () => {
    expect(() => tokensOf({ added_tokens_decoder: { 5: {} } })).toThrow('"added_tokens_decoder": "5" needs a text "content"');
  });
});
