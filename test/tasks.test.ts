/** Reranking and recognising on real models: what sentence-transformers and transformers said of the same texts. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Entity, type Runtime, createRuntime } from "inferyard";
import { needsData, sharedData } from "./shared-data.ts";

const golden = (model: string): unknown => JSON.parse(readFileSync(`${sharedData}${model}/goldens.json`, "utf8"));

interface CrossEncoder {
  readonly items: { text: string; text_pair: string; logit: number }[];
  readonly rank: { query: string; documents: string[]; result: { corpus_id: number; score: number }[] };
}

interface Named {
  readonly entity?: string;
  readonly entity_group?: string;
  readonly score: number;
  readonly index?: number;
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

interface Ner {
  readonly items: { text: string; pipeline: Record<"none" | "simple" | "first" | "average" | "max", Named[]> | null }[];
}

interface Nli {
  readonly zero_shot: {
    text: string;
    candidate_labels: string[];
    hypothesis_template: string;
    multi_label: boolean;
    labels: string[];
    scores: number[];
  }[];
}

const [skip, name] = needsData("goldens");

describe.skipIf(skip).each(["onnx:cpu", "wasm:cpu"])(`${name} on %s`, (target) => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ target })));
  afterAll(() => runtime.dispose());

  it.each(["minilm-pair-scorer", "tiny-random-cross-encoder"])("%s: logits within 1e-4, and the order", async (model) => {
    const { items, rank } = golden(model) as CrossEncoder;
    const path = `${sharedData}${model}`;
    for (const { text, text_pair: document, logit } of items) {
      const { results, scoring } = await runtime.rerank(text, [document], { model: path, raw: true });
      expect(scoring).toBe("none");
      expect(Math.abs((results[0]?.score ?? Number.NaN) - logit), `${text} / ${document}`).toBeLessThan(1e-4);
    }
    const { results, scoring } = await runtime.rerank(rank.query, rank.documents, { model: path });
    expect(scoring).toBe("sigmoid");
    expect(results.map(({ index }) => index)).toEqual(rank.result.map(({ corpus_id: id }) => id));
    for (const [place, { score }] of rank.result.entries()) expect(results[place]?.score).toBeCloseTo(score, 4);
    const best = await runtime.rerank(rank.query, rank.documents, { model: path, topN: 2 });
    expect(best.results).toHaveLength(2);
    expect(best.results[0]?.text).toBe(rank.documents[rank.result[0]!.corpus_id]);
  });

  it("tiny-bert-nli-untrained, labels of one's own: the order, scores within 1e-4", async () => {
    const { zero_shot: cases } = golden("tiny-bert-nli-untrained") as Nli;
    const model = `${sharedData}tiny-bert-nli-untrained`;
    expect(new Set(cases.map(({ multi_label: alone }) => alone)).size).toBe(2);
    for (const one of cases) {
      const { results } = await runtime.classify(one.text, {
        model,
        labels: one.candidate_labels,
        hypothesisTemplate: one.hypothesis_template,
        multiLabel: one.multi_label,
      });
      expect(results[0]?.map(({ label }) => label)).toEqual(one.labels);
      for (const [place, score] of one.scores.entries()) expect(results[0]?.[place]?.score).toBeCloseTo(score, 4);
    }
  });

  it("labels are refused where they say nothing: no words, no place in the template, no model that judges them", async () => {
    const model = `${sharedData}tiny-bert-nli-untrained`;
    await expect(runtime.classify("a", { model, labels: [] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.classify("a", { model, labels: ["b"], hypothesisTemplate: "none" })).rejects.toThrow(/has no {}/);
    await expect(runtime.classify("a", { model, multiLabel: true })).rejects.toThrow(/says nothing/);
    await expect(runtime.classify("a", { model: `${sharedData}tiny-random-deberta-v3`, labels: ["b"] })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
    });
  });

  it.each(["none", "simple", "first", "average", "max"] as const)(
    "minilm-l3-ner, aggregation %s: the same entities, words and places, scores within 1e-5",
    async (aggregation) => {
      const items = (golden("minilm-l3-ner") as Ner).items.filter(({ pipeline }) => pipeline !== null);
      const model = `${sharedData}minilm-l3-ner`;
      const { results } = await runtime.recognize(
        items.map(({ text }) => text),
        { model, aggregation, offsets: "codepoints" },
      );
      for (const [index, { text, pipeline }] of items.entries()) {
        const expected = pipeline?.[aggregation] ?? [];
        const own = results[index] ?? [];
        expect(own.map(shown), text).toEqual(expected.map(shownGolden));
        for (const [place, { score }] of expected.entries()) expect(Math.abs(own[place]!.score - score)).toBeLessThan(1e-5);
      }
    },
  );
});

const shown = ({ entity, entityGroup, word, start, end, index }: Entity): string =>
  [entity ?? entityGroup, word, start, end, index ?? ""].join("|");
const shownGolden = ({ entity, entity_group: group, word, start, end, index }: Named): string =>
  [entity ?? group, word, start, end, index ?? ""].join("|");
