import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CtcBeamSearch, defaultCtcBeamSettings } from "./beam-search.ts";
import { readArpa } from "./ngram-model.ts";
import { defaultWordWeights, WordScores } from "./word-scores.ts";

interface Case {
  readonly beams: number;
  readonly unigrams: readonly string[];
  readonly attrs: {
    readonly alpha: number;
    readonly beta: number;
    readonly unk_score_offset: number;
    readonly score_boundary: boolean;
  };
  readonly logits: readonly (readonly number[])[];
  readonly results: readonly {
    readonly text: string;
    readonly words: readonly (readonly [string, readonly [number, number]])[];
    readonly logit: number;
    readonly score: number;
  }[];
}

/** Texts of pyctcdecode 0.5.0 on random logits with a random 3-gram model, by scripts/goldens/sound/beam-search.py. */
const { labels, arpa, cases } = JSON.parse(readFileSync(new URL("beam-search.goldens.json", import.meta.url), "utf8")) as {
  readonly labels: readonly string[];
  readonly arpa: string;
  readonly cases: readonly Case[];
};
const alphabet = { labels, blank: 0, space: 1 };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("beam search with an n-gram model", () => {
  it.each(cases.map((each, index) => [index + 1, each] as const))(
    "finds the texts, times and scores of pyctcdecode: case %i",
    async (_, each) => {
      const { alpha, beta, unk_score_offset: unknownOffset, score_boundary: hasBoundaries } = each.attrs;
      const model = await readArpa(bytes(arpa), "small.arpa");
      const scores = new WordScores(each.unigrams, model, { alpha, beta, unknownOffset, hasBoundaries });
      const search = new CtcBeamSearch(alphabet, scores, { ...defaultCtcBeamSettings, beams: each.beams });
      for (const row of each.logits) search.push(Float32Array.from(row));
      const found = search.finish().slice(0, each.results.length);
      expect(found.map(({ words }) => words.map(({ word }) => word).join(" "))).toEqual(each.results.map(({ text }) => text));
      for (const [index, { words, logProbability, score }] of found.entries()) {
        const wanted = each.results[index]!;
        expect(words.map(({ word, start, end }) => [word, [start, end]])).toEqual(wanted.words);
        expect(logProbability).toBeCloseTo(wanted.logit, 3);
        expect(score).toBeCloseTo(wanted.score, 3);
      }
    },
  );

  it("finds the best of all texts: their paths are summed one by one", () => {
    const logits = cases[0]!.logits.slice(0, 5).map((row) => row.slice(0, 4));
    const small = { labels: labels.slice(0, 4), blank: 0, space: 1 };
    const scores = new WordScores(["a", "ab", "b"], undefined, defaultWordWeights);
    const settings = { beams: 1e6, maxScoreDifference: Infinity, minLogProbability: -Infinity };
    const search = new CtcBeamSearch(small, scores, settings);
    for (const row of logits) search.push(Float32Array.from(row));
    const found = search.finish();
    const normalized = logits.map((row) => {
      const total = row.reduce((sum, logit) => sum + Math.exp(logit), 0);
      return row.map((logit) => Math.exp(logit) / total);
    });
    const sums = new Map<string, number>();
    for (let path = 0; path < 4 ** logits.length; path += 1) {
      const symbols = logits.map((_, frame) => Math.floor(path / 4 ** frame) % 4);
      const probability = symbols.reduce((product, symbol, frame) => product * normalized[frame]![symbol]!, 1);
      const collapsed = symbols.filter((symbol, frame) => symbol !== 0 && symbol !== symbols[frame - 1]);
      const text = collapsed
        .map((symbol) => small.labels[symbol])
        .join("")
        .trim()
        .replaceAll(/ +/g, " ");
      sums.set(text, (sums.get(text) ?? 0) + probability);
    }
    expect(found.length).toBe(sums.size);
    for (const { words, logProbability } of found)
      expect(logProbability).toBeCloseTo(Math.log(sums.get(words.map(({ word }) => word).join(" "))!), 5);
  });

  it("prefers words of a list, without a model", () => {
    const search = new CtcBeamSearch(alphabet, new WordScores(["bad"], undefined, defaultWordWeights), defaultCtcBeamSettings);
    // b, a, then c is a little more probable than d.
    for (const [symbol, other] of [
      [3, 0],
      [2, 0],
      [4, 5],
    ] as const)
      search.push(Float32Array.from(labels, (_, index) => (index === symbol ? 6 : index === other ? 5 : 0)));
    expect(search.finish()[0]?.words).toMatchObject([{ word: "bad", start: 0, end: 3, tokens: [3, 2, 5] }]);
  });
});

describe("ARPA files", () => {
  it("gives a word after a context its probability, or backs off", async () => {
    const text =
      "\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n-2\t<s>\t-0.5\n-0.3\ta\t-0.25\n-0.7\tb\n\n\\2-grams:\n-0.1\t<s> a\n\n\\end\\\n";
    const model = await readArpa(bytes(text.replaceAll("\n", "\r\n")), "small.arpa");
    const { logProbability, next } = model.score(model.sentenceStart, "a");
    expect(logProbability).toBe(-0.1);
    expect(model.score(next, "b").logProbability).toBeCloseTo(-0.95, 10);
    expect(model.score(model.sentenceStart, "c").logProbability).toBe(-1.5);
    expect([model.order, model.has("a"), model.has("c"), model.has("<unk>")]).toEqual([2, true, false, false]);
  });

  it.each([
    ["", /no \\data\\/],
    ["\\data\\\nngram 1=2\n\n\\1-grams:\n-1\ta\n\n\\end\\", /states 2 1-grams, and 1 are there/],
    ["\\data\\\nngram 1=1\n\n\\1-grams:\n-1\ta", /before \\end\\/],
    ["\\data\\\nngram 1=1\n\n\\1-grams:\nmany\ta\n\\end\\", /line 5: no 1-gram/],
    ["\\data\\\nngram 2=1\n", /ngram 1=COUNT/],
    ["\\data\\\nngram 1=1\n\\2-grams:\n", /unexpected section/],
  ])("refuses %j", async (text, message) => {
    await expect(readArpa(bytes(text), "small.arpa")).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringMatching(message) as string,
    });
  });
});
