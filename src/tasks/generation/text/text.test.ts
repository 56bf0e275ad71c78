import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { amount } from "../../../../test/fixtures/slow.ts";
import type { TextSettings } from "../../../models/manifest.ts";
import { loadTokenizer } from "../../../tokenizers/index.ts";
import { Random } from "../sampling/random.ts";
import { StopStrings } from "./stop-strings.ts";
import { TokenText } from "./token-text.ts";

const shared = fileURLToPath(new URL("../../../../../shared/data/", import.meta.url));
const tokenizers = existsSync(shared)
  ? readdirSync(shared, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith("tokenizer.json"))
      .toSorted()
  : [];

const settingsOf = (path: string): TextSettings => ({
  tokenizerPath: shared + path,
  tokenizerShown: path,
  tokenizerConfig: {},
  specialTokens: true,
  dropUnknown: false,
  lowercase: false,
  poolPrompt: true,
  normalize: false,
  prompts: {},
});

describe.skipIf(tokenizers.length === 0)("the text of tokens as they arrive", () => {
  it.each(tokenizers)("is in all what the tokenizer decodes: %s", async (path) => {
    const tokenizer = await loadTokenizer(settingsOf(path));
    const random = Random.seeded(11, 0);
    const words = ["Ünïcode 🍕👩‍👩‍👧 café", "a  b\n\n c", "don't , stop . now !", "日本語テキスト", "<s> x </s>"];
    const lists = words.map((text) => tokenizer.encode(text, { maxTokens: Number.POSITIVE_INFINITY }).ids);
    const drawn = Array.from({ length: amount(40, 8) }, () =>
      Array.from({ length: 30 }, () => Math.floor(random.uniform() * tokenizer.vocabularySize)),
    );
    // Lone spaces and bytes, which decoders treat in their own way.
    const few = ["▁", "▁▁", "<0x61>", "<0x20>", "<0xE2>", "a", "</s>", "<s>"].flatMap(
      (token) => tokenizer.tokenToId(token) ?? [],
    );
    const short = Array.from({ length: few.length > 1 ? amount(40, 8) : 0 }, () =>
      Array.from({ length: 12 }, () => few[Math.floor(random.uniform() * few.length)] as number),
    );
    for (const tokens of [...lists, ...drawn, ...short]) {
      for (const { skipSpecialTokens, kept } of [
        { skipSpecialTokens: true },
        // The decoder of CTC joins equal tokens, whatever stood between them.
        ...(path.includes("ctc") ? [] : [{ skipSpecialTokens: true, kept: new Set<string>() }]),
        { skipSpecialTokens: false },
      ]) {
        const text = new TokenText(tokenizer, skipSpecialTokens, { kept });
        const parts = tokens.map((token) => text.push(token));
        expect(parts.join("") + text.end(), tokens.join()).toBe(tokenizer.decode(tokens, { skipSpecialTokens }));
      }
    }
  });
});

describe("stop strings", () => {
  const read = (stops: readonly string[], parts: readonly string[]): unknown => {
    const strings = new StopStrings(stops);
    const shown: string[] = [];
    for (const part of parts) {
      const { text, stop } = strings.push(part);
      shown.push(text);
      if (stop !== undefined) return { shown, stop };
    }
    return { shown, rest: strings.end() };
  };

  it("are found across parts, and what may begin one is held back", () => {
    expect(read(["stop"], ["a s", "t", "op b"])).toEqual({ shown: ["a ", "", ""], stop: "stop" });
    expect(read(["stop"], ["a st", "ay"])).toEqual({ shown: ["a ", "stay"], rest: "" });
    expect(read(["stop"], ["a st"])).toEqual({ shown: ["a "], rest: "st" });
    expect(read(["aab"], ["aa", "a", "ab"])).toEqual({ shown: ["", "a", "a"], stop: "aab" });
  });

  it("count by where they end; of those that end together the longest does", () => {
    expect(read(["long stop", "stop"], ["x long stop"])).toEqual({ shown: ["x "], stop: "long stop" });
    expect(read(["bcd", "b"], ["abcd"])).toEqual({ shown: ["a"], stop: "b" });
  });
});
