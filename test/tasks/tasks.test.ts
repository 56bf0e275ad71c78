/** Tasks on real models: what sentence-transformers and transformers said of the same texts. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Entity, type Runtime, type Tensor, createRuntime } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";

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
  readonly items: { text: string; text_pair: string; logits: number[] }[];
  readonly zero_shot: {
    text: string;
    candidate_labels: string[];
    hypothesis_template: string;
    multi_label: boolean;
    labels: string[];
    scores: number[];
  }[];
}

interface Encoded {
  readonly dtype: string;
  readonly shape: number[];
  readonly data: string;
}

const floats = ({ data }: Encoded): number[] => {
  const bytes = Buffer.from(data, "base64");
  return Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
};

const [skip, name] = needsData("goldens");

// minilm.test.ts runs wasm each time
for (const [isSkipped, title, targets] of sampled(`${name} on %s`, ["onnx:cpu", "wasm:cpu"], (target) => target === "onnx:cpu"))
  describe.skipIf(skip || isSkipped).each(targets)(title, (target) => {
    goldensOn(target);
  });

function goldensOn(target: string): void {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ target, host: "inline", threads: 1 })));
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

  it("tiny-random-splade: the same tokens, weights within 1e-4", async () => {
    const { items } = golden("tiny-random-splade") as {
      items: { text: string; splade: { indices: number[]; values: Encoded } }[];
    };
    const model = `${sharedData}tiny-random-splade`;
    const { embeddings } = await runtime.embedSparse(
      items.map(({ text }) => text),
      { model },
    );
    for (const [index, { text, splade }] of items.entries()) {
      const { indices, values } = embeddings[index]!;
      expect(
        [...indices].toSorted((a, b) => a - b),
        text,
      ).toEqual(splade.indices);
      const weights = new Map(splade.indices.map((id, place) => [id, floats(splade.values)[place]!]));
      for (const [place, id] of indices.entries()) expect(values[place]).toBeCloseTo(weights.get(id)!, 4);
      expect([...values]).toEqual([...values].toSorted((a, b) => b - a));
    }
    const few = await runtime.embedSparse(items[0]!.text, { model, topK: 3, threshold: 0.5 });
    expect(few.embeddings[0]?.indices).toEqual(embeddings[0]!.indices.slice(0, 3));
    await expect(runtime.embedSparse("a", { model: `${sharedData}tiny-random-deberta-v3` })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
    });
  });

  it("tiny-random-colbert: token vectors within 1e-4, MaxSim and the ranking", async () => {
    interface Part {
      readonly text: string;
      readonly embeddings: Encoded;
      readonly maxsim?: number;
    }
    const { query, documents, ranking } = golden("tiny-random-colbert") as { query: Part; documents: Part[]; ranking: number[] };
    const model = `${sharedData}tiny-random-colbert`;
    const { embeddings } = await runtime.embed([query.text, ...documents.map(({ text }) => text)], { model, pooling: "none" });
    for (const [index, { embeddings: expected }] of [query, ...documents].entries()) {
      const vectors = embeddings[index]!;
      expect(vectors).toHaveLength(floats(expected).length);
      for (const [place, value] of floats(expected).entries()) expect(vectors[place]).toBeCloseTo(value, 4);
    }
    const result = await runtime.rerank(
      query.text,
      documents.map(({ text }) => text),
      { model },
    );
    expect(result.scoring).toBe("maxsim");
    expect(result.results.map(({ index }) => index)).toEqual(ranking);
    for (const { index, score } of result.results) expect(score).toBeCloseTo(documents[index]!.maxsim!, 3);
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

  it("tiny-bert-nli-untrained, pairs of texts beside a text alone: logits within 1e-4", async () => {
    const { items } = golden("tiny-bert-nli-untrained") as Nli;
    const request = { model: `${sharedData}tiny-bert-nli-untrained`, activation: "none" } as const;
    const pairs = items.map(({ text, text_pair: pair }) => ({ text, pair }));
    const { results } = await runtime.classify([...pairs, "alone"], request);
    const names = ["entailment", "neutral", "contradiction"];
    for (const [index, { logits }] of items.entries())
      for (const { label, score } of results[index]!)
        expect(Math.abs(score - logits[names.indexOf(label)]!), items[index]!.text).toBeLessThan(1e-4);
    expect(results).toHaveLength(items.length + 1);
    const [alone] = (await runtime.classify("alone", request)).results;
    for (const [place, { label, score }] of alone!.entries()) {
      expect(results.at(-1)?.[place]?.label).toBe(label);
      expect(results.at(-1)?.[place]?.score).toBeCloseTo(score, 5);
    }
    await expect(runtime.classify(pairs[0]!, { ...request, activation: undefined, labels: ["a"] } as never)).rejects.toThrow(
      /an input cannot be a pair/,
    );
    await expect(runtime.classify({ text: "a", pair: 7 } as never, request)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("labels are refused where they say nothing: no words, no place in the template, no model that judges them", async () => {
    const model = `${sharedData}tiny-bert-nli-untrained`;
    await expect(runtime.classify("a", { model, labels: [] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.classify("a", { model, labels: ["b"], hypothesisTemplate: "none" })).rejects.toThrow(/has no {}/);
    await expect(runtime.classify("a", { model, multiLabel: true })).rejects.toThrow(/has no effect/);
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
}

describe.skipIf(skip)("tokens of an output, or the highest of each row, made where the model lives", () => {
  it.each(["inline", "worker", "process"] as const)("host %s: the numbers of the whole output", async (host) => {
    const runtime = await createRuntime({ target: "onnx:cpu", host, threads: 1 });
    const handle = await runtime.load(`${sharedData}tiny-random-splade`);
    const ids = BigInt64Array.of(2n, 20n, 30n, 3n, 2n, 40n, 3n, 0n);
    const ones = BigInt64Array.of(1n, 1n, 1n, 1n, 1n, 1n, 1n, 0n);
    const whole = (data: BigInt64Array): Tensor => ({ dataType: "int64", shape: [2, 4], data });
    const inputs = { input_ids: whole(ids), attention_mask: whole(ones), token_type_ids: whole(new BigInt64Array(8)) };
    const { logits } = await handle.run(inputs);
    const size = logits!.shape[2]!;
    const row = (token: number): number[] => [...(logits!.data as Float32Array).subarray(token * size, (token + 1) * size)];
    const positions = [{ row: 1, token: 1 }];
    const picked = await handle.run(inputs, { reductions: { logits: { kind: "tokens", positions } } });
    expect(picked["logits"]!.shape).toEqual([1, size]);
    expect([...(picked["logits"]!.data as Float32Array)]).toEqual(row(5));
    const highest = await handle.run(inputs, { reductions: { logits: { kind: "highest", lengths: [4, 3] } } });
    const second = [4, 5, 6].map(row).reduce((best, other) => best.map((value, index) => Math.max(value, other[index]!, 0)));
    expect([...(highest["logits"]!.data as Float32Array)].slice(size)).toEqual(second);
    const misfit = handle.run(inputs, { reductions: { logits: { kind: "highest", lengths: [4] } } });
    await expect(misfit).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const foreign = handle.run(inputs, { reductions: { nothing: { kind: "highest", lengths: [4, 3] } } });
    await expect(foreign).rejects.toMatchObject({ code: "INPUT_INVALID", remedy: "the outputs are logits" });
    await runtime.dispose();
  });
});

const shown = ({ entity, entityGroup, word, start, end, index }: Entity): string =>
  [entity ?? entityGroup, word, start, end, index ?? ""].join("|");
const shownGolden = ({ entity, entity_group: group, word, start, end, index }: Named): string =>
  [entity ?? group, word, start, end, index ?? ""].join("|");
