/** text-classification on real models: what transformers 4.48.3 said of the same texts. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

interface Item {
  readonly text: string;
  readonly text_pair: string | null;
  readonly logits: number[];
  readonly probabilities: number[];
  readonly label: string;
}

const goldens = (model: string): Item[] =>
  (JSON.parse(readFileSync(`${sharedData}${model}/goldens.json`, "utf8")) as { items: Item[] }).items.filter(
    (item) => item.text_pair === null,
  );

const [skip, name] = needsData("goldens");

describe.skipIf(skip).each(runsAll ? ["onnx:cpu", "wasm:cpu"] : ["onnx:cpu"])(`${name} on %s`, (target) => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ target, host: "inline", threads: 1 })));
  afterAll(() => runtime.dispose());

  it.each(["tiny-random-deberta-v3", "tiny-random-modernbert"])(
    "%s: labels in their order, scores within 1e-4",
    async (model) => {
      const items = goldens(model);
      expect(items.length).toBeGreaterThan(4);
      const path = `${sharedData}${model}`;
      const { results, decision } = await runtime.classify(
        items.map(({ text }) => text),
        { model: path },
      );
      expect(decision.selected?.target).toBe(target);
      const raw = await runtime.classify(
        items.map(({ text }) => text),
        { model: path, activation: "none" },
      );
      for (const [index, item] of items.entries()) {
        const labels = ["negative", "neutral", "positive"];
        expect(results[index]?.[0]?.label).toBe(item.label);
        for (const [place, label] of labels.entries()) {
          expect(results[index]?.find((one) => one.label === label)?.score).toBeCloseTo(item.probabilities[place]!, 4);
          expect(raw.results[index]?.find((one) => one.label === label)?.score).toBeCloseTo(item.logits[place]!, 3);
        }
      }
    },
  );

  it("one by one gives what all at once give; topK gives the best", async () => {
    const items = goldens("tiny-random-deberta-v3");
    const model = `${sharedData}tiny-random-deberta-v3`;
    const together = await runtime.classify(
      items.map(({ text }) => text),
      { model },
    );
    for (const [index, { text }] of items.entries()) {
      const { results } = await runtime.classify(text, { model, topK: 1 });
      expect(results[0]).toHaveLength(1);
      expect(results[0]?.[0]?.label).toBe(together.results[index]?.[0]?.label);
      expect(results[0]?.[0]?.score).toBeCloseTo(together.results[index]![0]!.score, 5);
    }
  });

  it("an embedding model has no labels, and no text is no result", async () => {
    await expect(runtime.classify("a", { model: `${sharedData}all-MiniLM-L6-v2` })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
    });
    expect((await runtime.classify([], { model: `${sharedData}tiny-random-deberta-v3` })).results).toEqual([]);
  });
});
