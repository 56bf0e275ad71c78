/** Ways to split text before byte-level BPE: token ids of llama.cpp, recorded by scripts/check-tokenizers/llamacpp/main.ts --write. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  digestOf,
  idsOf,
  splitNames,
  splitTexts,
  vocabularyMetadata,
  withSplit,
} from "../../../scripts/check-tokenizers/llamacpp/splits.ts";
import type { GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import { needsData, sharedData } from "../../../test/fixtures/shared-data.ts";
import { runsAll } from "../../../test/fixtures/slow.ts";

const [skip, title] = needsData("texts are split as by llama.cpp");
const goldens = JSON.parse(
  readFileSync(new URL("../../../scripts/check-tokenizers/llamacpp/goldens.json", import.meta.url), "utf8"),
) as Readonly<Record<string, string>>;
/** Of 300 texts that were recorded. */
const count = runsAll ? 300 : 60;
/** Making a tokenizer takes longer than the texts. */
const usual = ["", "default", "deepseek-v3", "lfm2", "glm4", "kimi-k2", "falcon", "qwen35", "gpt-4o", "tiny_aya"];
const names = runsAll ? splitNames : splitNames.filter((name) => usual.includes(name));

describe.skipIf(skip)(title, () => {
  const metadata = skip ? undefined : vocabularyMetadata();
  const texts = splitTexts(300).slice(0, count);

  it.each(names)("%s", async (name) => {
    expect(digestOf(idsOf(withSplit((await metadata)!, name), texts))).toBe(goldens[name]!.slice(0, 6 * count));
  });

  it.each([
    ["gemma4", undefined, [316, 324, 350, 343, 513, 315, 343, 323, 442, 323, 198, 172]],
    ["gpt2", "gemma4", [316, 324, 350, 343, 513, 315, 343, 323, 442, 323, 198, 172]],
    ["gpt2", "sarvam-moe", [316, 324, 350, 343, 514, 514, 514, 315, 343, 323, 442, 323, 198, 172]],
  ])("without the alphabet of bytes: %s %s", (model, split, expected) => {
    const { vocab, merges } = (
      JSON.parse(readFileSync(`${sharedData}tiny-random-gemma/tokenizer.json`, "utf8")) as {
        model: { vocab: Record<string, number>; merges: (string | string[])[] };
      }
    ).model;
    const known = Object.entries(vocab).toSorted(([, a], [, b]) => a - b);
    const tokens = [...known.map(([token]) => token), "\n\n", "\n\n\n", "\n"];
    const list = (of: string, items: readonly (string | number)[]): GgufValue => ({
      type: "array",
      of,
      length: items.length,
      items,
    });
    const text = (value: string): GgufValue => ({ type: "string", value, bytes: value.length });
    const stated: readonly (readonly [string, GgufValue])[] = [
      ["model", text(model)],
      ...(split === undefined ? [] : [["pre", text(split)] as const]),
      ["tokens", list("string", tokens)],
      [
        "token_type",
        list(
          "int32",
          tokens.map((token, id) => (id < 3 ? 3 : /^<0x..>$/.test(token) ? 6 : 1)),
        ),
      ],
      [
        "merges",
        list(
          "string",
          merges.map((merge) => (typeof merge === "string" ? merge : merge.join(" "))),
        ),
      ],
    ];
    const changed = new Map(stated.map(([key, value]) => [`tokenizer.ggml.${key}`, value]));
    expect(idsOf(changed, ["the cat\n\n\nsat  on é"])).toEqual([expected]);
  });

  it("refuses a name that it does not know", async () => {
    const changed = withSplit((await metadata)!, "whitespace");
    expect(() => idsOf(changed, [])).toThrow('its text is split as "whitespace" (tokenizer.ggml.pre), which is not known');
  });
});
