/** Ids and offsets recorded from Hugging Face's Rust library (tokenizers 0.23.2) by scripts/check-tokenizers/main.ts --write. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { oursAnswer, tokenizerOver } from "../../scripts/check-tokenizers/answers.ts";
import { cases } from "../../scripts/check-tokenizers/cases.ts";

interface Golden {
  readonly name: string;
  readonly texts: readonly (readonly [text: string, pair: string | null, ids: number[], offsets: number[]])[];
}

const lines = readFileSync(new URL("goldens.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const goldens = lines.map((line) => JSON.parse(line) as Golden);
const known = new Map(cases().map((one) => [one.name, one]));

describe("ids and offsets of the Rust library", () => {
  // Real files are those of shared/data; without it their answers have nothing to be held against.
  it.each(goldens.filter(({ name }) => known.has(name)))("$name", ({ name, texts }) => {
    const json = known.get(name)?.json ?? {};
    const tokenizer = tokenizerOver(json);
    for (const [text, pair, ids, offsets] of texts) {
      const answer = oursAnswer(tokenizer, text, pair ?? undefined);
      expect(answer.ids, JSON.stringify(text)).toEqual(ids);
      expect(answer.offsets, JSON.stringify(text)).toEqual(offsets);
    }
  });

  it("were made from every case there is", () => {
    expect(goldens.map(({ name }) => name)).toEqual(expect.arrayContaining([...known.keys()]));
    expect(goldens.reduce((sum, { texts }) => sum + texts.length, 0)).toBeGreaterThan(800);
  });
});
