import { expect, it } from "vitest";
import { fillInMiddlePrompt, fillInMiddleTokens } from "./fill-in-middle.ts";

/** A vocabulary whose tokens have their positions as ids. */
const vocabulary = (...names: readonly string[]) => ({
  tokenToId: (token: string): number | undefined => (names.includes(token) ? names.indexOf(token) : undefined),
});
const parts = { start: [90], before: [91], after: [92] };

it.each([
  [
    "Qwen-Coder",
    ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|endoftext|>", "<|repo_name|>"],
    [90, 0, 91, 2, 92, 1],
    [3, 4],
  ],
  ["DeepSeek", ["<｜fim▁hole｜>", "<｜fim▁begin｜>", "<｜fim▁end｜>"], [90, 1, 91, 0, 92, 2], []],
  ["Code Llama", ["▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>"], [90, 0, 91, 2, 92, 1], [3]],
  ["Codestral", ["[PREFIX]", "[SUFFIX]"], [90, 1, 92, 0, 91], []],
])("knows the tokens of %s", (_name, names, prompt, ends) => {
  const tokens = fillInMiddleTokens(vocabulary(...names));
  expect(fillInMiddlePrompt(tokens!, parts)).toEqual(prompt);
  expect(tokens!.ends).toEqual(ends);
});

it("takes what tokenizer_config.json states before known names, and knows nothing of a vocabulary without them", () => {
  const stated = { prefix_token: "<a>", suffix_token: { content: "<b>" }, middle_token: "<c>" };
  const names = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<a>", "<b>", "<c>"];
  expect(fillInMiddleTokens(vocabulary(...names), stated)).toMatchObject({ prefix: 3, suffix: 4, middle: 5 });
  expect(fillInMiddleTokens(vocabulary("<fim_prefix>", "<fim_suffix>"), stated)).toBeUndefined();
});
