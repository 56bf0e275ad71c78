import { describe, expect, it } from "vitest";
import type { GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import { endTokens, isControlText } from "./end-tokens.ts";

const [normal, control, userDefined] = [1, 3, 4];

/** Texts of the end tokens of a vocabulary of tokens with kinds; `stated`: ids by key. */
function ends(
  vocabulary: readonly (readonly [text: string, kind: number])[],
  stated: Readonly<Record<string, number>> = {},
  eosTokenIds: readonly number[] = [],
): string[] {
  const list = (items: readonly (string | number)[]): GgufValue => ({
    type: "array",
    of: typeof items[0] === "string" ? "string" : "int32",
    length: items.length,
    items,
  });
  const number = (value: number): GgufValue => ({ type: "uint32", value });
  const metadata = new Map<string, GgufValue>([
    ["tokenizer.ggml.tokens", list(vocabulary.map(([text]) => text))],
    ["tokenizer.ggml.token_type", list(vocabulary.map(([, kind]) => kind))],
    ["tokenizer.ggml.eos_token_ids", list(eosTokenIds)],
    ...Object.entries(stated).map(([key, id]) => [`tokenizer.ggml.${key}_token_id`, number(id)] as const),
  ]);
  return endTokens(metadata).map((id) => vocabulary[id]?.[0] ?? "");
}

describe("tokens that end a turn in a GGUF file", () => {
  it.each(["<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|endoftext|>", "<｜end▁of▁sentence｜>", "[e~[", "<turn|>"])(
    "%s is one whatever its type, and a control token",
    (text) => {
      for (const kind of [normal, control, userDefined])
        expect(
          ends([
            ["a", normal],
            [text, kind],
          ]),
        ).toEqual([text]);
      expect(isControlText(text)).toBe(true);
    },
  );

  it("are those that the file states, too, as far as they are in the vocabulary", () => {
    const vocabulary = ["a", "b", "c", "<|im_end|>"].map((text) => [text, normal] as const);
    expect(ends(vocabulary, { eos: 0, eot: 2, eom: 9 })).toEqual(["a", "c", "<|im_end|>"]);
    expect(ends(vocabulary, {}, [1])).toEqual(["b", "<|im_end|>"]);
    expect(ends([["a", normal]])).toEqual([]);
  });

  it("are not the ends of messages where a turn has several, and not the tags of HTML", () => {
    const harmony = ["<|end|>", "<|return|>", "<|call|>"].map((text) => [text, control] as const);
    expect(ends(harmony, { eos: 1 })).toEqual(["<|return|>", "<|call|>"]);
    expect(
      ends([
        ["</s>", userDefined],
        ["<eos>", control],
      ]),
    ).toEqual(["<eos>"]);
    expect(ends([["</s>", control]])).toEqual(["</s>"]);
  });
});
