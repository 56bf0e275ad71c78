/** As limits.test.ts: what takes long to grow as far as its limit. */
import { expect, it } from "vitest";
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

it("growth of decoded tokens is refused", () => {
  const decoders = Array.from({ length: 60 }, () => ({ type: "BPEDecoder", suffix: "" }));
  const doubling = over({ decoder: { type: "Sequence", decoders } });
  expect(codeOf(() => doubling.decode([1, 2]))).toMatchObject({ code: "TOKENIZER_INVALID" });
  const long = over({ decoder: replace({ String: "a" }, "b".repeat(2 ** 20)) });
  expect(codeOf(() => long.decode(Array.from({ length: 100 }, () => 1)))).toMatchObject({ code: "TOKENIZER_INVALID" });
});
